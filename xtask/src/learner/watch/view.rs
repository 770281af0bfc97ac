//! What is on the screen, as lines of text: a title, what is going on, one text that can be scrolled, the keys.

mod frame;

use std::time::Instant;

use fusion_course::Exercise;
use fusion_grader::judgement::Report;
use fusion_grader::render::{self, Look};

use super::job::Outcome;
use crate::learner::choice::Learner;
use crate::learner::{diff, explain, hint, list, reset};
use crate::output;
use crate::paint::Paint;
use frame::Frame;

/// All that is shown.
#[derive(Debug)]
pub(super) struct View {
    pub(super) learner: Learner,
    pub(super) exercise: &'static Exercise,
    /// What runs, and since when.
    under_way: Option<(&'static str, Instant)>,
    last: Last,
    shown: Shown,
    /// A line that says what came of a key.
    said: Option<String>,
    asks: bool,
    /// Whether the files change because they were reset, which is still to be read.
    was_reset: bool,
    /// Whether `n` was pressed before the exercise is done.
    insists: bool,
    hints: usize,
    frame: Frame,
}

/// What the last run of `grade` found out.
#[derive(Debug, Default)]
enum Last {
    #[default]
    Nothing,
    Report(Box<Report>, Vec<String>),
    Text(String),
}

/// What the text is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    Report,
    Hint,
    List,
    Explain,
    Diff,
    Bench(String),
}

impl View {
    pub(super) fn new(learner: Learner, exercise: &'static Exercise) -> Self {
        Self {
            learner,
            exercise,
            under_way: None,
            last: Last::Nothing,
            shown: Shown::Report,
            said: None,
            asks: false,
            was_reset: false,
            insists: false,
            hints: 0,
            frame: Frame::default(),
        }
    }

    /// Something was started.
    pub(super) fn begin(&mut self, what: &'static str) {
        self.under_way = Some((what, Instant::now()));
        self.insists = false;
        let said = self.said.take().filter(|_| std::mem::take(&mut self.was_reset));
        // A file was saved: what it comes to is of more interest than a list.
        if what == "grading" {
            self.show(Shown::Report);
        }
        self.said = said;
    }

    /// It has ended.
    pub(super) fn end(&mut self, outcome: Outcome) {
        let timed = self.under_way.take().is_some_and(|(what, _)| what != "grading");
        match outcome {
            Outcome::Text(text) if timed => self.show(Shown::Bench(text)),
            Outcome::Text(text) => self.last = Last::Text(text),
            Outcome::Graded(report, said) => self.last = Last::Report(report, said),
        }
        if let Ok(attempts) = self.learner.state.attempts() {
            self.learner.attempts = attempts;
        }
        self.frame.changed();
    }

    fn show(&mut self, shown: Shown) {
        self.shown = shown;
        self.said = None;
        self.frame.top();
    }

    pub(super) fn back(&mut self) {
        self.show(Shown::Report);
    }

    pub(super) fn hint(&mut self) {
        self.hints = (self.hints + 1).min(self.exercise.levels().len());
        self.show(Shown::Hint);
        self.frame.bottom();
    }

    pub(super) fn list(&mut self) {
        self.show(Shown::List);
        self.frame.at(self.exercise.name);
    }

    pub(super) fn diff(&mut self) {
        self.show(Shown::Diff);
    }

    /// Explains the error. Without one, whether the kernel itself is to be explained.
    pub(super) fn explain(&mut self) -> bool {
        let graded = matches!(&self.last, Last::Report(report, _) if !report.exercises.is_empty());
        match self.code() {
            Some(_) => self.show(Shown::Explain),
            None if graded && self.under_way.is_none() => return true,
            None => self.say("there is nothing to explain yet"),
        }
        false
    }

    /// Goes on to the next exercise. One that is not done is left only by who asks twice.
    pub(super) fn next(&mut self) {
        let done = self.learner.attempts.standing(self.exercise).is_done();
        match self.learner.attempts.after(self.exercise) {
            None => self.say("there is nothing left to do: all exercises are done"),
            Some(next) if next.name == self.exercise.name => self.say("this is the only one that is left"),
            Some(next) if !done && !self.insists => {
                self.insists = true;
                self.say(&format!("{} is not done yet; n again goes on to {}", self.exercise.name, next.name));
            }
            Some(next) => {
                self.exercise = next;
                (self.last, self.under_way) = (Last::Nothing, None);
                (self.hints, self.insists) = (0, false);
                self.show(Shown::Report);
            }
        }
    }

    pub(super) fn ask_to_reset(&mut self) {
        self.asks = true;
        let name = self.exercise.name;
        self.say(&format!("make {name} what it was at first? Your work is saved. y: yes, any other key: no"));
    }

    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    pub(super) fn answer(&mut self, yes: bool) {
        self.asks = false;
        self.said = None;
        if yes {
            let done = reset::reset(&self.learner, self.exercise);
            self.was_reset = done.is_ok();
            self.say(&done.unwrap_or_else(|error| error.to_string()));
        }
        self.frame.changed();
    }

    fn say(&mut self, text: &str) {
        self.said = Some(text.to_owned());
        self.frame.changed();
    }

    pub(super) fn scroll(&mut self, lines: isize) {
        self.frame.scroll(lines);
    }

    pub(super) fn page(&self) -> isize {
        self.frame.page()
    }

    /// The code of the first error.
    fn code(&self) -> Option<String> {
        let Last::Report(report, _) = &self.last else { return None };
        let failure = report.exercises.iter().find_map(|judgement| judgement.failure())?;
        Some(failure.fault.clone().unwrap_or_else(|| failure.code.to_string()))
    }

    /// All lines of the screen; none where they are those of the last time.
    pub(super) fn lines(&mut self, columns: u16, rows: u16) -> Option<Vec<String>> {
        let look = Look { terminal: true, width: Some(columns), ..output::look() };
        let seconds = self.under_way.map(|(_, since)| since.elapsed().as_secs());
        if !self.frame.is_due((columns, rows), seconds) {
            return None;
        }
        let (head, text) = (self.head(look, seconds), self.text(look));
        Some(self.frame.lines(head, &text, look))
    }

    /// What stays above the text.
    fn head(&self, look: Look, seconds: Option<u64>) -> Vec<String> {
        let [kernel, launch] = crate::learner::files::Folder::Answer.paths(self.exercise);
        vec![
            format!(
                "{}  {}  (day {}, {})",
                Paint::Bold.on(self.exercise.name, look),
                self.exercise.definition,
                self.exercise.day,
                self.learner.attempts.standing(self.exercise)
            ),
            Paint::Dim.on(&format!("{kernel}  {launch}"), look),
            self.status(look, seconds),
        ]
    }

    /// What is going on, or what came of it.
    fn status(&self, look: Look, seconds: Option<u64>) -> String {
        if let Some(said) = &self.said {
            return Paint::Yellow.on(said, look);
        }
        if let Some((what, _)) = self.under_way {
            return Paint::Cyan.on(&format!("{what} ... {} s", seconds.unwrap_or_default()), look);
        }
        let Last::Report(report, _) = &self.last else { return String::new() };
        let Some(judgement) = report.exercises.first() else { return String::new() };
        if self.learner.attempts.standing(self.exercise).is_done() && judgement.failure().is_none() {
            let on = match self.learner.attempts.after(self.exercise) {
                Some(next) => format!("n goes on to {}", next.name),
                None => "that was the last one".to_owned(),
            };
            return Paint::Green
                .on(&format!("{}: {on}; d compares yours with the solution, e explains it", judgement.verdict), look);
        }
        let place = render::next(judgement).map(|place| format!(": {place}")).unwrap_or_default();
        Paint::Red.on(&format!("{}{place}", judgement.verdict), look)
    }

    fn text(&self, look: Look) -> String {
        let told = |said: Result<String, String>| said.unwrap_or_else(|why| why + "\n");
        match &self.shown {
            Shown::Report => self.report(look),
            Shown::Hint => hint::text(self.exercise, self.hints, look.width),
            Shown::List => told(list::text(&self.learner, &[], look)),
            Shown::Explain => told(explain::explain(self.code().as_deref(), look.into())),
            Shown::Diff => told(diff::text(&self.learner, self.exercise, look)),
            Shown::Bench(text) => text.clone(),
        }
    }

    fn report(&self, look: Look) -> String {
        match &self.last {
            Last::Nothing => {
                "It is graded when you save one of its files. The first time takes longest: the day is built.\n"
                    .to_owned()
            }
            Last::Text(text) => text.clone(),
            Last::Report(report, said) => {
                let said: String = said.iter().map(|line| format!("{line}\n")).collect();
                let failed = report.error.as_ref().map(|error| format!("error: {}\n", error.message));
                said + &render::report(report, look) + &failed.unwrap_or_default()
            }
        }
    }
}
