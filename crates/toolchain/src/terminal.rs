use std::io::{IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressStyle};

use crate::Progress;

/// Progress on stderr: notes as lines, work as a bar. Where stderr is not a terminal the bar becomes one line.
#[derive(Debug, Default)]
pub struct Terminal {
    bar: Option<ProgressBar>,
}

impl Terminal {
    pub fn new() -> Terminal {
        Terminal::default()
    }
}

impl Progress for Terminal {
    fn note(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    fn start(&mut self, what: &str, total: u64) {
        if !std::io::stderr().is_terminal() {
            say(&format!("{what} ({:.1} MB)", total as f64 / 1e6));
            return;
        }
        let bar = ProgressBar::new(total).with_message(what.to_owned());
        // The template is a constant, so this cannot fail at run time; the default style is no harm if it ever does.
        if let Ok(style) = ProgressStyle::with_template("{msg} [{wide_bar}] {bytes}/{total_bytes} {eta:>3}") {
            bar.set_style(style.progress_chars("=> "));
        }
        self.bar = Some(bar);
    }

    fn advance(&mut self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done.min(bar.length().unwrap_or(done)));
        }
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn say(line: &str) {
    // Nobody is there to be told when stderr is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}
