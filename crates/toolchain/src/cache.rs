use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::fetch::wheels;
use crate::manifest::Manifest;
use crate::places::set;
use crate::{Origin, Toolchain, library};

/// The private cache: a directory that holds one directory for each pinned release and architecture, so that two
/// checkouts of different age do not fight over it, nor two machines that share a home folder, such as a Mac's
/// containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

/// What is in the cache.
#[derive(Debug)]
pub(crate) enum State {
    Absent,
    /// Something is there that cannot be used, and why.
    Damaged(String),
    Ready(Box<Toolchain>),
}

impl Cache {
    /// `FUSION_CACHE_DIR`, else `fusion-course` in the platform's cache directory (`~/.cache` on Linux).
    pub fn from_env() -> Option<Cache> {
        let root = match set("FUSION_CACHE_DIR") {
            Some(root) => PathBuf::from(root),
            None => etcetera::choose_base_strategy().ok()?.cache_dir().join("fusion-course"),
        };
        std::path::absolute(root).ok().map(Cache::new)
    }

    /// The cache in `root`, which need not exist.
    pub fn new(root: PathBuf) -> Cache {
        Cache { root }
    }

    /// The directory given to [`Cache::new`].
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the pinned release lies once it is fetched: `lib`, `include`, NVIDIA's licence and a manifest.
    pub fn directory(&self) -> PathBuf {
        self.root.join(self.name())
    }

    pub(crate) fn name(&self) -> String {
        name(std::env::consts::ARCH)
    }

    pub(crate) fn state(&self) -> State {
        let directory = self.directory();
        if !directory.exists() {
            return State::Absent;
        }
        if let Err(why) = Manifest::read(&directory).and_then(|manifest| manifest.check(&directory)) {
            return State::Damaged(why);
        }
        match library::in_directory(&directory.join("lib"), &[], Origin::Cache) {
            Some(Ok(toolchain)) => State::Ready(Box::new(toolchain)),
            Some(Err(why)) => State::Damaged(why),
            None => State::Damaged("there is no NVRTC library in it".to_owned()),
        }
    }
}

/// That of x86_64 has no suffix: it was the first.
fn name(architecture: &str) -> String {
    match architecture {
        "x86_64" => format!("nvrtc-{}", wheels::RELEASE),
        other => format!("nvrtc-{}-{other}", wheels::RELEASE),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn each_architecture_has_its_own_place() {
        assert_eq!([name("x86_64"), name("aarch64")], ["nvrtc-13.0.88", "nvrtc-13.0.88-aarch64"]);
    }
}
