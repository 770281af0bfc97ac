//! Lines that fit a terminal: a head, a part of a text, the keys.

use fusion_grader::render::Look;

use crate::learner::watch::keys::KEYS;
use crate::paint::Paint;

/// Which part of the text is seen, and whether it is to be drawn anew.
#[derive(Debug)]
pub(super) struct Frame {
    /// The first line of the text that is seen.
    first: usize,
    /// Whether the end is to be seen, wherever that is.
    at_end: bool,
    /// The line that has this in it is to be seen, wherever it is.
    sought: Option<&'static str>,
    /// Lines of the text, and of them those that fit.
    total: usize,
    fits: usize,
    /// For what it was drawn; none where something has changed.
    drawn: Option<((u16, u16), Option<u64>)>,
}

impl Default for Frame {
    fn default() -> Self {
        Self { first: 0, at_end: false, sought: None, total: 0, fits: 1, drawn: None }
    }
}

impl Frame {
    pub(super) fn changed(&mut self) {
        self.drawn = None;
    }

    pub(super) fn top(&mut self) {
        (self.first, self.at_end, self.sought) = (0, false, None);
        self.changed();
    }

    /// The line with this mark in the middle, where the text has more lines than fit.
    pub(super) fn at(&mut self, mark: &'static str) {
        self.sought = Some(mark);
        self.changed();
    }

    pub(super) fn bottom(&mut self) {
        self.at_end = true;
        self.changed();
    }

    pub(super) fn scroll(&mut self, lines: isize) {
        self.first = self.first.saturating_add_signed(lines).min(self.total.saturating_sub(self.fits));
        (self.at_end, self.sought) = (false, None);
        self.changed();
    }

    pub(super) fn page(&self) -> isize {
        isize::try_from(self.fits.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// Whether a terminal of this size has to be drawn, so many seconds after something has begun.
    pub(super) fn is_due(&mut self, size: (u16, u16), seconds: Option<u64>) -> bool {
        self.drawn.replace((size, seconds)) != Some((size, seconds))
    }

    /// As many lines as the terminal that was asked about has rows.
    pub(super) fn lines(&mut self, head: Vec<String>, text: &str, look: Look) -> Vec<String> {
        let ((columns, rows), _) = self.drawn.unwrap_or(((80, 24), None));
        let (width, rows) = (usize::from(columns), usize::from(rows));
        let all: Vec<&str> = text.trim_end().lines().collect();
        // The head, a rule below it and one above the keys, and the keys.
        self.total = all.len();
        self.fits = rows.saturating_sub(head.len() + 3).max(1);
        let furthest = self.total.saturating_sub(self.fits);
        let marked = self.sought.and_then(|mark| all.iter().position(|line| line.contains(mark)));
        self.first = marked.map_or(self.first, |line| line.saturating_sub(self.fits / 2));
        self.first = if self.at_end { furthest } else { self.first.min(furthest) };
        let seen = all.iter().skip(self.first).take(self.fits);
        let rule = Paint::Dim.on(&"─".repeat(width), look);
        let mut lines = head;
        lines.push(rule.clone());
        lines.extend(seen.map(|line| line.replace('\t', "    ")));
        lines.resize(rows.saturating_sub(2), String::new());
        lines.push(rule);
        lines.push(self.keys(look));
        lines.iter().map(|line| console::truncate_str(line, width, "…").into_owned()).collect()
    }

    fn keys(&self, look: Look) -> String {
        let keys = KEYS.map(|(key, word)| format!("{} {word}", Paint::Bold.on(&key.to_string(), look)));
        let place = match self.total > self.fits {
            true => format!("   {}-{} of {} ↑↓", self.first + 1, self.first + self.fits, self.total),
            false => String::new(),
        };
        format!("{}{place}", keys.join("  "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(frame: &mut Frame, size: (u16, u16)) -> Vec<String> {
        frame.is_due(size, None);
        let text: String = (1..=10).map(|line| format!("line {line}\n")).collect();
        let lines = frame.lines(vec!["head".to_owned()], &text, Look::default());
        assert_eq!(lines.len(), usize::from(size.1));
        lines.into_iter().filter(|line| line.starts_with("line ")).collect()
    }

    #[test]
    fn a_part_of_the_text_is_seen_and_never_nothing() {
        let mut frame = Frame::default();
        assert_eq!(seen(&mut frame, (20, 8)), ["line 1", "line 2", "line 3", "line 4"]);
        frame.scroll(3);
        assert_eq!(seen(&mut frame, (20, 8))[0], "line 4");
        frame.scroll(isize::MAX);
        assert_eq!(seen(&mut frame, (20, 8)), ["line 7", "line 8", "line 9", "line 10"]);
        // A larger terminal shows more, and nothing below the end.
        assert_eq!(seen(&mut frame, (20, 10))[0], "line 5");
        // A marked line is in the middle, until the text is scrolled.
        frame.at("line 6");
        assert_eq!(seen(&mut frame, (20, 8)), ["line 4", "line 5", "line 6", "line 7"]);
        frame.at("line 2");
        assert_eq!(seen(&mut frame, (20, 8))[0], "line 1");
        frame.scroll(1);
        assert_eq!(seen(&mut frame, (20, 8))[0], "line 2");
        frame.scroll(isize::MIN);
        assert_eq!(seen(&mut frame, (4, 8)), Vec::<String>::new(), "cut off behind the third letter");
    }

    #[test]
    fn only_what_has_changed_is_drawn() {
        let mut frame = Frame::default();
        assert!(frame.is_due((80, 24), None));
        assert!(!frame.is_due((80, 24), None));
        assert!(frame.is_due((80, 25), None) && frame.is_due((80, 25), Some(1)));
        frame.changed();
        assert!(frame.is_due((80, 25), Some(1)));
    }
}
