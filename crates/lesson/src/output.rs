//! Writing to a pipe that may be closed.

use std::io::Write as _;

use crate::LessonError;

/// Prints a paragraph. When nobody reads any more, as in `lesson | head`, the program ends quietly.
///
/// # Errors
/// When the output cannot be written for another reason, such as a full disk.
pub fn print(text: &str) -> Result<(), LessonError> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(LessonError::Closed),
        Err(error) => Err(LessonError::Output(error)),
    }
}
