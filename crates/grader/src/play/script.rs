//! What the comments of a playground's file say: buffers, numbers and launches.
//!
//! ```text
//! // play: n = 1000
//! // play: x = f32[n] ramp
//! // play: y = f32[n], print 8
//! // play: scale<<<(n + 255) / 256, 256>>>(x, y, 3.0, n)
//! ```

use fusion_diagnostic::{Diagnostic, counted};
use fusion_machine::report::SourcePosition;

use super::element::{Element, Number};
use super::expression::{self, Names};

/// What is to be launched, and on what.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Script {
    pub(super) buffers: Vec<Buffer>,
    /// In the order in which they are written.
    pub(super) launches: Vec<Launch>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) element: Element,
    pub(super) count: usize,
    pub(super) fill: Fill,
    /// How many of its elements are shown behind the last launch.
    pub(super) print: Option<usize>,
    pub(super) at: SourcePosition,
}

/// What stands in a buffer before the first launch.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fill {
    /// Nothing was ever written there, as behind `cudaMalloc`.
    Nothing,
    /// 0, 1, 2, ...
    Ramp,
    /// From -1 to 1, or from 0 to 99 of whole numbers.
    Random,
    All(Number),
    Each(Vec<Number>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Launch {
    pub(super) kernel: String,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub(super) shared: u32,
    pub(super) arguments: Vec<Argument>,
    pub(super) at: SourcePosition,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Argument {
    pub(super) value: Value,
    pub(super) text: String,
    pub(super) at: SourcePosition,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// By its place in the script.
    Buffer(usize),
    Number(Number),
}

/// The code of all mistakes in a description.
const CODE: &str = "play";

/// What opens a line of the description.
const WORD: &str = "play:";

/// The forms, as a help shows them.
const BUFFER: &str = "a buffer is `x = f32[1000] ramp`, or `y = f32[1000], print 8`";
const FILLS: &str = "`ramp` (0, 1, 2, ...), `random`, `zero`, one number for all elements, or a number for each; without any of \
                     these nothing is written, as behind `cudaMalloc`";
const LAUNCH: &str = "a launch is `kernel<<<blocks, threads>>>(x, y, 1000)`, as in CUDA C++";

/// A mistake at a place of the description: what was read, and what would be right.
pub(super) fn mistake(at: &SourcePosition, title: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(CODE, title);
    diagnostic.help.push(help.into());
    diagnostic.source.push(at.clone());
    diagnostic
}

/// Reads all lines, and returns every mistake in them.
pub(super) fn parse(file: &str, text: &str) -> Result<Script, Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut mistakes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((word, rest)) = comment(line) else { continue };
        let line = Line { file, number: index as u32 + 1, text: line };
        match word {
            WORD => mistakes.extend(reader.line(&line, rest).err().map(|mistake| *mistake)),
            _ if is_like(word, rest) => {
                mistakes.push(*line.mistake(
                    word,
                    format!("`{word}` begins no line of the description"),
                    "write `// play: ...`",
                ));
            }
            _ => {}
        }
    }
    if mistakes.is_empty() { Ok(reader.script) } else { Err(mistakes) }
}

/// The first word of a line that is a comment, and what follows it up to a comment in it.
fn comment(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start().strip_prefix("//")?.trim_start_matches('/').trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(text.len());
    let end = if text[end..].starts_with(':') { end + 1 } else { end };
    let rest = text[end..].split("//").next().unwrap_or_default();
    Some((&text[..end], rest.trim()))
}

/// Whether a word was probably meant for [`WORD`]. Other words may well stand at the beginning of a comment, and what follows them is then
/// no part of a description.
fn is_like(word: &str, rest: &str) -> bool {
    let Some(name) = word.to_lowercase().strip_suffix(':').map(str::to_owned) else { return false };
    let describes = rest.contains('=') || rest.contains("<<<");
    name == "play" || name.len() >= 3 && describes && strsim::damerau_levenshtein(&name, "play") == 1
}

/// A line of the file.
#[derive(Clone, Copy)]
struct Line<'a> {
    file: &'a str,
    number: u32,
    text: &'a str,
}

impl Line<'_> {
    /// Where a part of it is. A part is a slice of the line.
    fn at(&self, part: &str) -> SourcePosition {
        let before = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let column = self.text.get(..before).map_or(0, |before| before.chars().count() as u32 + 1);
        SourcePosition { file: self.file.to_owned(), line: self.number, column, function: None }
    }

    fn mistake(&self, part: &str, title: impl Into<String>, help: impl Into<String>) -> Box<Diagnostic> {
        Box::new(mistake(&self.at(part), title, help))
    }
}

#[derive(Default)]
struct Reader {
    script: Script,
    wholes: Names,
    reals: Vec<(String, f64)>,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, text: &str) -> Result<(), Box<Diagnostic>> {
        if text.contains("<<<") {
            return self.launch(line, text);
        }
        let Some((name, value)) = text.split_once('=') else {
            let title = match text {
                "" => "there is nothing behind `play:`".to_owned(),
                _ => format!("`{text}` is no buffer, no number and no launch"),
            };
            return Err(line.mistake(text, title, format!("{BUFFER}; a number is `n = 1000`; {LAUNCH}")));
        };
        let (name, value) = (name.trim(), value.trim());
        if !is_name(name) {
            let title = format!("`{name}` is no name");
            return Err(line.mistake(name, title, "a name has letters, digits and `_`, and begins with no digit"));
        }
        if self.is_taken(name) {
            return Err(line.mistake(
                name,
                format!("`{name}` is there already"),
                "give each buffer and each number its own name",
            ));
        }
        match value.split_once('[') {
            Some((element, rest)) => self.buffer(line, name, element.trim(), rest),
            None => self.number(line, name, value),
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let buffers = self.script.buffers.iter().map(|buffer| buffer.name.as_str());
        buffers.chain(self.wholes.keys().map(String::as_str)).chain(self.reals.iter().map(|(name, _)| name.as_str()))
    }

    fn number(&mut self, line: &Line<'_>, name: &str, text: &str) -> Result<(), Box<Diagnostic>> {
        match self.value(text) {
            Ok(Number::Whole(whole)) => drop(self.wholes.insert(name.to_owned(), whole)),
            Ok(Number::Real(real)) => self.reals.push((name.to_owned(), real)),
            Err(why) => {
                let word = text.split_whitespace().next().unwrap_or_default();
                // `x = f32 1000`, and `x = ramp`.
                let help = match Element::named(word).is_some() || fill_of_word(word).is_some() {
                    true => BUFFER.to_owned(),
                    false => format!("a number is `{name} = 1000`, `{name} = 0.5` or `{name} = 4 * 256`; {BUFFER}"),
                };
                return Err(line.mistake(text, format!("`{text}` is neither a number nor a buffer: {why}"), help));
            }
        }
        Ok(())
    }

    /// A number, or what a text comes to.
    fn value(&self, text: &str) -> Result<Number, String> {
        if let Some((_, real)) = self.reals.iter().find(|(name, _)| name == text) {
            return Ok(Number::Real(*real));
        }
        expression::whole(text, &self.wholes).map(Number::Whole).or_else(|why| real(text).map(Number::Real).ok_or(why))
    }

    fn buffer(&mut self, line: &Line<'_>, name: &str, type_: &str, rest: &str) -> Result<(), Box<Diagnostic>> {
        let Some(element) = Element::named(type_) else {
            let names = Element::NAMES.iter().map(|names| format!("`{}`", names[0])).collect::<Vec<_>>().join(", ");
            let near = nearest(type_, Element::NAMES.iter().copied().flatten().copied());
            let meant = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            return Err(line.mistake(
                type_,
                format!("no type is called `{type_}`"),
                format!("{meant}Types are {names}"),
            ));
        };
        let Some((count, rest)) = rest.split_once(']') else {
            return Err(line.mistake(rest, "a `]` is missing behind the number of elements", BUFFER));
        };
        let whole = expression::whole(count, &self.wholes);
        let counted = whole.and_then(|whole| match usize::try_from(whole) {
            Ok(0) | Err(_) => Err(format!("it comes to {whole}, and a buffer has at least 1")),
            Ok(count) => Ok(count),
        });
        let count = counted.map_err(|why| {
            line.mistake(
                count,
                format!("`{}` is no number of elements: {why}", count.trim()),
                "write `f32[1000]`, or `f32[n]` below `n = 1000`",
            )
        })?;
        let (fill, print) = rest.split_once(',').map_or((rest, None), |(fill, print)| (fill, Some(print)));
        let fill = self.fill(line, fill.trim(), count)?;
        let print = print.map(|print| self.print(line, print.trim(), count)).transpose()?;
        let buffer = Buffer { name: name.to_owned(), element, count, fill, print, at: line.at(name) };
        self.script.buffers.push(buffer);
        Ok(())
    }

    fn fill(&self, line: &Line<'_>, text: &str, count: usize) -> Result<Fill, Box<Diagnostic>> {
        if let Some(fill) = fill_of_word(text) {
            return Ok(fill);
        }
        let plain = text.trim_start_matches('{').trim_end_matches('}');
        let words: Vec<&str> = plain.split_whitespace().collect();
        let mut numbers = Vec::with_capacity(words.len());
        for word in words {
            numbers.push(self.value(word).map_err(|_| {
                let near = nearest(word, FILL_WORDS.into_iter());
                let help = match near {
                    Some("print") => "write a comma before it: `f32[1000], print 8`".to_owned(),
                    Some(near) => format!("did you mean `{near}`? A buffer is filled with {FILLS}"),
                    None => format!("a buffer is filled with {FILLS}"),
                };
                line.mistake(word, format!("`{word}` fills no buffer"), help)
            })?);
        }
        match numbers[..] {
            [one] => Ok(Fill::All(one)),
            _ if numbers.len() == count => Ok(Fill::Each(numbers)),
            _ => {
                let title = format!(
                    "there are {} for {}",
                    counted(numbers.len() as u64, "number"),
                    counted(count as u64, "element")
                );
                Err(line.mistake(text, title, "write one number for all elements, or as many as there are elements"))
            }
        }
    }

    fn print(&self, line: &Line<'_>, text: &str, count: usize) -> Result<usize, Box<Diagnostic>> {
        let how_many = text.strip_prefix("print").map(str::trim);
        let elements = match how_many {
            Some("" | "all") => Some(count),
            Some(text) => expression::whole(text, &self.wholes).ok().and_then(|many| usize::try_from(many).ok()),
            None => None,
        };
        let help = "behind the comma stands `print 8`, which shows the first 8 elements, or `print all`";
        let wrong = || line.mistake(text, format!("`{text}` does not say what to print"), help);
        elements.map(|elements| elements.min(count)).ok_or_else(wrong)
    }

    fn launch(&mut self, line: &Line<'_>, text: &str) -> Result<(), Box<Diagnostic>> {
        let wrong = |part: &str, title: String| line.mistake(part, title, LAUNCH);
        let (kernel, rest) = text.split_once("<<<").unwrap_or((text, ""));
        let kernel = kernel.trim();
        if !is_kernel(kernel) {
            return Err(wrong(kernel, format!("`{kernel}` is no name of a kernel")));
        }
        let Some((shape, rest)) = rest.split_once(">>>") else {
            return Err(wrong(rest, "`>>>` is missing behind blocks and threads".to_owned()));
        };
        let list = rest.trim().trim_end_matches(';').trim_end();
        let Some(list) = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')) else {
            return Err(wrong(rest, "the arguments are missing, in parentheses behind `>>>`".to_owned()));
        };
        let shape = split(shape);
        let (grid, block, shared) = match shape[..] {
            [grid, block] => (grid, block, None),
            [grid, block, shared] => (grid, block, Some(shared)),
            _ => {
                let title =
                    format!("there should be two or three numbers between `<<<` and `>>>`, not {}", shape.len());
                return Err(wrong(
                    rest,
                    format!("{title}: blocks, threads per block, and bytes of shared memory if the kernel needs them"),
                ));
            }
        };
        let [grid, block] = [grid, block].map(|text| self.dimensions(line, text));
        let shared = shared.map_or(Ok(0), |text| self.size(line, text))?;
        let arguments = split(list).into_iter().map(|text| self.argument(line, text)).collect::<Result<_, _>>()?;
        let at = line.at(kernel);
        let launch = Launch { kernel: kernel.to_owned(), grid: grid?, block: block?, shared, arguments, at };
        self.script.launches.push(launch);
        Ok(())
    }

    /// `4`, `(2, 3)` or `dim3(2, 3)`.
    fn dimensions(&self, line: &Line<'_>, text: &str) -> Result<[u32; 3], Box<Diagnostic>> {
        let plain = text.strip_prefix("dim3").unwrap_or(text).trim();
        let inner = plain.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
        let axes = inner.map(split).filter(|axes| axes.len() > 1 || plain != text);
        let mut dimensions = [1; 3];
        let axes = axes.unwrap_or_else(|| vec![text]);
        if axes.len() > dimensions.len() {
            return Err(line.mistake(text, format!("`{text}` has more than x, y and z"), LAUNCH));
        }
        for (dimension, axis) in dimensions.iter_mut().zip(axes) {
            *dimension = self.size(line, axis)?;
        }
        Ok(dimensions)
    }

    fn size(&self, line: &Line<'_>, text: &str) -> Result<u32, Box<Diagnostic>> {
        let size = expression::whole(text, &self.wholes)
            .and_then(|size| u32::try_from(size).map_err(|_| format!("it comes to {size}")));
        size.map_err(|why| {
            line.mistake(text, format!("`{text}` is no number of blocks, threads or bytes: {why}"), LAUNCH)
        })
    }

    fn argument(&self, line: &Line<'_>, text: &str) -> Result<Argument, Box<Diagnostic>> {
        let buffer = self.script.buffers.iter().position(|buffer| buffer.name == text);
        let value = match buffer {
            Some(buffer) => Value::Buffer(buffer),
            None => Value::Number(self.value(text).map_err(|why| {
                let near = nearest(text, self.names());
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "an argument is a number, or what a line above it defines".to_owned(),
                };
                match is_name(text) {
                    true => line.mistake(text, format!("nothing is called `{text}`"), help),
                    false => line.mistake(text, format!("`{text}` cannot be passed: {why}"), help),
                }
            })?),
        };
        Ok(Argument { value, text: text.to_owned(), at: line.at(text) })
    }
}

/// What may stand behind a buffer's type.
const FILL_WORDS: [&str; 5] = ["ramp", "random", "zero", "uninit", "print"];

fn fill_of_word(word: &str) -> Option<Fill> {
    match word {
        "" | "uninit" => Some(Fill::Nothing),
        "ramp" => Some(Fill::Ramp),
        "random" => Some(Fill::Random),
        "zero" | "zeros" => Some(Fill::All(Number::Whole(0))),
        _ => None,
    }
}

/// `0.5`, `-1e-5f`, `inf`.
fn real(text: &str) -> Option<f64> {
    let is_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let word = matches!(text.trim_start_matches('-'), "inf" | "nan");
    let plain = if word { text } else { text.trim_end_matches(['f', 'F']) };
    plain.parse().ok().filter(|_| is_number || word)
}

/// The name that a text was probably meant for.
pub(super) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let near = |name: &&str| strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
    names.max_by(|one, other| near(one).total_cmp(&near(other))).filter(|name| near(name) >= 0.5)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// `scale`, `a::scale`, `scale<float, 4>`.
fn is_kernel(text: &str) -> bool {
    let (path, arguments) = text.split_once('<').map_or((text, None), |(path, rest)| (path, Some(rest)));
    let closed = arguments.is_none_or(|rest| rest.strip_suffix('>').is_some_and(|rest| !rest.trim().is_empty()));
    path.split("::").all(|part| is_name(part.trim())) && closed
}

/// Splits at commas that are in no parentheses; nothing where there is nothing.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !(parts.is_empty() && last.is_empty()) {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_numbers_and_launches() {
        let text = "// A comment: with a colon.\n// play: n = 1000  // elements\n//play: a = -1.5f\n/// play: x = float[n] ramp\n\
                    // play: y = f32[4] {1 2 3 4}, print 2\n// play: z = i32[n / 2] 7, print\n// play: w = u8[3], print 99\n\
                    // play: k<<<(n + 255) / 256, dim3(16, 2), 4 * n>>>(x, y, a, n, 0.5);\n__global__ void k() {}\n";
        let script = parse("a.cu", text).unwrap();
        let fills: Vec<_> = script.buffers.iter().map(|it| (it.count, it.fill.clone(), it.print)).collect();
        let numbers = [1, 2, 3, 4].map(Number::Whole).to_vec();
        assert_eq!(fills[0], (1000, Fill::Ramp, None));
        assert_eq!(fills[1], (4, Fill::Each(numbers), Some(2)));
        assert_eq!(fills[2], (500, Fill::All(Number::Whole(7)), Some(500)));
        assert_eq!(fills[3], (3, Fill::Nothing, Some(3)));
        let [launch] = &script.launches[..] else { panic!("{:?}", script.launches) };
        assert_eq!((launch.grid, launch.block, launch.shared), ([4, 1, 1], [16, 2, 1], 4000));
        let values: Vec<Value> = launch.arguments.iter().map(|argument| argument.value).collect();
        let [real, whole] = [Value::Number(Number::Real(-1.5)), Value::Number(Number::Whole(1000))];
        assert_eq!(values, [Value::Buffer(0), Value::Buffer(1), real, whole, Value::Number(Number::Real(0.5))]);
    }

    /// What a beginner types, where it is wrong, and what is said of it.
    #[test]
    fn what_is_mistyped_is_told_with_its_place() {
        let above = "// play: n = 8\n// play: x = f32[n]\n";
        for (line, column, title, help) in [
            ("// paly: x = 8", 4, "`paly:` begins no line", "// play:"),
            ("// Play: x", 4, "`Play:` begins no line", "// play:"),
            (
                "// play: grid 4, block 256",
                10,
                "`grid 4, block 256` is no buffer, no number and no launch",
                "a launch is `kernel<<<",
            ),
            ("// play:", 9, "nothing behind `play:`", "a number is `n = 1000`"),
            ("// play: y = f32 1000", 14, "neither a number nor a buffer", "a buffer is `x = f32[1000]"),
            (
                "// play: y = ten",
                14,
                "`ten` is neither a number nor a buffer: no whole number is called `ten`",
                "`y = 1000`",
            ),
            ("// play: y = flaot[8]", 14, "no type is called `flaot`", "did you mean `float`?"),
            ("// play: y = f32[8", 18, "a `]` is missing", "f32[1000]"),
            ("// play: y = f32[m]", 18, "no whole number is called `m`", "`f32[n]` below"),
            ("// play: y = f32[0]", 18, "it comes to 0", "f32[1000]"),
            ("// play: y = f32[8] rampp", 21, "`rampp` fills no buffer", "did you mean `ramp`?"),
            ("// play: y = f32[8] print 8", 21, "`print` fills no buffer", "write a comma before it"),
            ("// play: y = f32[8] 1 2 3", 21, "3 numbers for 8 elements", "one number for all"),
            ("// play: y = f32[8], show 8", 22, "`show 8` does not say what to print", "`print 8`"),
            ("// play: y = f32[8], print -1", 22, "does not say what to print", "`print 8`"),
            ("// play: x = f32[8]", 10, "`x` is there already", "its own name"),
            ("// play: 2x = 8", 10, "`2x` is no name", "no digit"),
            ("// play: k<<<4, 256>>>", 0, "the arguments are missing", "as in CUDA C++"),
            ("// play: k<<<4, 256(x)", 14, "`>>>` is missing", "as in CUDA C++"),
            ("// play: k<<<4>>>(x)", 0, "two or three numbers between `<<<` and `>>>`, not 1", "as in CUDA C++"),
            ("// play: k<<<4, -1>>>(x)", 17, "it comes to -1", "as in CUDA C++"),
            ("// play: k<<<4, 256>>>(x, y)", 27, "nothing is called `y`", "an argument is a number, or"),
            ("// play: k<<<4, 256>>>(x, nn)", 27, "nothing is called `nn`", "did you mean `n`?"),
            ("// play: k<<<(1, 2, 3, 4), 256>>>(x)", 14, "more than x, y and z", "as in CUDA C++"),
            ("// play: \u{fc}<<<1, 1>>>(x)", 10, "is no name of a kernel", "as in CUDA C++"),
        ] {
            let mistakes = parse("a.cu", &format!("{above}{line}\n")).unwrap_err();
            let [mistake] = &mistakes[..] else { panic!("{line}: {mistakes:?}") };
            let at = &mistake.source[0];
            assert!(mistake.title.contains(title) && mistake.help[0].contains(help), "{line}: {mistake:?}");
            assert_eq!((at.line, if column == 0 { 0 } else { at.column }), (3, column), "{line}: {mistake:?}");
        }
        // Words of a comment are no description.
        for line in ["// plan: next week", "// display: 8", "// Note: play", "// playing: x", "int x; // play: n = 8"] {
            assert!(parse("a.cu", line).is_ok_and(|script| script == Script::default()), "{line}");
        }
    }
}
