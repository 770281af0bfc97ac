//! What is going on, on stderr while it is a terminal.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, plain};

/// A line with a spinner and a count. Nothing at all where stderr is not a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Workers that run, and what each of them does. The first has run longest.
    busy: Mutex<Vec<(String, String)>>,
    /// Whether a line was cut, and why was said.
    has_cut: AtomicBool,
}

impl Progress {
    /// `steps` is how many times [`Progress::step`] will be called.
    pub(crate) fn new(steps: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::with(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(steps as u64);
        // The template is a constant; the default style is no harm should it ever be refused.
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{pos}/{len}] {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self::with(bar)
    }

    fn with(bar: ProgressBar) -> Self {
        Self { bar, busy: Mutex::default(), has_cut: AtomicBool::new(false) }
    }

    pub(crate) fn say(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }

    /// What one of the workers does that run at the same time. The line stays with the one that has run longest, so
    /// that it can be read.
    pub(crate) fn worker(&self, who: &str, doing: &str) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        match busy.iter_mut().find(|(name, _)| name == who) {
            Some((_, before)) => doing.clone_into(before),
            None => busy.push((who.to_owned(), doing.to_owned())),
        }
        self.show(&busy);
    }

    /// The worker has ended.
    pub(crate) fn ended(&self, who: &str) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.retain(|(name, _)| name != who);
        self.show(&busy);
    }

    fn show(&self, busy: &[(String, String)]) {
        if let Some((who, doing)) = busy.first() {
            let beside = if busy.len() > 1 { format!(", and {} more", busy.len() - 1) } else { String::new() };
            self.say(format!("{who}: {doing}{beside}"));
        }
    }

    pub(crate) fn step(&self) {
        self.bar.inc(1);
    }

    /// A line on stderr that stays, above the spinner. Submissions print such lines: a long one is cut.
    pub(crate) fn note(&self, line: &str) {
        let Some(cut) = plain::cut(line) else { return self.remark(line) };
        self.remark(&cut);
        if !self.has_cut.swap(true, Ordering::Relaxed) {
            self.remark(plain::LINE_ENDS);
        }
    }

    /// The same for a text of our own, which is never cut.
    pub(crate) fn remark(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }
}

/// What one submission prints, line by line as it comes.
#[derive(Debug, Default)]
pub(crate) struct Printout(plain::Printout);

impl Printout {
    pub(crate) fn line(&mut self, who: &str, line: &str, progress: &Progress) {
        if self.0.shows() {
            progress.note(&format!("{who}: {line}"));
        }
    }

    /// Says how much has not been shown.
    pub(crate) fn end(&self, who: &str, progress: &Progress) {
        if let Some(left_out) = self.0.left_out() {
            progress.remark(&format!("{who}: {left_out}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
