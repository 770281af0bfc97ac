//! Collects a day's wrong kernels, so that adding one is adding its file.
//!
//! Every `wrong/<exercise>/<name>.cu` becomes an entry of `$OUT_DIR/wrong.rs`, which
//! `wrong.rs` beside this file includes. It is launched as the reference solution is, or by the function named
//! `<exercise>` in a `<name>.rs` beside it, or else in a `launch.rs` there, which serves all of the folder that have
//! none of their own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=wrong");
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let day = variable("CARGO_PKG_NAME")?.trim_start_matches("solutions-").to_owned();

    let (mut modules, mut entries) = (String::new(), String::new());
    let wrong = package.join("wrong");
    let folders = if wrong.exists() { sorted(&wrong)? } else { Vec::new() };
    for folder in folders {
        let exercise = stem(&folder);
        let files = sorted(&folder)?;
        let with =
            |extension: &'static str| files.iter().filter(move |path| path.extension().is_some_and(|e| e == extension));
        for launch in with("rs") {
            writeln!(modules, "#[path = {launch:?}]\nmod {exercise}_{};", stem(launch)).map_err(io::Error::other)?;
        }
        for source in with("cu") {
            let name = stem(source);
            let launches = [source.with_extension("rs"), folder.join("launch.rs")];
            let function = match launches.iter().find(|launch| files.contains(launch)) {
                Some(launch) => format!("{exercise}_{}::{exercise}", stem(launch)),
                None => format!("crate::{exercise}::{exercise}"),
            };
            writeln!(
                entries,
                "        Wrong::new({name:?}, \"solutions/{day}/wrong/{exercise}/{name}.cu\", include_str!({source:?}), \
                 |source| course::{exercise}::entry({function}, source)),"
            )
            .map_err(io::Error::other)?;
        }
    }
    let text = format!(
        "use fusion_course::{day} as course;\n{modules}\nfn collected() -> Vec<Wrong> {{\n    vec![\n{entries}    ]\n}}\n"
    );
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("wrong.rs"), text)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
