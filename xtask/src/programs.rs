//! Where the programs are that hold the submissions: built from the workspace, or lying beside this one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fusion_grader::judgement::{Kind, RunError};

use crate::build;
use crate::interrupt::Interrupt;

/// The programs of the days that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// By package name.
    pub(crate) paths: BTreeMap<String, PathBuf>,
    /// What kept others from being built.
    pub(crate) errors: Vec<build::RustError>,
    /// The workspace's root, where there is one: diagnostics' paths are relative to it.
    pub(crate) root: Option<PathBuf>,
}

/// The package that answers a day.
pub(crate) fn package(kind: Kind, day: u32) -> String {
    match kind {
        Kind::Exercise => format!("exercises-day{day}"),
        Kind::Solution | Kind::Sample => format!("solutions-day{day}"),
    }
}

impl Programs {
    /// Builds the packages, or takes programs of their names from the folder that this program is in when there is
    /// no workspace, no cargo, or when `prebuilt` says so.
    pub(crate) fn get(packages: &[String], prebuilt: bool, interrupt: &Interrupt) -> Result<Self, RunError> {
        match workspace_root() {
            Some(root) if !prebuilt && build::cargo_works() => build::build(&root, packages, interrupt),
            root => Self::beside(packages, root, prebuilt),
        }
    }

    fn beside(packages: &[String], root: Option<PathBuf>, prebuilt: bool) -> Result<Self, RunError> {
        let folder = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        let folder = folder.unwrap_or_default();
        let mut programs = Self { root, ..Self::default() };
        for package in packages {
            let path = folder.join(package);
            if !path.is_file() {
                let why = match (prebuilt, &programs.root) {
                    (true, _) => "--prebuilt was given",
                    (false, None) => "this is not run inside the workspace",
                    (false, Some(_)) => "cargo cannot be run",
                };
                let message = format!(
                    "{why}, and there is no program `{package}` in {}; build it with `cargo build -p {package}` and \
                     put it there",
                    folder.display()
                );
                return Err(RunError::new("build", message));
            }
            programs.paths.insert(package.clone(), path);
        }
        Ok(programs)
    }
}

/// The root of the workspace: cargo names our own manifest when it runs us, otherwise the current folder and those
/// above it are looked at.
pub(crate) fn workspace_root() -> Option<PathBuf> {
    let is_root = |folder: &&Path| folder.join("xtask/Cargo.toml").is_file() && folder.join("Cargo.toml").is_file();
    let named = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = std::env::current_dir().ok();
    [named, current].into_iter().flatten().find_map(|start| start.ancestors().find(is_root).map(Path::to_path_buf))
}
