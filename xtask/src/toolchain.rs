//! Makes sure that there is a CUDA compiler before anything needs it.

use fusion_grader::judgement::RunError;
use fusion_toolchain::Terminal;

/// Finds NVRTC or fetches it, with its progress on stderr.
pub(crate) fn ready() -> Result<(), RunError> {
    match fusion_toolchain::find_or_fetch(&mut Terminal::new()) {
        Ok(_) => Ok(()),
        Err(error) => Err(RunError::new("no-compiler", error.to_string())),
    }
}
