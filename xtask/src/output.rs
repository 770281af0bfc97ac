//! Text to stdout, where a reader who has seen enough is no error.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use fusion_grader::render::Look;

/// Writes text to stdout. A closed pipe (`grade | head -1`) is silent: the verdict still decides the exit code
/// of whoever looks at it. Returns false, after saying why on stderr, when the text is lost.
pub(crate) fn print(text: &str) -> bool {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            note(&format!("error: cannot write to standard output: {error}"));
            false
        }
        _ => true,
    }
}

/// Writes a report to stdout, one JSON object. Returns false, after saying why on stderr, when it is lost.
pub(crate) fn json(report: serde_json::Result<String>) -> bool {
    match report {
        Ok(json) => print(&format!("{json}\n")),
        Err(error) => {
            note(&format!("error: cannot write the report: {error}"));
            false
        }
    }
}

/// Writes a line to stderr, if anybody listens.
pub(crate) fn note(line: &str) {
    let _nobody = writeln!(std::io::stderr().lock(), "{line}");
}

/// How text on stdout may look. `NO_COLOR` is honoured (no-color.org), and so is `CLICOLOR_FORCE` (bixense.com/clicolors).
pub(crate) fn look() -> Look {
    let terminal = std::io::stdout().is_terminal();
    let color = (terminal || color_forced()) && !no_color();
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Look { terminal, color, width: width.or_else(terminal_width), advice: false }
}

/// How text on stderr may look.
pub(crate) fn look_of_stderr() -> fusion_diagnostic::Look {
    let look = Look { color: std::io::stderr().is_terminal() && !no_color(), ..look() };
    look.into()
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn color_forced() -> bool {
    std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(unix)]
fn terminal_width() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<u16> {
    None
}
