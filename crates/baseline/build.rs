//! Collects the files of each folder of `kernels/`, so that adding one is adding its file.

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    for folder in ["include", "unfused", "rivals", "ladders"] {
        let files = fusion_embed::files(&format!("../../kernels/{folder}"), "")?;
        text += &format!("const {}: &[(&str, &str)] = {files};\n", folder.to_uppercase());
    }
    fusion_embed::write("collected.rs", &text)
}
