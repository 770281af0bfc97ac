//! Which kernel a launch names: by its name alone, with its namespaces, with the arguments of a template.

use fusion_cpp::tokens;
use fusion_diagnostic::Diagnostic;

use super::kernels::{Kernel, unsuited};
use super::script::{Launch, Script, mistake, nearest};
use crate::cause::signature::Declared;

/// A function's name as C++ makes it of a mangled one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// `a::scale`, its parts.
    path: Vec<String>,
    /// Of a template: `["float", "4"]`.
    arguments: Vec<String>,
}

impl Name {
    /// Of `void a::scale<float, 4>(float const*)`, or of what stands before `<<<`.
    pub(super) fn of(text: &str) -> Self {
        let (mut path, mut arguments) = (vec![String::new()], Vec::new());
        let (mut depth, mut argument) = (0_u32, String::new());
        for c in text.chars() {
            match c {
                '<' if depth == 0 => depth = 1,
                '>' if depth == 1 => (depth, arguments) = (0, parts(&std::mem::take(&mut argument))),
                _ if depth > 0 => {
                    depth = match c {
                        '<' => depth + 1,
                        '>' => depth - 1,
                        _ => depth,
                    };
                    argument.push(c);
                }
                // `(anonymous namespace)::k` begins with a parenthesis.
                '(' if path.last().is_some_and(|part| !part.is_empty()) => break,
                // What stands before is the type of what is returned.
                ' ' if !path.iter().any(|part| part.starts_with('(')) => path = vec![String::new()],
                ':' if path.last().is_some_and(String::is_empty) => {}
                ':' => {
                    path.push(String::new());
                    arguments.clear();
                }
                c => path.last_mut().into_iter().for_each(|part| part.push(c)),
            }
        }
        path.retain(|part| !part.is_empty());
        Self { path, arguments }
    }

    /// Its last part.
    pub(super) fn last(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// As one would write it.
    pub(super) fn text(&self) -> String {
        let path = self.path.join("::");
        if self.arguments.is_empty() { path } else { format!("{path}<{}>", self.arguments.join(", ")) }
    }

    /// Whether a shorter name may mean this one: namespaces may be missing, and arguments that the compiler finds or
    /// that a template has by default.
    fn is_meant_by(&self, shorter: &Self) -> bool {
        self.path.ends_with(&shorter.path) && self.arguments.starts_with(&shorter.arguments)
    }
}

/// The arguments of a template, each as simply as it can be written: `(unsigned int)256` and `256u` are 256, `true` is
/// 1.
fn parts(list: &str) -> Vec<String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(simple(&list[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(simple(&list[start..]));
    parts
}

fn simple(argument: &str) -> String {
    let argument = argument.trim();
    let value = match argument.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, value)) if !value.is_empty() => value.trim(),
        _ => argument,
    };
    match value {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        number if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            number.trim_end_matches(['u', 'U', 'l', 'L']).to_owned()
        }
        name => name.split_whitespace().collect::<Vec<_>>().join(" ").replace(" >", ">"),
    }
}

/// The types of a function's parameters, of its demangled name. They have no names there.
pub(super) fn types(plain: &str) -> Option<Vec<Declared>> {
    let from = plain.rfind(')').and_then(|end| Some((opening(&plain[..end])?, end)));
    let (start, end) = from?;
    let list = &plain[start + 1..end];
    if list.contains('(') {
        return None;
    }
    let one = |(index, text): (usize, String)| {
        let pointers = text.matches('*').count();
        let before = text.split(['*', '&']).next().unwrap_or_default();
        let mut words: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
        // `float const` is `const float` to most.
        if words.last().is_some_and(|word| word == "const") {
            words.rotate_right(1);
        }
        Declared { name: format!("p{index}"), words, pointers }
    };
    Some(if list.is_empty() { Vec::new() } else { parts(list).into_iter().enumerate().map(one).collect() })
}

/// The parenthesis to which the one behind a text belongs.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth == 0 => return Some(at),
            '(' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The kernel that a launch names. Where a name may mean several, as in C++ the arguments decide.
pub(super) fn find<'a>(
    script: &Script,
    kernels: &'a [Kernel],
    launch: &Launch,
    source: &str,
) -> Result<&'a Kernel, Box<Diagnostic>> {
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.entry == launch.kernel) {
        return Ok(kernel);
    }
    let name = Name::of(&launch.kernel);
    let meant: Vec<&Kernel> = kernels.iter().filter(|kernel| kernel.full.is_meant_by(&name)).collect();
    match meant[..] {
        [] => Err(Box::new(missing(kernels, launch, &name, source))),
        [kernel] => Ok(kernel),
        _ => {
            let suited = meant.iter().filter(|kernel| unsuited(script, launch, kernel).is_empty());
            match suited.collect::<Vec<_>>()[..] {
                [kernel] => Ok(kernel),
                _ => Err(Box::new(several(launch, &meant))),
            }
        }
    }
}

fn several(launch: &Launch, meant: &[&Kernel]) -> Diagnostic {
    let title = format!("`{}` may mean any of {} kernels", launch.kernel, meant.len());
    let distinct = meant.iter().all(|one| meant.iter().filter(|other| one.full == other.full).count() == 1);
    let list = |texts: Vec<String>| texts.into_iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    let help = match distinct {
        true => format!("write one of {}", list(meant.iter().map(|kernel| kernel.full.text()).collect())),
        false => format!(
            "give what one of them takes, or write one's name in the PTX: {}",
            list(meant.iter().map(|kernel| format!("{}` for `{}", kernel.entry, kernel.signature())).collect())
        ),
    };
    mistake(&launch.at, title, help)
}

fn missing(kernels: &[Kernel], launch: &Launch, name: &Name, source: &str) -> Diagnostic {
    if let Some(help) = instantiation(name, source) {
        let title = match kernels.iter().any(|kernel| kernel.name == name.last()) {
            true => format!("the template `{}` is not instantiated so", name.last()),
            false => format!("the template `{}` is not instantiated", name.last()),
        };
        return mistake(&launch.at, title, help);
    }
    let texts: Vec<String> = kernels.iter().map(|kernel| kernel.full.text()).collect();
    let near = nearest(&launch.kernel, texts.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let all: Vec<String> = texts.iter().map(|name| format!("`{name}`")).collect();
    let has = if all.is_empty() { "no kernel".to_owned() } else { all.join(", ") };
    mistake(
        &launch.at,
        format!("no kernel is called `{}`", launch.kernel),
        format!("{near}{} file has {has}", if near.is_empty() { "the" } else { "The" }),
    )
}

/// What makes a kernel of a template that the source has under this name.
fn instantiation(name: &Name, source: &str) -> Option<String> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text(source));
    let at = (1..tokens.len()).find(|&at| text(at) == name.last() && text(at + 1) == "(")?;
    let begins = (0..at).rev().find(|&at| matches!(text(at), "template" | ";" | "}"))?;
    let marked = (begins..at).any(|at| text(at) == "__global__");
    if text(begins) != "template" || text(begins + 1) != "<" || !marked {
        return None;
    }
    let arguments = if name.arguments.is_empty() { "...".to_owned() } else { name.arguments.join(", ") };
    Some(format!(
        "only what is instantiated is a kernel: write `template __global__ void {}<{arguments}>(...);` below the template, with the \
         types that its parameters have then",
        name.last()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        for (text, expected) in [
            ("k", "k"),
            ("a::k(float*)", "a::k"),
            ("void a::b::k<float, (unsigned int)256, (bool)1>(float const*, int)", "a::b::k<float, 256, 1>"),
            ("void k<a::B<4>, float>(a::B<4>)", "k<a::B<4>, float>"),
            ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
            ("scale<float, 4>", "scale<float, 4>"),
            ("scale<unsigned  int,true, 256u>", "scale<unsigned int, 1, 256>"),
            ("void Tile<4>::run<2>(int)", "Tile::run<2>"),
        ] {
            assert_eq!(Name::of(text).text(), expected, "{text}");
        }
        let full = Name::of("void a::scale<float, 4>(float*)");
        for (shorter, meant) in [
            ("scale", true),
            ("a::scale", true),
            ("scale<float>", true),
            ("scale<float, 4>", true),
            ("scale<double>", false),
            ("b::scale", false),
        ] {
            assert_eq!(full.is_meant_by(&Name::of(shorter)), meant, "{shorter}");
        }
    }

    #[test]
    fn types_are_those_of_the_demangled_name() {
        let found = types("void a::k<float>(float const*, unsigned int, a::P<2, 3>, float**)").unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.plain(), one.pointers)).collect();
        let expected = [("float", 1), ("unsigned int", 0), ("a::P<2, 3>", 0), ("float", 2)];
        assert_eq!(told, expected.map(|(words, pointers)| (words.to_owned(), pointers)));
        assert_eq!((types("k()").map(|list| list.len()), types("k")), (Some(0), None));
    }
}
