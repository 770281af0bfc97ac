//! For build scripts: lists the files of a folder as Rust, so that adding one is adding its file and the program carries it.
#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// An expression of type `&[(&str, &str)]`: name and text of every file below a folder of the package that is being built, sorted by
/// name. Names are paths below the folder with `/` between their parts, without the `ending` that all of them have: files with
/// another one are left out, and so are hidden files and an editor's copies, whose names end with `~`. A folder that is not there has no files. Cargo runs the build script anew when anything in it changes.
///
/// # Errors
/// The folder cannot be read, or this is called by something else than a build script.
pub fn files(folder: &str, ending: &str) -> io::Result<String> {
    println!("cargo::rerun-if-changed={folder}");
    expression(&PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join(folder), ending)
}

/// Writes a file into the folder that `env!("OUT_DIR")` names.
///
/// # Errors
/// It cannot be written, or this is called by something else than a build script.
pub fn write(name: &str, text: &str) -> io::Result<()> {
    fs::write(PathBuf::from(variable("OUT_DIR")?).join(name), text)
}

fn expression(folder: &Path, ending: &str) -> io::Result<String> {
    let mut found = Vec::new();
    collect(folder, "", &mut found)?;
    found.sort();
    let entries = found.iter().filter_map(|path| Some((path.strip_suffix(ending)?, folder.join(path))));
    let entries: String = entries.map(|(name, path)| format!("    ({name:?}, include_str!({path:?})),\n")).collect();
    Ok(format!("&[\n{entries}]"))
}

/// Paths below the folder; `prefix` is the way to where this call has come.
fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(folder.join(prefix)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && prefix.is_empty() => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        let path = format!("{prefix}{name}");
        match entry.file_type()?.is_dir() {
            true => collect(folder, &format!("{path}/"), found)?,
            false => found.push(path),
        }
    }
    Ok(())
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_by_their_way_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for file in ["z.cu", "a/b/c.cu", "a/notes.txt"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let all = expression(folder.path(), "").unwrap();
        let places: Vec<usize> =
            ["\"a/b/c.cu\"", "\"a/notes.txt\"", "\"z.cu\""].map(|name| all.find(name).unwrap()).into();
        assert!(places.is_sorted(), "{all}");
        let some = expression(folder.path(), ".cu").unwrap();
        assert!(some.contains("(\"a/b/c\", include_str!") && !some.contains("notes"), "{some}");
        assert_eq!(expression(&folder.path().join("none"), "").unwrap(), "&[\n]");
    }
}
