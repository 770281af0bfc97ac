use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A place that was searched, and what was found there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedIn {
    /// An environment variable, a directory, or a group of directories.
    pub place: String,
    /// "no NVRTC in 3 directories", "libnvrtc.so.11.2 is NVRTC 11.2, and 12.0 or newer is needed", ...
    pub found: String,
    /// Whether there was an NVRTC and it was not taken.
    pub refused: bool,
}

impl LookedIn {
    /// Nothing was there.
    pub(crate) fn nothing(place: impl ToString, found: impl ToString) -> LookedIn {
        LookedIn { place: place.to_string(), found: found.to_string(), refused: false }
    }

    /// Something was there that cannot be used, or not gladly.
    pub(crate) fn refused(place: impl ToString, found: impl ToString) -> LookedIn {
        LookedIn { place: place.to_string(), found: found.to_string(), refused: true }
    }
}

/// Why no toolchain was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindError {
    /// `FUSION_NVRTC` is set to something unusable.
    Override { path: PathBuf, why: String },
    /// It is in none of the places.
    NotFound { looked_in: Vec<LookedIn> },
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindError::Override { path, why } => {
                writeln!(f, "FUSION_NVRTC is {}, but {why}.", path.display())?;
                write!(f, "Set it to an NVRTC library or the directory that holds one, or unset it.")
            }
            FindError::NotFound { looked_in } => {
                writeln!(f, "NVRTC, NVIDIA's run-time compiler for CUDA C++, was not found. Looked in:")?;
                for LookedIn { place, found, .. } in looked_in {
                    writeln!(f, "  {place}: {found}")?;
                }
                write!(f, "Let `cargo xtask` fetch it, or set FUSION_NVRTC to an NVRTC library.")
            }
        }
    }
}

impl std::error::Error for FindError {}

/// Why no toolchain could be fetched. The message of each says what to do next.
#[derive(Debug)]
pub enum FetchError {
    /// `FUSION_NVRTC` is set to something unusable: fetching would not fix that.
    Override(FindError),
    /// NVIDIA publishes no NVRTC for this operating system and processor.
    NoWheel { platform: String },
    /// Neither `FUSION_CACHE_DIR` nor a home directory is known.
    NoCache,
    /// No working Python 3; the commands that were tried.
    NoPython { tried: Vec<String> },
    /// Python runs and has no `pip`.
    NoPip { python: String },
    /// The package index could not be reached.
    NoNetwork { detail: String },
    /// The index answered with a certificate that Python does not trust.
    Certificate { detail: String },
    /// The index has no such wheel.
    NotOnIndex { detail: String },
    /// What was downloaded is not what the course was tested with.
    WrongHash { detail: String },
    /// No space on the cache's disk; `needed` is the most that a fetch uses at once, in bytes.
    DiskFull { path: PathBuf, needed: u64 },
    /// The cache directory cannot be written.
    Unwritable { path: PathBuf, source: io::Error },
    /// `pip` failed in a way that is not one of the above; the end of what it said.
    Pip { status: String, said: String },
    /// A wheel with the right hash could not be unpacked, or the result does not look right.
    Unpack { wheel: String, why: String },
    /// Any other failure of the file system.
    Io { path: PathBuf, source: io::Error },
}

impl FetchError {
    /// Sorts a file-system error by what the reader can do about it.
    pub(crate) fn io(path: &Path, source: io::Error) -> FetchError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                FetchError::DiskFull { path, needed: crate::fetch::SPACE_NEEDED }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                FetchError::Unwritable { path, source }
            }
            _ => FetchError::Io { path, source },
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const OR_SET: &str = "set FUSION_NVRTC to an NVRTC library that you have";
        match self {
            FetchError::Override(error) => error.fmt(f),
            FetchError::NoWheel { platform } => write!(
                f,
                "NVIDIA publishes no NVRTC for {platform}.\n\
                 Use Linux (x86_64 or aarch64; a container or virtual machine will do) or Windows on x86_64, or {OR_SET}."
            ),
            FetchError::NoCache => write!(
                f,
                "NVRTC has to be fetched, but there is no home directory to keep it in.\n\
                 Set FUSION_CACHE_DIR to a directory that can be written."
            ),
            FetchError::NoPython { tried } => write!(
                f,
                "NVRTC has to be fetched with Python's pip, but no Python 3 runs here (tried {}).\n\
                 Install Python 3, or set FUSION_PYTHON to one, or {OR_SET}.",
                tried.join(", ")
            ),
            FetchError::NoPip { python } => write!(
                f,
                "NVRTC has to be fetched with pip, but `{python}` has no pip.\n\
                 Install it (Debian and Ubuntu: `sudo apt install python3-pip`; Fedora: `sudo dnf install python3-pip`; \
                 elsewhere: `{python} -m ensurepip --user`), or set FUSION_PYTHON to a Python that has pip, or {OR_SET}."
            ),
            FetchError::NoNetwork { detail } => write!(
                f,
                "NVRTC has to be fetched, but the Python package index could not be reached: {detail}\n\
                 Check the network; behind a proxy set HTTPS_PROXY, with a mirror set PIP_INDEX_URL; then try again. \
                 Without a network, {OR_SET}."
            ),
            FetchError::Certificate { detail } => write!(
                f,
                "NVRTC has to be fetched, but Python does not trust the package index's certificate: {detail}\n\
                 Behind a proxy that replaces certificates, set PIP_CERT to its certificate file; or {OR_SET}."
            ),
            FetchError::NotOnIndex { detail } => write!(
                f,
                "The package index does not offer the pinned NVRTC wheels: {detail}\n\
                 A mirror may lack them: unset PIP_INDEX_URL, or point it at the Python package index itself. \
                 An old pip may not know the wheels' platform: `python3 -m pip install --upgrade pip`. Or {OR_SET}."
            ),
            FetchError::WrongHash { detail } => write!(
                f,
                "A wheel was downloaded whose SHA-256 is not the pinned one, so it was not used.\n{detail}\n\
                 A proxy or mirror may have altered it: try another network or index; or {OR_SET}."
            ),
            FetchError::DiskFull { path, needed } => write!(
                f,
                "There is no space left at {}; fetching NVRTC needs about {} MB there.\n\
                 Make room, or set FUSION_CACHE_DIR to a directory on another disk.",
                path.display(),
                needed / 1_000_000
            ),
            FetchError::Unwritable { path, source } => write!(
                f,
                "{} cannot be written: {source}.\n\
                 Set FUSION_CACHE_DIR to a directory that can be written.",
                path.display()
            ),
            FetchError::Pip { status, said } => write!(
                f,
                "pip could not fetch NVRTC ({status}). It said:\n{said}\n\
                 Fix what it names and try again, or {OR_SET}."
            ),
            FetchError::Unpack { wheel, why } => write!(
                f,
                "The wheel {wheel} could not be unpacked: {why}.\n\
                 Try again; if it persists, {OR_SET}."
            ),
            FetchError::Io { path, source } => {
                write!(f, "{}: {source}.\nTry again, or set FUSION_CACHE_DIR to another directory.", path.display())
            }
        }
    }
}

impl std::error::Error for FetchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FetchError::Unwritable { source, .. } | FetchError::Io { source, .. } => Some(source),
            FetchError::Override(error) => Some(error),
            _ => None,
        }
    }
}
