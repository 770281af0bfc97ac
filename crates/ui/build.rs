//! Lists the kernels, their headers and their expected reports, so that the program carries them with it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("kernels");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in &files {
        let name: Vec<_> = file.strip_prefix(&root)?.iter().map(|part| part.to_string_lossy()).collect();
        list.push_str(&format!("    ({:?}, include_bytes!({:?})),\n", name.join("/"), file));
    }
    list.push_str("]\n");
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("suite.rs"), list)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
