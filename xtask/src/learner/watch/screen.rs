//! The terminal: taken as a whole, and given back as it was however this ends.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{
    self, Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{execute, queue};

use super::view::View;

/// The terminal while it is ours.
#[derive(Debug)]
pub(super) struct Screen;

/// Whether it is.
static TAKEN: AtomicBool = AtomicBool::new(false);

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        // A message about a panic would be gone with the screen that it was written to.
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
        terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide, DisableLineWrap)?;
        Ok(screen)
    }

    /// Writes what is to be seen, and nothing where that is there already.
    pub(super) fn draw(&self, view: &mut View) -> io::Result<()> {
        // A panic in another thread has given the terminal back.
        if !TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other("it was given back after an internal error"));
        }
        let (columns, rows) = terminal::size()?;
        let Some(lines) = view.lines(columns, rows) else { return Ok(()) };
        let mut out = io::stdout().lock();
        for (row, line) in (0..rows).zip(lines) {
            // All colours end with the line.
            queue!(out, MoveTo(0, row))?;
            write!(out, "{line}\u{1b}[0m")?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // There is nothing that could be done about a terminal that is gone.
        let _gone = execute!(io::stdout(), EnableLineWrap, Show, LeaveAlternateScreen);
        let _gone = terminal::disable_raw_mode();
    }
}
