//! What is going on, on stderr while it is a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line with a spinner and a count. Nothing at all where stderr is not a terminal.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// `steps` is how many times [`Progress::step`] will be called.
    pub(crate) fn new(steps: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(steps as u64);
        // The template is a constant; the default style is no harm should it ever be refused.
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{pos}/{len}] {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    pub(crate) fn say(&self, text: impl Into<String>) {
        self.0.set_message(text.into());
    }

    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// A line on stderr that stays, above the spinner.
    pub(crate) fn note(&self, line: &str) {
        self.0.suspend(|| crate::output::note(line));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
