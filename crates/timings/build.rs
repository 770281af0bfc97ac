//! Lists the kernels, so that the program carries them with it.

fn main() -> std::io::Result<()> {
    fusion_embed::write("suite.rs", &fusion_embed::files("kernels", "")?)
}
