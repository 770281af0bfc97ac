//! What the programs need: a Python environment with numba-cuda, nvcc and the headers, made once and kept in the course's cache.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fusion_toolchain::Cache;

use super::Kind;
use crate::output;

/// Written when all is installed.
const COMPLETE: &str = "complete";

/// Why there is no program to run.
#[derive(Debug)]
pub(super) enum Absent {
    /// This machine lacks something that CI may lack.
    Skip(String),
    /// It should have been built.
    Fail(String),
}

/// An environment that is complete.
#[derive(Debug)]
pub(super) struct Environment {
    python: PathBuf,
    /// NVIDIA's packages: `bin`, `include`, `lib`.
    cuda: Option<PathBuf>,
    /// Where programs are built.
    programs: PathBuf,
}

impl Environment {
    /// Finds it in the cache or installs it there.
    ///
    /// # Errors
    /// Why it cannot be had here, as a sentence.
    pub(super) fn get(folder: &Path) -> Result<Self, String> {
        let requirements = folder.join("requirements.txt");
        let wanted = std::fs::read(&requirements).map_err(|error| format!("{}: {error}", requirements.display()))?;
        let mut hasher = DefaultHasher::new();
        wanted.hash(&mut hasher);
        let cache = Cache::from_env().ok_or("there is no folder for a cache; FUSION_CACHE_DIR can name one")?;
        let home = cache.root().join(format!("clients-{:016x}", hasher.finish()));
        if !home.join(COMPLETE).is_file() {
            install(&home, &requirements)?;
        }
        let python = home.join("venv/bin/python");
        let programs = home.join("programs");
        std::fs::create_dir_all(&programs).map_err(|error| format!("{}: {error}", programs.display()))?;
        Ok(Self { cuda: cuda(&home.join("venv/lib")), python, programs })
    }

    /// The command line of a program, which is built where it must be.
    pub(super) fn program(&self, kind: Kind, folder: &Path, name: &str) -> Result<Vec<PathBuf>, Absent> {
        if kind == Kind::Numba {
            // Warnings of numba-cuda name the environment's files.
            return Ok(vec![self.python.clone(), "-W".into(), "ignore".into(), name.into()]);
        }
        if !succeeds(Command::new("g++").arg("--version")) {
            return Err(Absent::Skip(
                "there is no g++, which nvcc needs; install your system's C++ compiler".to_owned(),
            ));
        }
        let cuda = self.cuda.as_ref().ok_or_else(|| Absent::Fail("the environment has no nvcc".to_owned()))?;
        let libraries = self.libraries().map_err(|error| Absent::Fail(error.to_string()))?;
        let out = self.programs.join(Path::new(name).file_stem().unwrap_or_default());
        let mut compiler = match kind {
            Kind::C => Command::new("g++"),
            _ => Command::new(cuda.join("bin/nvcc")),
        };
        match kind {
            Kind::C => compiler.args(["-x", "c"]).arg(name).arg("-I").arg(cuda.join("include")),
            _ => compiler
                .args(["-cudart", "shared", "-cudadevrt", "none", "-lineinfo"])
                .args(["-gencode", "arch=compute_90,code=compute_90"])
                .arg(name),
        };
        match kind {
            Kind::Separate => drop(compiler.arg("-rdc=true").arg(name.replace(".cu", "_device.cu"))),
            Kind::PerThread => drop(compiler.args(["--default-stream", "per-thread"])),
            _ => {}
        }
        compiler.current_dir(folder).arg("-L").arg(&libraries).arg("-o").arg(&out);
        if kind == Kind::C {
            compiler.args(["-x", "none", "-lcuda"]);
        }
        let built = compiler.stdin(Stdio::null()).output().map_err(|error| Absent::Fail(error.to_string()))?;
        if !built.status.success() {
            let log = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(Absent::Fail(format!("it could not be built:\n{log}")));
        }
        Ok(vec![out])
    }

    /// How to run and build programs of one's own with what is here.
    pub(super) fn commands(&self) -> String {
        let mut text = format!("with the same numba-cuda:  cargo xtask run -- '{}' PROGRAM.py", self.python.display());
        if let Some(cuda) = &self.cuda {
            let (nvcc, libraries) = (cuda.join("bin/nvcc"), self.programs.join("lib"));
            text += &format!(
                "\nwith the same nvcc:        '{}' -cudart shared -cudadevrt none -L '{}' -gencode arch=compute_90,code=compute_90 \
                 -lineinfo PROGRAM.cu -o PROGRAM",
                nvcc.display(),
                libraries.display()
            );
        }
        text
    }

    /// The emulated libraries, under the names that a linker looks for.
    fn libraries(&self) -> std::io::Result<PathBuf> {
        let folder = self.programs.join("lib");
        std::fs::create_dir_all(&folder)?;
        let found = [
            ("libcuda.so", fusion_device::emulated_driver()),
            ("libcudart.so", fusion_device::library_beside("libfusion_cudart.so")),
        ];
        for (name, path) in found {
            let link = folder.join(name);
            // Of an earlier run, perhaps of another workspace.
            let _ = std::fs::remove_file(&link);
            symlink(&path.map_err(std::io::Error::other)?, &link)?;
        }
        Ok(folder)
    }
}

#[cfg(unix)]
fn symlink(path: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(path, link)
}

#[cfg(not(unix))]
fn symlink(path: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(path, link).map(drop)
}

fn install(home: &Path, requirements: &Path) -> Result<(), String> {
    let python = std::env::var_os("FUSION_PYTHON").unwrap_or_else(|| "python3".into());
    // What an interrupted attempt has left would not become whole by going on.
    let _ = std::fs::remove_dir_all(home);
    std::fs::create_dir_all(home).map_err(|error| format!("cannot make {}: {error}", home.display()))?;
    output::note(&format!("installing numba-cuda and nvcc into {}; NVIDIA's are under its licence", home.display()));
    let venv = home.join("venv");
    if !succeeds(Command::new(&python).args(["-m", "venv"]).arg(&venv)) {
        return Err(format!("`{} -m venv` does not work here", Path::new(&python).display()));
    }
    let mut pip = Command::new(venv.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(requirements);
    // pip's own message is shown.
    match pip.stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => std::fs::write(home.join(COMPLETE), "")
            .map_err(|error| format!("cannot write to {}: {error}", home.display())),
        _ => {
            Err("pip could not install the packages of xtask/clients/requirements.txt. Is there a network?".to_owned())
        }
    }
}

/// NVIDIA's folder among the packages: `lib/python3.11/site-packages/nvidia/cu13`.
fn cuda(lib: &Path) -> Option<PathBuf> {
    let pythons = std::fs::read_dir(lib).ok()?.flatten();
    let mut folders = pythons.map(|python| python.path().join("site-packages/nvidia/cu13"));
    folders.find(|folder| folder.join("bin/nvcc").is_file())
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
