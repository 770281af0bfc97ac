use std::fmt;
use std::path::PathBuf;

use fusion_toolchain::FindError;

use super::{Diagnostic, diagnostic};
use crate::LoadError;

/// Why a source did not become a program.
#[derive(Debug)]
pub enum CompileError {
    /// NVRTC was not found.
    NoCompiler(FindError),
    /// It was found and cannot be opened.
    Open { path: PathBuf, why: String },
    /// A source or header contains a NUL byte at this line, one-based.
    NulByte { name: String, line: usize },
    /// The source is wrong. `diagnostics` is `log` taken apart.
    Rejected { name: String, log: String, diagnostics: Vec<Diagnostic> },
    /// This NVRTC makes no code for the device; capabilities as 75 for 7.5.
    Architecture { capability: u32, oldest: u32, version: (u32, u32) },
    /// NVRTC failed for a reason of its own.
    Nvrtc { doing: &'static str, text: String, log: String },
    /// It was compiled, and the driver refused it.
    Load(LoadError),
}

impl CompileError {
    /// The source of this name is wrong, as the log says.
    pub(crate) fn rejected(name: &str, log: String) -> Self {
        CompileError::Rejected { name: name.to_owned(), diagnostics: diagnostic::parse(&log), log }
    }

    /// The compiler's messages, when the source is what is wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            CompileError::Rejected { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }
}

/// For [`CompileError::Rejected`] this is NVRTC's log, which shows each source line with a caret.
impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::NoCompiler(error) => error.fmt(f),
            CompileError::Open { path, why } => write!(
                f,
                "NVRTC cannot be opened: {}: {why}\nSet FUSION_NVRTC to another NVRTC library.",
                path.display()
            ),
            CompileError::NulByte { name, line } => {
                write!(f, "{name}:{line}: error: there is a NUL byte here; the file is not text")
            }
            CompileError::Rejected { name, log, .. } => {
                write!(f, "{name} does not compile:\n{}", log.trim_end())?;
                match missing_cuda_header(log) {
                    Some(header) => write!(
                        f,
                        "\n{header} is not among the CUDA headers of this NVRTC: it may have come without headers. \
                         Unset FUSION_NVRTC or LD_LIBRARY_PATH so that a complete one is fetched."
                    ),
                    None => Ok(()),
                }
            }
            CompileError::Architecture { capability, oldest, version } => write!(
                f,
                "NVRTC {}.{} makes code for compute capability {}.{} and newer, and this GPU has {}.{}.\n\
                 Set FUSION_NVRTC to an older NVRTC (12.9 goes back to 5.0), or choose the emulated device.",
                version.0,
                version.1,
                oldest / 10,
                oldest % 10,
                capability / 10,
                capability % 10
            ),
            CompileError::Nvrtc { doing, text, log } => {
                write!(f, "NVRTC failed while {doing}: {text}")?;
                if log.trim().is_empty() { Ok(()) } else { write!(f, "\n{}", log.trim_end()) }
            }
            CompileError::Load(error) => error.fmt(f),
        }
    }
}

/// The header that the log says is missing, when it is one of CUDA's own.
fn missing_cuda_header(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("cannot open source file \"")?;
    let (header, _) = rest.split_once('"')?;
    let cuda = ["cuda_", "cuda/", "cooperative_groups", "mma.h", "cub/", "nv/", "crt/", "vector_"];
    cuda.iter().any(|start| header.starts_with(start)).then_some(header)
}

impl std::error::Error for CompileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CompileError::NoCompiler(error) => Some(error),
            CompileError::Load(error) => Some(error),
            _ => None,
        }
    }
}
