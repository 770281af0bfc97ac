//! Collects the files of each folder of kernels, so that adding one is adding its file.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")));
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut text = String::new();
    for folder in ["include", "unfused", "rivals", "ladders"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut paths = match fs::read_dir(package.join(folder)) {
            Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        paths.sort();
        let entries = paths.iter().filter_map(|path| Some((path.file_name()?.to_str()?, path)));
        let entries: String =
            entries.map(|(name, path)| format!("    ({name:?}, include_str!({path:?})),\n")).collect();
        writeln!(text, "const {}: &[(&str, &str)] = &[\n{entries}];", folder.to_uppercase())
            .map_err(io::Error::other)?;
    }
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("collected.rs"), text)
}
