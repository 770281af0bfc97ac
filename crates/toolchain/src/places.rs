use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Cache, FindError, LookedIn, Origin, Toolchain, cache, library};

/// Where to look for a toolchain, in order. Read from the environment once, so that a search can be described, repeated
/// and tested.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `FUSION_NVRTC`: the library or a directory that holds it. Nothing else is looked at when it is set.
    pub explicit: Option<PathBuf>,
    /// The directories of the system, by where they come from.
    pub system: Vec<Group>,
    /// Include directories of CUDA installations, for an NVRTC that has no headers beside it.
    pub headers: Vec<PathBuf>,
    /// The private cache; `None` where neither `FUSION_CACHE_DIR` nor a home directory is known.
    pub cache: Option<Cache>,
}

/// Directories with one origin, for example those of `LD_LIBRARY_PATH`.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: String,
    pub directories: Vec<PathBuf>,
}

impl Places {
    /// The places that the environment variables and this operating system name.
    pub fn from_env() -> Places {
        let installations: Vec<(&str, PathBuf)> = ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(|variable| Some((variable, PathBuf::from(set(variable)?))))
            .collect();
        let mut system = Vec::new();
        let loader = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
        if let Some(path) = set(loader) {
            system.push(Group::new(loader, env::split_paths(&path).filter(|at| at.is_absolute()).collect()));
        }
        for (variable, home) in &installations {
            system.push(Group::new(variable, library_directories(home)));
        }
        if cfg!(unix) {
            system.push(Group::new("the loader's directories", loader_directories(Path::new("/etc"))));
            system.push(Group::new("/usr/local/cuda*", local_installations(Path::new("/usr/local"))));
        }
        Places {
            explicit: set("FUSION_NVRTC").map(PathBuf::from),
            system,
            headers: installations.into_iter().map(|(_, home)| home.join("include")).collect(),
            cache: Cache::from_env(),
        }
    }

    /// Looks in each place in turn.
    ///
    /// # Errors
    /// See [`crate::find`].
    pub fn find(&self) -> Result<Toolchain, FindError> {
        if let Some(path) = &self.explicit {
            return self.explicit(path).map_err(|why| FindError::Override { path: path.clone(), why });
        }
        let mut looked_in = vec![LookedIn::nothing("FUSION_NVRTC", "not set")];
        let mut without_headers = None;
        for group in &self.system {
            match self.in_group(group, &mut looked_in) {
                Some(toolchain) if toolchain.include.is_empty() => {
                    let why = format!("{} has no CUDA headers with it", toolchain.nvrtc.display());
                    looked_in.push(LookedIn::refused(&group.name, &why));
                    without_headers.get_or_insert(toolchain);
                }
                Some(toolchain) => return Ok(Toolchain { passed_over: passed_over(looked_in), ..toolchain }),
                None => {}
            }
        }
        match self.cache.as_ref().map(|cache| (cache, cache.state())) {
            None => looked_in
                .push(LookedIn::nothing("the private cache", "no home directory is known: set FUSION_CACHE_DIR")),
            Some((_, cache::State::Ready(toolchain))) => {
                return Ok(Toolchain { passed_over: passed_over(looked_in), ..*toolchain });
            }
            Some((cache, cache::State::Absent)) => {
                looked_in.push(LookedIn::nothing(cache.directory().display(), "nothing there"))
            }
            Some((cache, cache::State::Damaged(why))) => {
                looked_in.push(LookedIn::refused(cache.directory().display(), format_args!("damaged: {why}")));
            }
        }
        without_headers.ok_or(FindError::NotFound { looked_in })
    }

    fn explicit(&self, path: &Path) -> Result<Toolchain, String> {
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        if path.is_file() {
            return library::from_file(&path, &self.headers, Origin::Explicit);
        }
        if !path.is_dir() {
            return Err("there is no such file or directory".to_owned());
        }
        let directories = std::iter::once(path.clone()).chain(library_directories(&path));
        let found = directories.filter_map(|at| library::in_directory(&at, &self.headers, Origin::Explicit)).next();
        found.unwrap_or_else(|| Err("there is no NVRTC library in that directory".to_owned()))
    }

    fn in_group(&self, group: &Group, looked_in: &mut Vec<LookedIn>) -> Option<Toolchain> {
        let before = looked_in.len();
        for directory in &group.directories {
            match library::in_directory(directory, &self.headers, Origin::System) {
                Some(Ok(toolchain)) => return Some(toolchain),
                Some(Err(why)) => looked_in.push(LookedIn::refused(directory.display(), &why)),
                None => {}
            }
        }
        if looked_in.len() == before {
            let count = group.directories.len();
            let found = match count {
                0 => "no such directory".to_owned(),
                1 => "no NVRTC in its directory".to_owned(),
                _ => format!("no NVRTC in its {count} directories"),
            };
            looked_in.push(LookedIn::nothing(&group.name, found));
        }
        None
    }
}

impl Group {
    pub fn new(name: &str, directories: Vec<PathBuf>) -> Group {
        Group { name: name.to_owned(), directories }
    }
}

/// Only what was found and refused is worth keeping once something better was found.
fn passed_over(looked_in: Vec<LookedIn>) -> Vec<LookedIn> {
    looked_in.into_iter().filter(|place| place.refused).collect()
}

/// A variable that is set to nothing counts as not set.
pub(crate) fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// Where a CUDA installation (or the unpacked wheels) keeps its libraries.
fn library_directories(home: &Path) -> Vec<PathBuf> {
    let inside: &[&str] = if cfg!(windows) { &["bin", "bin/x64", "bin/x86_64"] } else { &["lib64", "lib"] };
    inside.iter().map(|name| home.join(name)).filter(|at| at.is_dir()).collect()
}

/// The directories that the loader searches by itself: the usual ones, and those that `ld.so.conf` adds.
fn loader_directories(etc: &Path) -> Vec<PathBuf> {
    let mut files = vec![etc.join("ld.so.conf")];
    let mut more: Vec<PathBuf> = entries(&etc.join("ld.so.conf.d"));
    more.sort();
    files.extend(more);
    let mut directories: Vec<PathBuf> = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| text.lines().map(|line| PathBuf::from(line.trim())).collect::<Vec<_>>())
        .filter(|line| line.is_absolute())
        .collect();
    let triple = format!("{}-linux-gnu", env::consts::ARCH);
    directories.extend(["/usr/lib64".into(), "/usr/lib".into(), Path::new("/usr/lib").join(&triple)]);
    directories.extend(["/lib64".into(), "/lib".into(), Path::new("/lib").join(&triple), "/usr/local/lib".into()]);
    // `/lib` is a link to `/usr/lib` on most machines: look once.
    let mut seen = std::collections::HashSet::new();
    directories.retain(|at| at.canonicalize().is_ok_and(|real| seen.insert(real)));
    directories
}

/// The library directories of `/usr/local/cuda` and then of `/usr/local/cuda-*`, the newest first.
fn local_installations(local: &Path) -> Vec<PathBuf> {
    let release = |path: &Path| -> Option<Vec<u32>> {
        let name = path.file_name()?.to_str()?.strip_prefix("cuda")?;
        Some(
            name.strip_prefix('-').map_or(vec![u32::MAX], |it| it.split('.').map_while(|it| it.parse().ok()).collect()),
        )
    };
    let mut homes: Vec<(Vec<u32>, PathBuf)> =
        entries(local).into_iter().filter_map(|path| Some((release(&path)?, path))).collect();
    homes.sort_by(|a, b| b.cmp(a));
    homes.iter().flat_map(|(_, home)| library_directories(home)).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

#[cfg(all(test, unix))]
mod tests;
