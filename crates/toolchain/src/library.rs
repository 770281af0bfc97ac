//! Recognising an NVRTC library, its builtins and its headers by their file names.
//!
//! | | library | builtins |
//! |---|---|---|
//! | Linux | `libnvrtc.so.13`, `libnvrtc.so.12.4.127` | `libnvrtc-builtins.so.13.0` |
//! | Windows | `nvrtc64_130_0.dll` | `nvrtc-builtins64_130.dll` |
//!
//! The library's own name often gives the major release only; the builtins' name always gives both numbers.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::{OLDEST, Origin, Toolchain};

/// A CUDA release, for example 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a directory holds. `Err` is the reason for which an NVRTC that is there cannot be used.
pub(crate) fn in_directory(directory: &Path, headers: &[PathBuf], origin: Origin) -> Option<Result<Toolchain, String>> {
    let names = file_names(directory);
    let mut libraries: Vec<(Release, &str)> =
        names.iter().filter_map(|name| Some((library_release(&real_name(directory, name))?, name.as_str()))).collect();
    // The newest first; of several names for one release the longest, which is a file rather than a link.
    libraries.sort_by_key(|&(release, name)| Reverse((release, name.len())));
    let mut refusal = None;
    for (release, name) in libraries {
        match with_builtins(directory, name, release, &names, headers, origin) {
            Ok(toolchain) => return Some(Ok(toolchain)),
            Err(why) => refusal = refusal.or(Some(Err(why))),
        }
    }
    refusal
}

/// The toolchain around one NVRTC file.
pub(crate) fn from_file(file: &Path, headers: &[PathBuf], origin: Origin) -> Result<Toolchain, String> {
    let (Some(directory), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Err("it has no file name".to_owned());
    };
    let release = library_release(&real_name(directory, name)).ok_or_else(|| {
        format!("it is not named like NVRTC ({})", if cfg!(windows) { "nvrtc64_*.dll" } else { "libnvrtc.so*" })
    })?;
    with_builtins(directory, name, release, &file_names(directory), headers, origin)
}

fn with_builtins(
    directory: &Path,
    name: &str,
    release: Release,
    names: &[String],
    headers: &[PathBuf],
    origin: Origin,
) -> Result<Toolchain, String> {
    let mut builtins: Vec<(Version, &str)> = names
        .iter()
        .filter_map(|name| Some((builtins_version(&real_name(directory, name))?, name.as_str())))
        .filter(|(version, _)| release.fits(*version))
        .collect();
    builtins.sort_by_key(|&(version, name)| Reverse((version, name.len())));
    let Some(&(version, builtins)) = builtins.first() else {
        return Err(format!("{name} has no builtins library of its release beside it"));
    };
    if version < OLDEST {
        return Err(format!("{name} is NVRTC {version}, and {OLDEST} or newer is needed"));
    }
    Ok(Toolchain {
        nvrtc: directory.join(name),
        builtins: directory.join(builtins),
        include: include(directory, headers),
        origin,
        version,
        passed_over: Vec::new(),
    })
}

/// The include directories that belong to a library in `directory`, of any of the layouts in use, else of `others`.
fn include(directory: &Path, others: &[PathBuf]) -> Vec<PathBuf> {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let beside = [directory, &real].into_iter().flat_map(|directory| {
        let one_up = directory.parent();
        let two_up = one_up.and_then(Path::parent);
        [
            one_up.map(|at| at.join("include")),
            // `bin/x64` on Windows, `lib/x86_64-linux-gnu` on Debian.
            two_up.map(|at| at.join("include")),
            // The wheels of CUDA 12 have a directory for each component.
            two_up.map(|at| at.join("cuda_runtime").join("include")),
        ]
    });
    let Some(cuda) = beside.flatten().chain(others.iter().cloned()).find(|at| at.join("cuda_fp16.h").is_file()) else {
        return Vec::new();
    };
    // CCCL lies inside the toolkit's headers since 13.0, and in a wheel of its own before that.
    let cccl = [cuda.join("cccl"), cuda.join("..").join("..").join("cuda_cccl").join("include")];
    let cccl = cccl.into_iter().find(|at| at.join("nv").join("target").is_file());
    std::iter::once(cuda).chain(cccl).collect()
}

/// A release as far as a library's file name tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    major: Option<u32>,
    minor: Option<u32>,
}

impl Release {
    fn fits(self, version: Version) -> bool {
        self.major.is_none_or(|major| major == version.major) && self.minor.is_none_or(|minor| minor == version.minor)
    }
}

fn library_release(name: &str) -> Option<Release> {
    if cfg!(windows) {
        // Every release of 12.x is called `nvrtc64_120_0.dll`, so the minor number says nothing.
        let digits = name.strip_prefix("nvrtc64_")?.strip_suffix("_0.dll")?;
        Some(Release { major: Some(decimal(digits)?.major), minor: None })
    } else {
        let mut numbers = dotted(name, "libnvrtc.so")?.into_iter();
        Some(Release { major: numbers.next(), minor: numbers.next() })
    }
}

fn builtins_version(name: &str) -> Option<Version> {
    if cfg!(windows) {
        decimal(name.strip_prefix("nvrtc-builtins64_")?.strip_suffix(".dll")?)
    } else {
        match dotted(name, "libnvrtc-builtins.so")?[..] {
            [major, minor, ..] => Some(Version { major, minor }),
            _ => None,
        }
    }
}

/// The numbers of `<stem>.1.2.3`; none of them is fine, anything else is not this library.
fn dotted(name: &str, stem: &str) -> Option<Vec<u32>> {
    let rest = name.strip_prefix(stem)?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    rest.strip_prefix('.')?.split('.').map(|number| number.parse().ok()).collect()
}

/// `130` is 13.0.
fn decimal(digits: &str) -> Option<Version> {
    let number: u32 = digits.parse().ok()?;
    Some(Version { major: number / 10, minor: number % 10 })
}

/// The name of the file that a link leads to, since it carries more of the release.
fn real_name(directory: &Path, name: &str) -> String {
    let real = directory.join(name).canonicalize().ok();
    let real = real.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    // A link to something with a foreign name (a store, a content address) keeps its own.
    real.filter(|real| real.contains("nvrtc")).unwrap_or(name).to_owned()
}

fn file_names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.contains("nvrtc") && directory.join(name).is_file()).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_release() {
        let release = |major, minor| Some(Release { major, minor });
        for (name, expected) in [
            ("libnvrtc.so", release(None, None)),
            ("libnvrtc.so.13", release(Some(13), None)),
            ("libnvrtc.so.12.4.127", release(Some(12), Some(4))),
            ("libnvrtc.alt.so.13", None),
            ("libnvrtc-builtins.so.13.0", None),
            ("libnvrtc.so.old", None),
            ("libnvrtc_static.a", None),
        ] {
            assert_eq!(library_release(name), expected, "{name}");
        }
        for (name, expected) in [
            ("libnvrtc-builtins.so.13.0", Some(Version { major: 13, minor: 0 })),
            ("libnvrtc-builtins.so.12.4.127", Some(Version { major: 12, minor: 4 })),
            ("libnvrtc-builtins.so", None),
            ("libnvrtc-builtins.alt.so.13.0", None),
        ] {
            assert_eq!(builtins_version(name), expected, "{name}");
        }
    }
}
