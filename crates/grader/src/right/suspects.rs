//! What in the source may be why values are wrong: told beside them, as what may be the reason and need not be.
//!
//! Each is a fact: a warning of the compiler's, a division of integers that a float is made of, a float that an integer
//! keeps, a buffer or a float that the kernel is passed and never uses. Whether it is the reason is for the reader to
//! see.

mod types;

use std::ops::Range;

use fusion_course::Source;
use fusion_cpp::Kind;
use fusion_diagnostic::Diagnostic;
use fusion_machine::report::{Severity, SourcePosition};

use crate::cause::signature;
use crate::explain;
use crate::judgement::{Code as Finding, EMPTY, Failure, IDLE, SUSPECT};
use types::{Type, Words};

/// The number of NVRTC's warning that a variable is used before its value is set.
const UNSET: u32 = 549;

/// How many are told.
const MOST: usize = 2;

/// Something in the source, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Suspect {
    /// The compiler warns.
    Warning { number: Option<u32>, message: String },
    /// Two literals, of which the quotient is no whole number.
    Literals { division: String, gives: u64, float: String },
    /// A literal over something: 0 for all that is larger.
    Small { division: String, over: u64, by: String },
    /// Another division of integers.
    Division { division: String, first: String, rest: String },
    /// A variable of integers that a float is stored to.
    Kept { name: String },
    /// A parameter that its kernel never uses.
    Unused { kernel: String, name: String },
}

/// A failure of values with what in the source may be its reason.
pub(super) fn look(mut failure: Failure, source: &Source, warnings: &[fusion_device::Diagnostic]) -> Failure {
    let mut found: Vec<Found> = warned(warnings).collect();
    let does_nothing = failure.notes.iter().any(|note| note == EMPTY || note == IDLE || note == super::SILENT);
    if failure.code == Finding::Values && !does_nothing {
        found.extend(read(source));
    }
    found.sort_by_key(|found| found.suspect.rank());
    failure.also.extend(found.into_iter().take(MOST).map(Found::say));
    failure
}

/// A suspect at its place.
struct Found {
    suspect: Suspect,
    /// The file, the line and the column, where the compiler tells one.
    place: Option<(String, u32, u32)>,
}

fn warned(messages: &[fusion_device::Diagnostic]) -> impl Iterator<Item = Found> {
    let warnings = messages.iter().filter(|message| message.severity == fusion_device::Severity::Warning);
    warnings.map(|warning| Found {
        suspect: Suspect::Warning { number: warning.number, message: warning.message.clone() },
        place: warning.place.as_ref().map(|at| (at.file.clone(), at.line, at.column.unwrap_or(0))),
    })
}

/// What the text itself has.
fn read(source: &Source) -> Vec<Found> {
    let words = Words::new(&source.text);
    let divisions = (0..words.tokens.len()).filter_map(|at| division(&words, at));
    let kept = (0..words.tokens.len()).filter_map(|at| kept(&words, at));
    let unused = (0..words.tokens.len()).filter_map(|at| unused(&words, &source.text, at));
    let found = divisions.chain(kept).chain(unused);
    found
        .map(|(suspect, at)| {
            let (line, column) = words.place(at);
            Found { suspect, place: Some((source.path.clone(), line, column)) }
        })
        .collect()
}

/// A division of integers that a float is made of.
fn division(words: &Words<'_>, slash: usize) -> Option<(Suspect, usize)> {
    let [left, right] = words.integers(slash)?;
    let whole = left.start..right.end;
    words.becomes_float(&whole).then_some(())?;
    let (division, first, by) = (words.source(&whole), words.source(&left), words.source(&right));
    let suspect = match (literal(words, &left), literal(words, &right)) {
        (Some(over), Some(by)) => {
            let gives = over.checked_div(by).filter(|_| over % by != 0)?;
            Suspect::Literals { division, gives, float: format!("{over}.0f / {by}") }
        }
        (Some(over), None) => Suspect::Small { division, over, by },
        // `(n + 255) / 256` and `(n + size - 1) / size` round up, and are meant to be whole.
        _ if first.starts_with('(') && first.contains('+') => return None,
        _ => Suspect::Division { division, first, rest: by },
    };
    Some((suspect, whole.start))
}

/// The value of a literal that stands alone.
fn literal(words: &Words<'_>, tokens: &Range<usize>) -> Option<u64> {
    let only = words.tokens.get(tokens.start).filter(|token| tokens.len() == 1 && token.kind == Kind::Number);
    only.and_then(|_| words.word(tokens.start).trim_end_matches(['u', 'U', 'l', 'L']).parse().ok())
}

/// A variable of integers to which a float is stored without a cast.
fn kept(words: &Words<'_>, sign: usize) -> Option<(Suspect, usize)> {
    let name = sign.checked_sub(1).filter(|_| matches!(words.word(sign), "=" | "+=" | "-=" | "*=" | "/="))?;
    let before = name.checked_sub(1).map_or("", |before| words.word(before));
    let alone = words.named(words.word(name)) == Type::Integer && !matches!(before, "." | "*");
    let stored = sign + 1..words.border(sign + 1);
    let float = alone && words.of(stored) == Type::Float;
    float.then(|| (Suspect::Kept { name: words.word(name).to_owned() }, name))
}

/// The first parameter of the kernel that is declared here which it never uses. Sizes are left out: where a block has a
/// row, the kernel need not know how many there are.
fn unused(words: &Words<'_>, text: &str, global: usize) -> Option<(Suspect, usize)> {
    let open = (global..words.tokens.len()).find(|&at| words.word(global) == "__global__" && words.word(at) == "{")?;
    let list = (global..open)
        .rev()
        .find_map(|at| Some(at).filter(|&at| words.word(at) == ")"))
        .and_then(|close| (global..close).find(|&at| words.word(at) == "(" && words.close(at) == Some(close)))?;
    let (kernel, end) = (words.word(list.checked_sub(1)?), words.close(open)?);
    let parameters = signature::parameters(text, kernel)?;
    let uses = |name: &str| (open..end).any(|at| words.word(at) == name);
    let is_value = |parameter: &signature::Declared| parameter.pointers > 0 || parameter.plain() == "float";
    let name = parameters.into_iter().find(|parameter| is_value(parameter) && !uses(&parameter.name))?.name;
    let at = (list..open).find(|&at| words.word(at) == name)?;
    Some((Suspect::Unused { kernel: kernel.to_owned(), name }, at))
}

impl Suspect {
    /// What is most likely the reason comes first.
    fn rank(&self) -> u8 {
        match self {
            Suspect::Warning { number: Some(UNSET), .. } => 0,
            Suspect::Literals { .. } | Suspect::Small { .. } => 1,
            Suspect::Kept { .. } | Suspect::Division { .. } => 2,
            Suspect::Warning { .. } => 3,
            Suspect::Unused { .. } => 4,
        }
    }
}

// Every sentence on a suspect.
impl Found {
    fn say(self) -> Diagnostic {
        let (title, label, help) = match self.suspect {
            Suspect::Warning { message, .. } => {
                (format!("the compiler warns: {message}"), String::new(), explain::warning(&message))
            }
            Suspect::Literals { division, gives, float } => (
                format!("`{division}` is {gives}: both numbers are integers, and what is behind the point is dropped"),
                format!("this is {gives}"),
                Some(format!("write `{float}`: one float makes it a division of floats")),
            ),
            Suspect::Small { division, over, by } => (
                format!("`{division}` divides two integers, and is 0 for every `{by}` above {over}"),
                "an integer".to_owned(),
                Some(format!("write `{over}.0f / {by}`: one float makes it a division of floats")),
            ),
            Suspect::Division { division, first, rest } => (
                format!(
                    "`{division}` divides two integers: what is behind the point is dropped before a float is made of it"
                ),
                "an integer".to_owned(),
                Some(format!(
                    "if a fraction is meant, convert one of the two, as in `(float){first} / {rest}`; if not, look elsewhere"
                )),
            ),
            Suspect::Kept { name } => (
                format!("`{name}` holds integers, and a float is stored to it: what is behind the point is dropped"),
                "a float is stored here".to_owned(),
                Some(format!("declare `{name}` as a `float`, if it is to keep what is behind the point")),
            ),
            Suspect::Unused { kernel, name } => (
                format!("`{kernel}` never uses its parameter `{name}`"),
                String::new(),
                Some(format!("does the result depend on `{name}`? If it does, compute with it")),
            ),
        };
        let source = self.place.map(|(file, line, column)| SourcePosition { file, line, column, function: None });
        Diagnostic {
            severity: Severity::Warning,
            label,
            help: help.into_iter().collect(),
            source: source.into_iter().collect(),
            ..Diagnostic::new(SUSPECT, title)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &str = "const float* x, const int* counts, float* out, unsigned columns, size_t n";

    /// What is found in a kernel with this body: the line and the first words of the title.
    #[track_caller]
    fn check(body: &str, expected: &[&str]) {
        let text = format!("extern \"C\" __global__ void k({PARAMETERS}) {{\nx, counts, out, columns, n;\n{body}\n}}");
        let found = read(&Source { path: "k.cu".to_owned(), text });
        let titles: Vec<String> = found.into_iter().map(|found| found.say().title).collect();
        assert_eq!(titles.len(), expected.len(), "{body}: {titles:?}");
        for (title, start) in titles.iter().zip(expected) {
            assert!(title.starts_with(start), "{body}: {title}");
        }
    }

    #[test]
    fn divisions_of_integers_that_a_float_is_made_of() {
        for (body, expected) in [
            ("out[0] = 1 / 2 * x[0];", &["`1 / 2` is 0"][..]),
            ("out[0] = x[0] * (3 / 2);", &["`3 / 2` is 1"]),
            ("out[0] = powf(x[0], 1 / 3);", &["`1 / 3` is 0"]),
            ("float mean = x[0] * (1 / n);", &["`1 / n` divides two integers, and is 0 for every `n` above 1"]),
            ("out[0] = sqrtf(1 / columns);", &["`1 / columns` divides"]),
            ("int i = 3; float y = i / columns * 1.0f;", &["`i / columns` divides two integers"]),
            ("float y = counts[0] / n;", &["`counts[0] / n` divides"]),
            ("float y = (float)(counts[0] / n);", &["`counts[0] / n` divides"]),
            ("out[0] = x[0] + threadIdx.x / 32;", &["`threadIdx.x / 32` divides"]),
            // Floats.
            ("out[0] = 1.0f / 2 * x[0];", &[]),
            ("out[0] = x[0] * 1 / 2;", &[]),
            ("out[0] = (x[0] + 1) / 2;", &[]),
            ("float y = (float)counts[0] / n;", &[]),
            ("float y = 1 / sqrtf(x[0]);", &[]),
            ("out[0] = 4 / 2 * x[0];", &[]),
            // Addresses, indices and counts.
            ("float blocks = (n + columns - 1) / columns;", &[]),
            ("out += n / 4 * columns; out[0] = x[0];", &[]),
            ("const float* row = x + n / 2; out[0] = row[0];", &[]),
            ("out[threadIdx.x / 32] = x[n / 2];", &[]),
            ("for (unsigned half = columns / 2; half > 0; half /= 2) out[half] = x[half];", &[]),
            ("if (n / 4 > columns) out[0] = x[0];", &[]),
            ("size_t i = n / 2; out[i] = x[i];", &[]),
        ] {
            check(body, expected);
        }
    }

    #[test]
    fn floats_that_integers_keep() {
        check("int sum = x[0] + x[1];", &["`sum` holds integers"]);
        check("int sum = 0; for (int i = 0; i < n; i++) { sum += x[i]; }", &["`sum` holds integers"]);
        check("int sum = (int)x[0];", &[]);
        check("int sum = __float2int_rn(x[0] * 2.0f);", &[]);
        check("int i = threadIdx.x; float sum = x[i];", &[]);
    }

    #[test]
    fn parameters_that_no_line_uses() {
        let of = |text: &str| read(&Source { path: "k.cu".to_owned(), text: text.to_owned() });
        let found = of("extern \"C\" __global__ void k(const float* x, float b, float* out) {\n    out[0] = x[0];\n}");
        let told: Vec<_> = found.into_iter().map(|found| (found.place.clone().unwrap().1, found.say().title)).collect();
        assert_eq!(told, [(1, "`k` never uses its parameter `b`".to_owned())]);
        assert!(of("__device__ float f(float a, float b) { return a; }").is_empty());
        assert!(of("__global__ void k(float* out, size_t rows) { out[blockIdx.x] = 1; }").is_empty());
    }

    #[test]
    fn what_is_most_likely_comes_first() {
        let warning = |number: u32, message: &str| fusion_device::Diagnostic {
            severity: fusion_device::Severity::Warning,
            place: None,
            number: Some(number),
            message: message.to_owned(),
            notes: Vec::new(),
        };
        let warnings = [warning(177, "variable \"a\" was declared but never referenced")];
        let text = "__global__ void k(float* x, float s) { x[0] = 1 / 2 * x[0]; }".to_owned();
        let source = Source { path: "k.cu".to_owned(), text };
        let codes = |failure: Failure| failure.also.into_iter().map(|told| told.title).collect::<Vec<_>>();
        let told = codes(look(Failure::new(Finding::Values, ""), &source, &warnings));
        assert!(told.len() == 2 && told[0].starts_with("`1 / 2` is 0") && told[1].contains("warns"), "{told:?}");
        let unset = [warning(549, "variable \"a\" is used before its value is set")];
        let told = codes(look(Failure::new(Finding::Values, ""), &source, &unset));
        assert!(told.len() == 2 && told[0].contains("warns"), "{told:?}");
        // What is not written is no matter of numbers.
        let told = codes(look(Failure::new(Finding::Unwritten, ""), &source, &warnings));
        assert!(told.len() == 1 && told[0].contains("warns"), "{told:?}");
        assert!(look(Failure::new(Finding::Values, "").note(EMPTY), &source, &[]).also.is_empty());
    }
}
