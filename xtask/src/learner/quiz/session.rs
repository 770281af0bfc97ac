//! Asking line by line: on a terminal, and wherever lines come from.

use std::io::BufRead as _;

use fusion_course::Exercise;

use super::question::{Answer, Given, Question};
use crate::command::program;
use crate::learner::hint::{self, WIDEST};
use crate::learner::state::{Mark, State};
use crate::paint::Paint;
use crate::{date, output};

/// One quiz.
#[derive(Debug)]
pub(super) struct Session<'a> {
    /// Where answers are kept, while they can be.
    state: Option<&'a State>,
    before: &'a [Mark],
    when: String,
    asked: usize,
    right: usize,
    /// No more lines will come, or none are wanted.
    ended: bool,
}

/// Why it cannot go on.
const LOST: &str = "what the quiz asks cannot be written";

impl<'a> Session<'a> {
    pub(super) fn begin(state: &'a State, before: &'a [Mark]) -> Self {
        Self { state: Some(state), before, when: date::now(), asked: 0, right: 0, ended: false }
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.ended
    }

    /// A paragraph of its own.
    pub(super) fn say(&self, text: &str) -> Result<(), String> {
        print(&format!("\n{}\n", Paint::Bold.on(text, output::look())))
    }

    /// What belongs to the paragraph above.
    pub(super) fn tell(&self, text: &str) -> Result<(), String> {
        print(&filled(text))
    }

    /// Asks one question after the other.
    pub(super) fn ask(&mut self, questions: &[Question]) -> Result<(), String> {
        for question in questions {
            if self.ended {
                break;
            }
            print(&format!("\n{}", filled(&question.text())))?;
            let given = match question.answer {
                Answer::Words => self.words(question)?,
                Answer::Number { .. } | Answer::Choice { .. } => self.exact(question)?,
            };
            if let Some((given, right)) = given {
                self.keep(question, given, right);
            }
        }
        Ok(())
    }

    /// What was answered, and whether it is right; nothing where the quiz has ended.
    fn exact(&mut self, question: &Question) -> Result<Option<(String, bool)>, String> {
        loop {
            let Some(line) = self.line("> ")? else { return Ok(None) };
            let (word, right) = match question.judge(&line) {
                _ if line.is_empty() => ("", false),
                Given::Right => ("Right. ", true),
                Given::Wrong => ("No. ", false),
                Given::Unclear => {
                    print(&format!("Type {}, and q ends the quiz.\n", question.how()))?;
                    continue;
                }
            };
            let look = output::look();
            let painted = Paint::on(if right { Paint::Green } else { Paint::Red }, word, look);
            print(&filled(&format!("{word}{}", question.because)).replacen(word, &painted, 1))?;
            return Ok(Some((line, right)));
        }
    }

    /// The answer is shown, and the learner says whether it was theirs.
    fn words(&mut self, question: &Question) -> Result<Option<(String, bool)>, String> {
        let Some(given) = self.line("Your answer, or nothing to see it: ")? else { return Ok(None) };
        print(&format!("\n{}\n", filled(&question.because)))?;
        loop {
            let Some(line) = self.line("Was it yours? y or n: ")? else { return Ok(None) };
            match line.to_lowercase().as_str() {
                "y" | "yes" => return Ok(Some((given, true))),
                "n" | "no" | "" => return Ok(Some((given, false))),
                _ => {}
            }
        }
    }

    /// The next line; nothing at the end of them, and after `q`.
    fn line(&mut self, prompt: &str) -> Result<Option<String>, String> {
        print(prompt)?;
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("cannot read: {error}"))?;
        if read == 0 {
            // The prompt's line has no end.
            print("\n")?;
        }
        let line = line.trim().to_owned();
        self.ended = read == 0 || matches!(line.as_str(), "q" | "quit");
        Ok((!self.ended).then_some(line))
    }

    /// Where an answer cannot be kept, the quiz says so once, and goes on.
    fn keep(&mut self, question: &Question, given: String, right: bool) {
        self.asked += 1;
        self.right += usize::from(right);
        let Some(state) = self.state else { return };
        let mark = Mark { when: self.when.clone(), question: question.id.clone(), given, right };
        if let Err(error) = state.mark(&mark) {
            output::note(&format!("note: your answers are not kept, for .course cannot be written: {error}"));
            self.state = None;
        }
    }

    /// How it went, beside how it went before.
    pub(super) fn end(&self, exercise: &Exercise) -> String {
        if self.asked == 0 {
            return "\nNothing was answered.\n".to_owned();
        }
        let mut text = format!("\n{} of {} right.", self.right, self.asked);
        if let Some(last) = self.before.last() {
            let same = || self.before.iter().filter(|mark| mark.when == last.when);
            let right = same().filter(|mark| mark.right).count();
            text += &format!(" Last time it was {right} of {}.", same().count());
        }
        text + &format!("\n\nSee it happen: {} bench {} --solutions\n", program(), exercise.name)
    }
}

fn print(text: &str) -> Result<(), String> {
    if output::print(text) { Ok(()) } else { Err(LOST.to_owned()) }
}

/// As wide as is easy to read; options stay lines of their own.
fn filled(text: &str) -> String {
    let width = output::look().width.map_or(WIDEST, usize::from).min(WIDEST);
    let (question, options) = text.split_once("\n  a  ").unwrap_or((text, ""));
    let question = hint::plain(question, width);
    if options.is_empty() { question } else { format!("{question}  a  {options}") }
}
