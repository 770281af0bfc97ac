//! Filling the private cache: pip downloads the pinned wheels into a staging directory inside the cache, the files that
//! are needed are unpacked there, and one rename makes them visible.
//!
//! Whatever interrupts that leaves a staging directory and nothing else; the next attempt removes it. A lock file lets
//! one process fetch while the others wait for it, and then find the work done.

mod pip;
pub(crate) mod python;
mod unpack;
pub(crate) mod wheels;

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::cache::State;
use crate::places::set;
use crate::{Cache, FetchError, FindError, Places, Progress, Toolchain};
use wheels::Wheel;

/// What a fetch uses at once, at most: pip holds each wheel twice, and the unpacked files are a little larger than the
/// wheels.
pub(crate) const SPACE_NEEDED: u64 = 250_000_000;

/// NVRTC is not ours to license.
const LICENCE: &str = "NVRTC is NVIDIA's, under the CUDA EULA: https://docs.nvidia.com/cuda/eula/";

/// A way to fetch: where to look first and into which cache, with which Python, and which wheels.
#[derive(Clone, Debug)]
pub struct Fetch {
    places: Places,
    /// `FUSION_PYTHON`; otherwise `python3`, `python` and `py -3` are tried.
    python: Option<OsString>,
    wheels: &'static [Wheel],
}

impl Fetch {
    /// As the environment variables say.
    pub fn from_env() -> Fetch {
        Fetch { places: Places::from_env(), python: set("FUSION_PYTHON"), wheels: wheels::PINNED }
    }

    /// See [`crate::find_or_fetch`].
    ///
    /// # Errors
    /// When nothing is found and fetching fails.
    pub fn find_or_fetch(&self, progress: &mut dyn Progress) -> Result<Toolchain, FetchError> {
        match self.places.find() {
            Ok(toolchain) => Ok(toolchain),
            Err(error @ FindError::Override { .. }) => Err(FetchError::Override(error)),
            Err(FindError::NotFound { looked_in }) => {
                // The cache speaks for itself below.
                let cache = self.places.cache.as_ref().map(|cache| cache.directory().display().to_string());
                for place in looked_in.iter().filter(|it| it.refused && Some(&it.place) != cache.as_ref()) {
                    progress.note(&format!("not used: {}: {}", place.place, place.found));
                }
                self.fetch(progress)
            }
        }
    }

    /// Fetches into the cache even when the system has an NVRTC, for example one without headers. Does nothing when
    /// the cache is complete.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub fn fetch(&self, progress: &mut dyn Progress) -> Result<Toolchain, FetchError> {
        let cache = self.places.cache.as_ref().ok_or(FetchError::NoCache)?;
        self.fetch_into(cache, progress).map_err(|error| match error {
            // Which of the files did not fit tells nothing.
            FetchError::DiskFull { needed, .. } => FetchError::DiskFull { path: cache.root().to_owned(), needed },
            error => error,
        })
    }

    fn fetch_into(&self, cache: &Cache, progress: &mut dyn Progress) -> Result<Toolchain, FetchError> {
        if self.wheels.is_empty() {
            let platform = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
            return Err(FetchError::NoWheel { platform });
        }
        std::fs::create_dir_all(cache.root()).map_err(|error| FetchError::io(cache.root(), error))?;
        let _lock = lock(&cache.root().join(format!("{}.lock", cache.name())), progress)?;
        // Another process may have finished while this one waited.
        match cache.state() {
            State::Ready(toolchain) => return Ok(*toolchain),
            State::Damaged(why) => {
                progress.note(&format!("{} is damaged ({why}); fetching it again", cache.directory().display()));
            }
            State::Absent => {}
        }
        let python = python::find(self.python.as_deref())?;
        let staging = Staging::new(cache)?;
        progress.note(LICENCE);
        let downloaded = pip::download(&python, self.wheels, staging.path(), progress)?;
        let tree = staging.path().join("tree");
        unpack::wheels(&downloaded, self.wheels, &tree, progress)?;
        staging.publish(&tree, cache)?;
        match cache.state() {
            State::Ready(toolchain) => {
                progress.note(&format!("NVRTC {} is in {}", toolchain.version, cache.directory().display()));
                Ok(*toolchain)
            }
            State::Damaged(why) => Err(FetchError::Unpack { wheel: cache.name(), why }),
            State::Absent => Err(FetchError::Unpack { wheel: cache.name(), why: "it is gone again".to_owned() }),
        }
    }
}

/// Holds the lock until the file is dropped, which also happens when the process dies.
fn lock(path: &Path, progress: &mut dyn Progress) -> Result<Option<File>, FetchError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(|error| FetchError::io(path, error))?;
    let waited = match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            progress.note("another process is fetching NVRTC: waiting for it");
            file.lock()
        }
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    match waited {
        Ok(()) => Ok(Some(file)),
        // Some network file systems have no locks. Two fetches at once then do the work twice and nothing worse: each
        // has its own staging directory, and the rename decides.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(FetchError::io(path, error)),
    }
}

/// A directory inside the cache in which the work is done, removed when dropped.
struct Staging {
    path: PathBuf,
}

impl Staging {
    /// Makes a new one, after removing what interrupted attempts have left. Their pip may still be running and writing,
    /// so the new one has a name of its own.
    fn new(cache: &Cache) -> Result<Staging, FetchError> {
        let prefix = format!("{}.staging-", cache.name());
        let entries = std::fs::read_dir(cache.root()).map_err(|error| FetchError::io(cache.root(), error))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                // What cannot be removed now costs space only, and the next fetch tries again.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path = cache.root().join(format!("{prefix}{}-{}", std::process::id(), now.as_nanos()));
        std::fs::create_dir(&path).map_err(|error| FetchError::io(&path, error))?;
        Ok(Staging { path })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the finished tree in its place, and a damaged one that stood there out of the way first.
    fn publish(&self, tree: &Path, cache: &Cache) -> Result<(), FetchError> {
        let place = cache.directory();
        if place.exists() {
            let aside = self.path.join("damaged");
            std::fs::rename(&place, &aside).map_err(|error| FetchError::io(&place, error))?;
        }
        match std::fs::rename(tree, &place) {
            Ok(()) => Ok(()),
            // Where there are no locks, another process may have been quicker; its tree is as good as ours.
            Err(_) if place.exists() => Ok(()),
            Err(error) => Err(FetchError::io(&place, error)),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(all(test, unix))]
mod tests;
