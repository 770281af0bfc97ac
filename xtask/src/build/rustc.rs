//! What rustc says, as failures of the exercise whose files it is about.
//!
//! A day is one program, in which a macro of the course names the files and the functions of all its exercises. Where one of them is
//! missing, rustc blames the macro. The learner is told of the file that lacks something.

use std::fs;
use std::path::{Path, PathBuf};

use fusion_course::Exercise;
use fusion_grader::judgement::{Code, Failure, Location, Side};
use serde::Deserialize;

/// The parts that we read of one of rustc's messages (*The rustc book*, JSON output).
#[derive(Deserialize)]
pub(super) struct Diagnostic {
    pub(super) level: String,
    message: String,
    code: Option<DiagnosticCode>,
    #[serde(default)]
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Child>,
    pub(super) rendered: Option<String>,
}

#[derive(Deserialize)]
struct DiagnosticCode {
    code: String,
}

#[derive(Deserialize)]
struct Child {
    message: String,
    #[serde(default)]
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
    label: Option<String>,
    #[serde(default)]
    text: Vec<SpanText>,
    /// The macro's call that this comes from.
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct SpanText {
    text: String,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// What rustc misses only at the end of the file, and its label where, by the indentation, the reason is.
const MISSED_LATE: [(&str, &str); 2] = [
    ("this file contains an unclosed delimiter", "this delimiter might not be properly closed"),
    ("unexpected closing delimiter", "...as it matches this"),
];

impl Diagnostic {
    pub(super) fn has_place(&self) -> bool {
        self.spans.iter().any(|span| span.is_primary)
    }

    /// Whether it only counts the errors before it, or says where to read more.
    pub(super) fn is_summary(&self) -> bool {
        self.level == "failure-note" || self.message.starts_with("aborting due to")
    }

    /// As rustc shows it, at its primary place.
    pub(super) fn failure(self) -> Failure {
        let location = self.primary().first().map(|span| span.location());
        self.failure_at(location)
    }

    fn failure_at(self, location: Option<Location>) -> Failure {
        let title = match self.code {
            Some(code) => format!("{} ({})", self.message, code.code),
            None => self.message,
        };
        Failure { location, rendered: self.rendered, ..Failure::new(Code::Compile, title) }
    }

    /// The places of its spans, of their macros' calls, and of what it adds: the most important first.
    fn places(&self) -> impl Iterator<Item = &Span> {
        let added = self.children.iter().flat_map(|child| &child.spans);
        self.primary()
            .into_iter()
            .chain(self.spans.iter().filter(|span| !span.is_primary))
            .chain(added)
            .flat_map(Span::chain)
    }

    /// Of several the one that rustc's arrow points to is the first: the reader is sent to one line only. Where a brace is missing
    /// or too many, the arrow points to the end of the file, and a label to the line that rustc takes for the reason.
    fn primary(&self) -> Vec<&Span> {
        let rendered = self.rendered.as_deref().unwrap_or_default();
        let arrow = rendered.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
        let mut primary: Vec<&Span> = self.spans.iter().filter(|span| span.is_primary).collect();
        let is_there =
            |span: &&Span| arrow == Some(&format!("{}:{}:{}", span.file_name, span.line_start, span.column_start));
        primary.sort_by_key(|span| !is_there(span));
        let reason = MISSED_LATE.iter().find(|(message, _)| self.message.starts_with(message)).map(|(_, label)| *label);
        let labelled =
            |span: &&Span| span.label.as_deref().zip(reason).is_some_and(|(label, reason)| label.starts_with(reason));
        self.spans.iter().find(labelled).into_iter().chain(primary).collect()
    }

    /// Whether it has a name in it, as a word.
    fn names(&self, name: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let texts = std::iter::once(&self.message).chain(self.children.iter().map(|child| &child.message));
        texts.into_iter().any(|text| text.split(|c| !is_word(c)).any(|word| word == name))
    }
}

impl Span {
    fn chain(&self) -> impl Iterator<Item = &Span> {
        std::iter::successors(Some(self), |span| span.expansion.as_ref().map(|expansion| &expansion.span))
    }

    fn location(&self) -> Location {
        Location {
            file: self.file_name.clone(),
            line: self.line_start,
            column: self.column_start,
            text: self.text.first().map(|text| text.text.clone()).unwrap_or_default(),
        }
    }
}

/// The error that a line of rustc's is, where it is one with a place; what rustc shows of it goes to the screen.
#[cfg(target_os = "linux")]
pub(crate) fn rustc_failure(line: &str, say: impl Fn(&str) -> String) -> Option<Failure> {
    let diagnostic: Diagnostic = serde_json::from_str(line).ok()?;
    if let Some(rendered) = &diagnostic.rendered {
        crate::output::note(&crate::plain::drawn(&say(rendered.trim_end())));
    }
    (diagnostic.level == "error" && diagnostic.has_place()).then(|| diagnostic.failure())
}

/// The files that answer a day's exercises.
pub(super) struct Answers {
    root: PathBuf,
    /// Relative to the root: `exercises/day22/src`.
    folder: String,
    exercises: &'static [&'static Exercise],
}

impl Answers {
    /// Those of a package, if it is one that answers a day.
    pub(super) fn of(root: &Path, package: &str) -> Option<Self> {
        let day = fusion_course::days().iter().find(|day| package.ends_with(&format!("-day{}", day.number)))?;
        let folder = format!("{}/src", package.replace('-', "/"));
        Some(Self { root: root.to_owned(), folder, exercises: day.exercises })
    }

    fn file(&self, name: &str, extension: &str) -> String {
        format!("{}/{name}.{extension}", self.folder)
    }

    /// The exercise whose `.rs` this is, or a module of it.
    fn owner(&self, file: &str) -> Option<&'static str> {
        let inside = file.strip_prefix(&self.folder)?.strip_prefix('/')?;
        let stem = inside.split('/').next()?.trim_end_matches(".rs");
        self.exercises.iter().map(|exercise| exercise.name).find(|name| *name == stem)
    }

    /// An error with the exercise that it is about, if it is about one.
    pub(super) fn explain(&self, diagnostic: Diagnostic) -> (Option<&'static str>, Failure) {
        let own = |span: &&Span| self.owner(&span.file_name).is_some();
        let mine = diagnostic.primary().into_iter().flat_map(Span::chain).find(own);
        if let Some(span) = mine {
            let (owner, location) = (self.owner(&span.file_name), span.location());
            return (owner, diagnostic.failure_at(Some(location)));
        }
        let owner = diagnostic.places().find_map(|span| self.owner(&span.file_name));
        let named = || self.exercises.iter().map(|exercise| exercise.name).find(|name| diagnostic.names(name));
        match owner.or_else(named) {
            Some(name) => (Some(name), self.missing(name, diagnostic)),
            None => (None, diagnostic.failure()),
        }
    }

    /// What the macro asks of an exercise's files and does not find.
    fn missing(&self, name: &str, diagnostic: Diagnostic) -> Failure {
        let launch = self.file(name, "rs");
        let on_the_launch = |title: String| Failure { side: Some(Side::Launch), ..Failure::new(Code::Compile, title) };
        let message = &diagnostic.message;
        match diagnostic.code.as_ref().map(|code| code.code.as_str()) {
            Some("E0583") => self.no_file(name, "rs", "launch function", Side::Launch),
            None if message.contains("utf-8 file") || message.contains("valid UTF-8") => {
                self.not_text(name, &diagnostic)
            }
            None if message.starts_with("couldn't read") => self.no_file(name, "cu", "kernel", Side::Kernel),
            Some("E0425") => {
                let others: Vec<Function> = self.functions(name).into_iter().filter(|found| found.public).collect();
                let mut failure = on_the_launch(format!("`{launch}` has no `pub fn {name}`"));
                if let [other] = &others[..] {
                    failure.location = Some(other.location(&launch));
                    failure = failure.note(format!("it has a `pub fn {}`: was it renamed?", other.name));
                }
                failure.note("the grader calls the launch function by the exercise's name")
            }
            Some("E0603") => self
                .at_the_function(name, on_the_launch(format!("`{name}` in `{launch}` is not `pub`")))
                .note(format!("write `pub fn {name}`: the grader calls it from outside of this file")),
            Some("E0308") => {
                let failure = on_the_launch(format!("`{name}` has another signature than the exercise gives it"));
                // Of many parameters rustc writes `..` for most types, which tells nobody anything.
                let is_whole = |child: &&Child| !child.message.contains("..");
                let told = diagnostic.children.iter().filter(|child| child.message.contains("found fn item"));
                let told = told.filter(is_whole);
                let failure =
                    told.fold(self.at_the_function(name, failure), |failure, child| failure.note(&*child.message));
                failure
                    .note("the parameters, their order and types, and what is returned must be those of the starter")
                    .note(format!("`git diff {launch}` shows what has changed in the file since it was last committed"))
            }
            _ => Failure { side: Some(Side::Launch), ..self.at_the_function(name, diagnostic.failure_at(None)) },
        }
    }

    fn no_file(&self, name: &str, extension: &str, what: &str, side: Side) -> Failure {
        let file = self.file(name, extension);
        let title = match self.root.join(&file).exists() {
            true => format!("`{file}` cannot be read"),
            false => format!("there is no file `{file}`"),
        };
        let mut failure = Failure::new(Code::Compile, title).note(format!("the {what} of `{name}` belongs there"));
        failure.side = Some(side);
        self.strangers(extension).into_iter().fold(failure, |failure, other| {
            failure.note(format!("there is a `{}/{other}`, which no exercise has: was it renamed?", self.folder))
        })
    }

    fn not_text(&self, name: &str, diagnostic: &Diagnostic) -> Failure {
        let file = self.file(name, "cu");
        let mut failure = Failure::new(Code::Compile, format!("`{file}` is not text in UTF-8"))
            .note("save it with the encoding UTF-8: most editors have it in the menu for saving, or at the bottom of the window");
        failure.side = Some(Side::Kernel);
        let here = diagnostic.places().find(|span| span.file_name.ends_with(".cu"));
        failure.location = here.map(|span| Location { file, ..span.location() });
        failure
    }

    fn at_the_function(&self, name: &str, failure: Failure) -> Failure {
        let function = self.functions(name).into_iter().find(|found| found.name == name);
        let location = function.map(|found| found.location(&self.file(name, "rs")));
        Failure { location, ..failure }
    }

    /// Files in the folder with an extension and a name that none of the exercises has.
    fn strangers(&self, extension: &str) -> Vec<String> {
        let known = |file: &str| self.exercises.iter().any(|exercise| file == format!("{}.{extension}", exercise.name));
        let entries = fs::read_dir(self.root.join(&self.folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_stranger = |file: &String| {
            file.ends_with(&format!(".{extension}")) && !known(file) && !["lib.rs", "main.rs"].contains(&file.as_str())
        };
        names.filter(is_stranger).collect()
    }

    /// The functions of an exercise's `.rs` that begin at the start of a line.
    fn functions(&self, name: &str) -> Vec<Function> {
        let text = fs::read_to_string(self.root.join(self.file(name, "rs"))).unwrap_or_default();
        text.lines().zip(1..).filter_map(|(line, number)| Function::read(line, number)).collect()
    }
}

/// The first line of a Rust function.
struct Function {
    name: String,
    public: bool,
    line: u32,
    text: String,
}

impl Function {
    fn read(line: &str, number: u32) -> Option<Self> {
        let bare = line.strip_prefix("pub ");
        let rest = bare.unwrap_or(line).trim_start_matches("unsafe ").strip_prefix("fn ")?;
        let name = rest.split(['(', '<', ' ']).next()?.to_owned();
        Some(Self { name, public: bare.is_some(), line: number, text: line.to_owned() })
    }

    fn location(&self, file: &str) -> Location {
        let column = self.text.find(&self.name).map_or(0, |at| at as u32 + 1);
        Location { file: file.to_owned(), line: self.line, column, text: self.text.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::Judgement;
    use fusion_grader::render;

    /// One of rustc's errors about what the macro in `lib.rs` asks for, with the files that the learner has. Where it is said to be.
    #[track_caller]
    fn check(files: &[(&str, &str)], error: (&str, &str), child: &str, expected: [&str; 2]) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("exercises/day22/src");
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        let code = if error.0.is_empty() { "null".to_owned() } else { format!(r#"{{"code":"{}"}}"#, error.0) };
        let place = r#"{"file_name":"crates/course/src/day.rs","line_start":46,"column_start":5,"is_primary":true,
            "expansion":{"span":{"file_name":"exercises/day22/src/lib.rs","line_start":8,"column_start":1,"is_primary":true}}}"#;
        let json = format!(
            r#"{{"level":"error","message":"{}","code":{code},"spans":[{place}],"children":[{{"message":"{child}"}}],"rendered":"R"}}"#,
            error.1
        );
        let diagnostic: Diagnostic = serde_json::from_str(&json).unwrap();
        let (exercise, failure) = Answers::of(root.path(), "exercises-day22").unwrap().explain(diagnostic);
        assert_eq!(exercise, Some("mul_add"));
        let judgement = Judgement { name: "mul_add".to_owned(), day: 22, ..Judgement::default() }.refused(failure);
        let next = render::next(&judgement);
        assert_eq!([judgement.failure().unwrap().title.as_str(), next.as_deref().unwrap_or_default()], expected);
    }

    #[test]
    fn what_the_macro_does_not_find_is_told_of_the_learners_file() {
        let unfound = ("E0425", "cannot find value `mul_add` in module `mul_add`");
        let (rs, cu) = ("exercises/day22/src/mul_add.rs", "exercises/day22/src/mul_add.cu");
        let title = format!("`{rs}` has no `pub fn mul_add`");
        check(&[("mul_add.rs", "use a;\n\npub fn launch(\n")], unfound, "", [&title, &format!("{rs}:3")]);
        check(&[("mul_add.rs", "pub fn a() {}\npub fn b() {}\n")], unfound, "", [&title, rs]);

        let private = ("E0603", "function `mul_add` is private");
        let title = format!("`mul_add` in `{rs}` is not `pub`");
        check(&[("mul_add.rs", "\nfn mul_add(\n")], private, "", [&title, &format!("{rs}:2")]);

        let missing = ("E0583", "file not found for module `mul_add`");
        check(&[], missing, "", [&format!("there is no file `{rs}`"), rs]);
        let missing = ("", "couldn't read `exercises/day22/src/mul_add.cu`: No such file or directory (os error 2)");
        check(&[("mul_add.rs", "")], missing, "", [&format!("there is no file `{cu}`"), cu]);
        check(&[], ("", "`mul_add.cu` wasn't a utf-8 file"), "", [&format!("`{cu}` is not text in UTF-8"), cu]);

        let found = "expected fn pointer `fn()`\\n      found fn item `fn(...) {mul_add}`";
        let title = "`mul_add` has another signature than the exercise gives it";
        check(&[("mul_add.rs", "pub fn mul_add(")], ("E0308", "mismatched types"), found, [title, &format!("{rs}:1")]);
    }

    #[test]
    fn the_place_is_the_one_that_rustc_points_to() {
        let span = |line| format!(r#"{{"file_name":"a.rs","line_start":{line},"column_start":1,"is_primary":true}}"#);
        let (first, second) = (span(27), span(20));
        let json = format!(
            r#"{{"level":"error","message":"no","spans":[{first},{second}],"rendered":"error: no\n  --> a.rs:20:1\n"}}"#
        );
        let diagnostic: Diagnostic = serde_json::from_str(&json).unwrap();
        assert_eq!(diagnostic.failure().location.map(|at| at.line), Some(20));
    }

    #[test]
    fn a_brace_too_few_or_too_many_is_where_the_indentation_tells() {
        let span = |line, label, primary| {
            format!(
                r#"{{"file_name":"a.rs","line_start":{line},"column_start":1,"is_primary":{primary},"label":{label}}}"#
            )
        };
        let opened = span(16, "\"this delimiter might not be properly closed...\"", false);
        let closed = span(19, "\"...as it matches this but it has different indentation\"", false);
        let end = span(31, "null", true);
        for (message, line) in [
            ("this file contains an unclosed delimiter", 16),
            ("unexpected closing delimiter: `}`", 19),
            ("mismatched closing delimiter: `}`", 31),
        ] {
            let json = format!(
                r#"{{"level":"error","message":"{message}","spans":[{end},{opened},{closed}],"rendered":"error: no\n  --> a.rs:31:1\n"}}"#
            );
            let diagnostic: Diagnostic = serde_json::from_str(&json).unwrap();
            assert_eq!(diagnostic.failure().location.map(|at| at.line), Some(line), "{message}");
        }
    }

    #[test]
    fn an_error_in_a_macro_of_others_is_where_the_learner_calls_it() {
        let json = r#"{"level":"error","message":"no","code":null,"rendered":"R","spans":[{"file_name":"/std/macros.rs",
            "line_start":9,"column_start":1,"is_primary":true,"expansion":{"span":{"file_name":"exercises/day22/src/add_gelu.rs",
            "line_start":4,"column_start":2,"is_primary":false}}}]}"#;
        let diagnostic: Diagnostic = serde_json::from_str(json).unwrap();
        let (exercise, failure) = Answers::of(Path::new(""), "exercises-day22").unwrap().explain(diagnostic);
        assert_eq!(exercise, Some("add_gelu"));
        assert_eq!((failure.location.map(|at| at.line), failure.rendered.as_deref()), (Some(4), Some("R")));
    }
}
