//! Whether what a lesson shows is right.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use fusion_baseline::Problem;
use fusion_course::Param;

use crate::LessonError;

/// Compares the outputs that `wanted` names with the reference.
///
/// # Errors
/// [`LessonError::Wrong`], with who wrote it.
pub fn check(
    problem: &Problem,
    stream: &Arc<CudaStream>,
    who: &str,
    wanted: impl Fn(&Param) -> bool,
) -> Result<(), LessonError> {
    let failed = |error| LessonError::driver("reading the result")(error);
    problem.check(stream, wanted, failed, |param, mismatch| {
        LessonError::Wrong(format!("`{}` of {who} is wrong: {mismatch}", param.name))
    })
}
