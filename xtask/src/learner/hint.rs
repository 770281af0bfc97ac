//! `cargo xtask hint`: from the idea to nearly the answer.

use fusion_course::Exercise;

use super::choice::{Learner, tell};
use super::state::{Attempts, State};
use crate::interrupt::Interrupt;
use crate::{command, output};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The exercise, the next one where none is named; and how many hints, 1 without a number
    #[arg(value_names = ["EXERCISE", "N"], num_args = 0..=2)]
    words: Vec<String>,
}

impl super::Run for Options {
    fn run(&self, _interrupt: &Interrupt) -> u8 {
        tell(self.asked().and_then(|(target, count)| {
            // Hints are known outside of a checkout, too.
            let nowhere = || Learner { state: State { root: ".".into() }, attempts: Attempts::default() };
            let learner =
                if target.is_some() { Learner::find().unwrap_or_else(|_| nowhere()) } else { Learner::find()? };
            Ok(text(learner.choose(target)?, count, output::look().width))
        }))
    }
}

impl Options {
    /// The words by what they are: a number is a number of hints.
    fn asked(&self) -> Result<(Option<&str>, usize), String> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let number = |word: &str| word.parse::<usize>().ok();
        match words[..] {
            [] => Ok((None, 1)),
            [word] => Ok(number(word).map_or((Some(word), 1), |count| (None, count))),
            [target, count] => match number(count) {
                Some(count) => Ok((Some(target), count)),
                None => Err(format!("`{count}` is no number of hints; the exercise comes first: hint {target} 2")),
            },
            _ => Err("there are more than an exercise and a number".to_owned()),
        }
    }
}

/// The widest text that is easy to read.
pub(super) const WIDEST: usize = 100;

/// The first `count` hints.
pub(crate) fn text(exercise: &Exercise, count: usize, width: Option<u16>) -> String {
    hints(exercise, count.max(1), width.map_or(WIDEST, usize::from).min(WIDEST))
}

fn hints(exercise: &Exercise, count: usize, width: usize) -> String {
    let levels = exercise.levels();
    let total = levels.len();
    let mut text = format!("{}: {}\n", exercise.name, exercise.definition);
    for (index, hint) in levels.iter().take(count).enumerate() {
        text += &format!("\nhint {} of {total}: {}\n\n{}", index + 1, hint.heading, plain(hint.text, width));
    }
    if count > total {
        text += "\nthere are no more hints\n";
    }
    if count < total {
        text += &format!("\nmore: {} hint {} {}\n", command::program(), exercise.name, count + 1);
    }
    text
}

/// Markdown as plain text: paragraphs and items of lists fill lines of this width, and code stands indented as it is.
pub(super) fn plain(markdown: &str, width: usize) -> String {
    let mut text = String::new();
    // Every other part is code, and begins with the fence's language.
    for (index, part) in markdown.split("```").enumerate() {
        match part.split_once('\n') {
            Some((_, code)) if index % 2 == 1 => text += &textwrap::indent(code, "    "),
            _ => part.split("\n\n").map(|paragraph| filled(paragraph.trim_matches('\n'), width)).for_each(|filled| {
                if !filled.is_empty() {
                    text += &filled;
                    text += "\n";
                }
                text += "\n";
            }),
        }
    }
    let mut lines: Vec<&str> = text.lines().collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines.join("\n").trim_matches('\n').to_owned() + "\n"
}

/// A paragraph, or a list, whose items each begin a line.
fn filled(paragraph: &str, width: usize) -> String {
    let items = paragraph.replace("\n- ", "\u{0}- ");
    let items = items.split('\u{0}').map(|item| {
        let indent = if item.starts_with("- ") { "  " } else { "" };
        let words = item.split_whitespace().collect::<Vec<_>>().join(" ");
        let options = textwrap::Options::new(width).subsequent_indent(indent).break_words(false);
        textwrap::fill(&words, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
    });
    items.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_one_at_a_time_and_say_whether_there_are_more() {
        let exercise = fusion_course::find("mul_add").unwrap();
        let one = hints(exercise, 1, 80);
        assert!(one.contains("hint 1 of 3") && !one.contains("hint 2 of") && one.contains("hint mul_add 2"), "{one}");
        let all = hints(exercise, 9, 80);
        assert!(all.contains("hint 3 of 3") && !all.contains("more:") && all.ends_with("no more hints\n"), "{all}");
    }

    #[test]
    fn a_number_is_a_number_of_hints() {
        let asked = |words: &[&str]| {
            let options = Options { words: words.iter().map(|&word| word.to_owned()).collect() };
            options.asked().map(|(target, count)| (target.map(str::to_owned), count))
        };
        assert_eq!(asked(&[]), Ok((None, 1)));
        assert_eq!(asked(&["3"]), Ok((None, 3)));
        assert_eq!(asked(&["softmax"]), Ok((Some("softmax".to_owned()), 1)));
        assert_eq!(asked(&["softmax", "2"]), Ok((Some("softmax".to_owned()), 2)));
        assert!(asked(&["2", "softmax"]).is_err());
    }

    #[test]
    fn hints_are_shown_plainly() {
        let markdown = "One two three\nfour.\n\nThese matter.\n\n- An item that is\n  long.\n- Another.\n\n```cpp,body\nif (i < n) {\n    out[i] = 0;\n}\n```\n\nEnd.";
        let shown = "One two three\nfour.\n\nThese matter.\n\n- An item that\n  is long.\n- Another.\n\n    if (i < n) {\n        out[i] = 0;\n    }\n\nEnd.\n";
        assert_eq!(plain(markdown, 14), shown);
    }
}
