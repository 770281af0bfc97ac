//! Prose of a page: its paragraphs, what they link to, and the numbers with units in them.

use std::str::FromStr;

/// Words and signs that make a number a measurement or a size. Longer ones come before those that they begin with.
const UNITS: [&str; 34] = [
    "µs",
    "us",
    "ns",
    "ms",
    "microseconds",
    "microsecond",
    "nanoseconds",
    "milliseconds",
    "millisecond",
    "seconds",
    "GB/s",
    "MB/s",
    "TB/s",
    "KiB",
    "MiB",
    "GiB",
    "KB",
    "MB",
    "GB",
    "TB",
    "%",
    "percent",
    "x",
    "times as fast",
    "times as long",
    "clocks",
    "clock",
    "FLOP/s",
    "TFLOP/s",
    "teraflops",
    "registers",
    "gigabytes",
    "terabytes",
    "megabytes",
];

/// Lines without a blank one between them, outside of code.
#[derive(Debug)]
pub(super) struct Paragraph {
    /// The number of its first line.
    pub(super) line: usize,
    text: String,
}

/// A number with a unit, or one that a calculation uses.
#[derive(Debug)]
pub(super) struct Quantity {
    /// As it stands in the text: `6.59 us`.
    pub(super) text: String,
    /// The text around it, in one line.
    pub(super) around: String,
    value: f64,
    /// Digits after the point.
    digits: i32,
}

impl Quantity {
    fn new(text: &str, written: &str, unit: &str) -> Option<Self> {
        let value = value(written)?;
        let digits = written.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
        let around: String = text.chars().take(120).collect();
        let name = format!("{written} {unit}");
        Some(Self { text: name.trim().to_owned(), around: around.trim().to_owned(), value, digits })
    }

    /// Whether this number, rounded to as many digits, is the one.
    pub(super) fn is(&self, known: f64) -> bool {
        let scale = 10f64.powi(self.digits);
        ((known * scale).round() - (self.value * scale).round()).abs() < 0.5
    }
}

/// The paragraphs of a page. Of code only the place remains.
pub(super) fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let (mut code, mut open) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if code || fence || line.trim().is_empty() {
            open = false;
            continue;
        }
        match paragraphs.last_mut().filter(|_| open) {
            Some(paragraph) => {
                paragraph.text.push('\n');
                paragraph.text.push_str(line);
            }
            None => paragraphs.push(Paragraph { line: number + 1, text: line.to_owned() }),
        }
        open = true;
    }
    paragraphs
}

impl Paragraph {
    pub(super) fn has_source(&self) -> bool {
        self.text.contains("<!-- source: ")
    }

    /// Whether it is a question of a knowledge check, which sets its own numbers: `**3. A kernel of 128 threads ...**`
    pub(super) fn is_question(&self) -> bool {
        let number = self.text.strip_prefix("**").and_then(|text| text.split_once(". "));
        number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    }

    /// All its numbers, with units or without.
    pub(super) fn numbers(&self) -> Vec<f64> {
        numbers(&self.text)
    }

    /// Where its links lead.
    pub(super) fn links(&self) -> Vec<&str> {
        self.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
    }

    /// Its numbers with units, without those of sentences that show a calculation.
    pub(super) fn quantities(&self) -> Vec<Quantity> {
        self.read(false, quantities)
    }

    /// What its calculations use.
    pub(super) fn operands(&self) -> Vec<Quantity> {
        self.read(true, operands)
    }

    /// What its calculations come to.
    pub(super) fn results(&self) -> Vec<f64> {
        results(&self.text)
    }

    /// What is found in the sentences that calculate, or in the others.
    fn read(&self, calculate: bool, find: fn(&str) -> Vec<Quantity>) -> Vec<Quantity> {
        let sentences = self.sentences().into_iter().filter(|sentence| sentence.contains('=') == calculate);
        sentences.flat_map(|sentence| find(&sentence)).collect()
    }

    /// Without code and what is taken in.
    fn sentences(&self) -> Vec<String> {
        let plain = without(&without(&self.text, "{{#", "}}"), "`", "`");
        // What begins an item of a list takes nothing away.
        let plain = plain.replace("\n- ", "\n");
        // A row of a table is a sentence, too.
        let rows = plain.split('\n').filter(|_| plain.starts_with('|')).map(str::to_owned).collect::<Vec<_>>();
        if rows.is_empty() { split(&plain.replace('\n', " ")) } else { rows }
    }
}

/// Digits from which on a number was read off an output, and not chosen, if it is not round.
const READ_OFF: usize = 4;

/// What stands between two numbers of which the first is divided by the other, or the other subtracted.
const OPERATORS: [&str; 3] = [" / ", " - ", " − "];

/// What else a number is calculated with.
const OTHERS: [&str; 3] = [" · ", " + ", " x "];

/// Numbers that a calculation divides, divides by or subtracts, and that were read off an output: when that is made
/// anew, they are old.
fn operands(text: &str) -> Vec<Quantity> {
    let found = written_numbers(text).into_iter().filter_map(|(at, written)| {
        let significant = written.trim_start_matches(['0', '.']).chars().filter(char::is_ascii_digit).count();
        let (before, after) = (text[..at].trim_end_matches('('), &text[at + written.len()..]);
        let divides = OPERATORS.iter().any(|operator| before.ends_with(operator) || after.starts_with(operator));
        // A size that was chosen is such a number most often.
        let round = |number: u64| number.is_multiple_of(8) || number.is_multiple_of(50);
        let chosen = value(written).is_some_and(round);
        (significant >= READ_OFF && !chosen && divides).then(|| Quantity::new(text, written, ""))?
    });
    found.collect()
}

/// What calculations come to: another one may go on with it.
fn results(text: &str) -> Vec<f64> {
    let of = |rest: &str| {
        let (at, written) = *written_numbers(rest).first()?;
        let after = &rest[at + written.len()..];
        let goes_on = OPERATORS.iter().chain(&OTHERS).any(|operator| after.starts_with(operator));
        let is_result = rest[..at].trim().is_empty() && !goes_on;
        is_result.then(|| value(written))?
    };
    text.split('=').skip(1).filter_map(of).collect()
}

/// The sentences of a text.
fn split(text: &str) -> Vec<String> {
    text.split_inclusive(". ").map(str::to_owned).collect()
}

fn quantities(text: &str) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (at, written) in written_numbers(text) {
        let after = &text[at + written.len()..];
        let unit = after.trim_start_matches([' ', '\u{a0}']);
        if after.len() - unit.len() > 2 {
            continue;
        }
        let Some(name) = UNITS.iter().filter(|name| is_word(unit, name)).max_by_key(|name| name.len()) else {
            continue;
        };
        // `64 x 4096` is a shape.
        if *name == "x" && after.starts_with(' ') {
            continue;
        }
        found.extend(Quantity::new(text, written, name));
    }
    found
}

/// Whether the text begins with the word, and not with a longer one.
fn is_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| {
        // A sign is a word by itself.
        word == "%" || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '_')
    })
}

/// Numbers as they are written, and where.
fn written_numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|offset| at + offset) {
        let rest = &text[start..];
        let length = rest.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).unwrap_or(rest.len());
        let written = rest[..length].trim_end_matches([',', '.']);
        at = start + length;
        // A part of a name, such as H200, or of an exponent is no number.
        let before = text[..start].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '^' | '/')) {
            found.push((start, written));
        }
    }
    found
}

/// All numbers of a text, with or without units.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    written_numbers(text).iter().filter_map(|(_, written)| value(written)).collect()
}

/// What a number is that may have commas between its thousands.
fn value<T: FromStr>(written: &str) -> Option<T> {
    written.replace(',', "").parse().ok()
}

/// Files that a page takes in.
pub(super) fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{#include ").skip(1).filter_map(|rest| rest.split([':', '}']).next())
}

/// What a reader sees of a picture or formula: coordinates are no evidence.
pub(super) fn visible(text: &str) -> String {
    if text.starts_with("<svg") || text.starts_with("<math") { without(text, "<", ">") } else { text.to_owned() }
}

/// The text without what stands between these, and without these.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(open) {
        out.push_str(before);
        // Something stays between what was apart.
        out.push('…');
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    out + rest
}
