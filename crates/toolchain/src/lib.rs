//! Where the CUDA compiler comes from: one module that finds NVRTC and the CUDA headers, and fetches them when there
//! are none.
//!
//! NVRTC (NVIDIA's run-time compiler, `libnvrtc`) turns CUDA C++ into PTX without a GPU and without a driver, so it is
//! all that a machine needs to take the course. It is looked for in this order:
//!
//! 1. `FUSION_NVRTC`, a file or a directory. When it is set and wrong, that is an error: a fall-through would compile
//!    with another compiler than the one asked for.
//! 2. The loader path (`LD_LIBRARY_PATH`, `CUDA_HOME`, `CUDA_PATH`, the loader's own directories, `/usr/local/cuda*`).
//!    Releases before 12.0 are passed over, and one with CUDA headers beside it is preferred to one without.
//! 3. A private cache, `FUSION_CACHE_DIR` or the platform's cache directory, which [`find_or_fetch`] fills from pinned
//!    PyPI wheels with `pip`.
//!
//! Nothing here opens the library; that is the caller's part. Nothing here prints: what there is to say goes through
//! [`Progress`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cache;
mod error;
mod fetch;
mod library;
mod manifest;
mod places;
mod progress;
#[cfg(feature = "terminal")]
mod terminal;

use std::path::PathBuf;

pub use cache::Cache;
pub use error::{FetchError, FindError, LookedIn};
pub use fetch::Fetch;
pub use library::Version;
pub use places::{Group, Places};
pub use progress::{Progress, Silent};
#[cfg(feature = "terminal")]
pub use terminal::Terminal;

/// The oldest NVRTC that the course is written for.
pub const OLDEST: Version = Version { major: 12, minor: 0 };

/// A usable NVRTC and its companions. All paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// The NVRTC library.
    pub nvrtc: PathBuf,
    /// Its builtins, which must be opened *before* it: NVRTC looks for them by bare name while it compiles, and fails
    /// with "builtin operation failure" where the loader cannot find them.
    pub builtins: PathBuf,
    /// Directories for `-I`, in order: the CUDA headers and CCCL's (`cuda/std`, `nv/target`). Empty when this NVRTC
    /// came without headers; kernels that include none still compile.
    pub include: Vec<PathBuf>,
    pub origin: Origin,
    /// The release, from the builtins' file name.
    pub version: Version,
    /// What was found on the way and not taken, with the reason.
    pub passed_over: Vec<LookedIn>,
}

/// Which of the three places a toolchain was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `FUSION_NVRTC`.
    Explicit,
    /// The loader path or a CUDA installation.
    System,
    /// The private cache.
    Cache,
}

/// Finds a toolchain on this machine, in the order that the crate's documentation gives. Never touches the network.
///
/// # Errors
/// [`FindError::Override`] when `FUSION_NVRTC` is set and unusable, otherwise [`FindError::NotFound`] with every place
/// that was looked in.
pub fn find() -> Result<Toolchain, FindError> {
    Places::from_env().find()
}

/// Finds a toolchain, and fetches one into the private cache when there is none or when the cache is damaged.
///
/// # Errors
/// See [`FetchError`]: each variant says what happened and what to do next.
pub fn find_or_fetch(progress: &mut dyn Progress) -> Result<Toolchain, FetchError> {
    Fetch::from_env().find_or_fetch(progress)
}

/// The command of a Python 3 that has pip, with which a toolchain would be fetched.
///
/// # Errors
/// [`FetchError::NoPython`] or [`FetchError::NoPip`].
pub fn python() -> Result<String, FetchError> {
    fetch::python::find(places::set("FUSION_PYTHON").as_deref()).map(|python| python.display())
}

impl std::fmt::Display for Toolchain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origin = match self.origin {
            Origin::Explicit => "named by FUSION_NVRTC",
            Origin::System => "installed on this machine",
            Origin::Cache => "from the private cache",
        };
        write!(f, "NVRTC {} {origin}: {}", self.version, self.nvrtc.display())
    }
}
