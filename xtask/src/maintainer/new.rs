//! `cargo xtask new`: the files of a new exercise, which is whole at once, and marks what is to be made its own.
//!
//! The template is an exercise that passes, so that every step from there can be tried. Where it says `FILL IN`, it is to be changed,
//! and [`unfinished`] finds these places for `verify`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::program;
use crate::programs;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The day that gets the exercise: `day22` or `22`
    day: String,
    /// What it is called, and its files, its kernel and its launch function: `add_gelu`
    name: String,
}

/// The name and the day in the template's files.
const TEMPLATE: &str = "new_exercise";
const TEMPLATES_DAY: &str = "    day: 0,\n";

/// What marks a place of the template that is to be changed.
const MARK: &str = "FILL IN";

/// A file of an exercise, by the path below the root, and where the exercises' files are in the template.
macro_rules! files {
    ($($path:literal: $template:literal, $what:literal;)*) => {
        const FILES: &[(&str, &str, &str)] = &[$(($path, include_str!(concat!("new/template/", $template)), $what),)*];
    };
}

// `DAY` is the day's number, `NAME` the exercise's name.
files! {
    "crates/course/src/dayDAY/NAME.rs": "specification.rs", "the specification";
    "crates/course/src/dayDAY/NAME.md": "new_exercise.md", "three hints";
    "exercises/dayDAY/src/NAME.cu": "starter.cu", "the starter";
    "exercises/dayDAY/src/NAME.rs": "starter.rs", "its launch";
    "exercises/dayDAY/starter/NAME.cu": "starter.cu", "a copy of the starter";
    "exercises/dayDAY/starter/NAME.rs": "starter.rs", "a copy of its launch";
    "solutions/dayDAY/src/NAME.cu": "solution.cu", "the solution";
    "solutions/dayDAY/src/NAME.rs": "solution.rs", "its launch";
    "solutions/dayDAY/wrong/NAME.toml": "wrong.toml", "mistakes that must be refused";
    "solutions/dayDAY/mutants/NAME.txt": "mutants.txt", "mutants that are no mistakes";
}

/// The text with an exercise of this name added to the list in it; nothing where it has none.
type Add = fn(text: &str, name: &str) -> Option<String>;

/// Files that list a day's exercises: each gets a line, or a word.
const LISTS: &[(&str, Add)] = &[
    ("crates/course/src/dayDAY.rs", in_list),
    ("book/src/dayDAY/exercises.md", in_table),
    ("book/src/dayDAY/index.md", in_schedule),
];

/// Writes the files and returns the exit code.
pub(crate) fn run(options: &Options) -> u8 {
    let root = programs::workspace_root().ok_or_else(|| "this is not run inside the course's folder".to_owned());
    crate::learner::tell(root.and_then(|root| write(&root, &options.day, &options.name)))
}

fn write(root: &Path, day: &str, name: &str) -> Result<String, String> {
    let day = known_day(day)?;
    check_name(name)?;
    let at = |path: &str| path.replace("DAY", &day.to_string()).replace("NAME", name);
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (path, template, _) in FILES {
        let path = at(path);
        if root.join(&path).exists() {
            return Err(format!("{path} is there already, and nothing was written"));
        }
        let days = format!("    day: {day},\n");
        texts.insert(path.into(), template.replace(TEMPLATE, name).replace(TEMPLATES_DAY, &days));
    }
    for (path, add) in LISTS {
        let path = at(path);
        let text = std::fs::read_to_string(root.join(&path)).map_err(|error| format!("cannot read {path}: {error}"))?;
        let text = add(&text, name)
            .ok_or_else(|| format!("{path} has no list of exercises to add {name} to, and nothing was written"))?;
        texts.insert(path.into(), text);
    }
    // All that can be refused was asked before the first file is written.
    for (path, text) in &texts {
        crate::learner::write_file(&root.join(path), text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let wide = FILES.iter().map(|(path, ..)| at(path).len()).max().unwrap_or_default();
    let mut said = "Written:\n".to_owned();
    FILES.iter().for_each(|(path, _, what)| said += &format!("  {:wide$}  {what}\n", at(path)));
    said += "Added to:\n";
    LISTS.iter().for_each(|(path, _)| said += &format!("  {}\n", at(path)));
    Ok(said
        + &format!(
            "\n{name} is a whole exercise already, 2 a b, and its solution passes. Now make it yours: each place says {MARK}, and\n\n  \
         {} verify {name}\n\nnames those that are left. CONTRIBUTING.md tells what else an exercise may have: a ladder, a rival, unusual answers.\n",
            program()
        ))
}

fn known_day(day: &str) -> Result<u32, String> {
    let number = day.trim_start_matches("day").parse().ok();
    let known = number.filter(|number| fusion_course::days().iter().any(|day| day.number == *number));
    known.ok_or_else(|| {
        let days: Vec<String> = fusion_course::days().iter().map(|day| day.number.to_string()).collect();
        format!("`{day}` is no day of the course: there are {}. CONTRIBUTING.md says how to add one", days.join(", "))
    })
}

/// A name is a function of Rust and of C++, and no other exercise's.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_plain {
        false => Err(format!(
            "`{name}` cannot be a function's name here: take small letters, digits and `_`, as in add_gelu"
        )),
        true if fusion_course::find(name).is_some() => Err(format!("there is an exercise called {name} already")),
        true => Ok(()),
    }
}

/// Behind the last name of the day's list.
fn in_list(text: &str, name: &str) -> Option<String> {
    let end = text.rfind("\n] }")?;
    Some(format!("{}\n    {name},{}", &text[..end], &text[end..]))
}

/// Behind the last row of the page's table of exercises.
fn in_table(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heading = lines.iter().position(|line| line.starts_with("| exercise |"))?;
    let rows = lines[heading..].iter().take_while(|line| line.starts_with('|')).count();
    let row = format!(
        "| `{name}` | {MARK} the operation |{}\n",
        format!(" {MARK} |").repeat(lines[heading].matches('|').count() - 3)
    );
    Some([&lines[..heading + rows], &[row.as_str()], &lines[heading + rows..]].concat().concat())
}

/// Behind the last name in the day's schedule.
fn in_schedule(text: &str, name: &str) -> Option<String> {
    let line = text.split_inclusive('\n').find(|line| line.contains("](exercises.md) |"))?;
    let last = line.rfind('`')? + 1;
    Some(text.replacen(line, &format!("{}, `{name}`{}", &line[..last], &line[last..]), 1))
}

/// What is still the template's in the files of an exercise: the place, and what is to be done there.
pub(super) fn unfinished(root: &Path, day: u32, name: &str) -> Vec<String> {
    let at = |path: &str| path.replace("DAY", &day.to_string()).replace("NAME", name);
    let own = FILES.iter().map(|(path, ..)| (at(path), true));
    // In what others have, too, only the lines of this one count.
    let shared = LISTS.iter().map(|(path, _)| (at(path), false));
    let mut found = Vec::new();
    for (path, is_own) in own.chain(shared) {
        let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| line.contains(MARK)) {
            if is_own || line.contains(&format!("`{name}`")) {
                found.push(format!("{path}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_at_the_end_of_each_list() {
        assert_eq!(in_list("day! { [\n    a, b,\n] }\n", "c").unwrap(), "day! { [\n    a, b,\n    c,\n] }\n");
        let table = "# T\n\n| exercise | operation | bar |\n|---|---|---|\n| `a` | x | 1 |\n\nEnd.\n";
        let added = "| `a` | x | 1 |\n| `c` | FILL IN the operation | FILL IN |\n\nEnd.\n";
        assert!(in_table(table, "c").unwrap().ends_with(added), "{:?}", in_table(table, "c"));
        let schedule = "| 1 h | [E](exercises.md) | in this order: `a`, `b` |\n";
        assert_eq!(in_schedule(schedule, "c").unwrap(), "| 1 h | [E](exercises.md) | in this order: `a`, `b`, `c` |\n");
    }

    #[test]
    fn names_and_days_that_cannot_be_are_refused() {
        assert_eq!(known_day("day22"), Ok(22));
        assert!(known_day("99").unwrap_err().contains("there are 21, 22"));
        for name in ["add_gelu", "Twice", "2a", "a-b", ""] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert_eq!(check_name("rotate_half"), Ok(()));
    }

    #[test]
    fn what_is_still_the_templates_is_named_until_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let course = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (path, _) in LISTS {
            let path = path.replace("DAY", "22");
            std::fs::create_dir_all(root.join(&path).parent().unwrap()).unwrap();
            std::fs::copy(course.join(&path), root.join(&path)).unwrap();
        }
        write(root, "day22", "twice_product").unwrap();
        let places = unfinished(root, 22, "twice_product");
        for place in [
            "crates/course/src/day22/twice_product.rs:12: // FILL IN: the operation in one line, for tables.",
            "book/src/day22/exercises.md:12: | `twice_product` | FILL IN the operation | FILL IN | FILL IN |",
        ] {
            assert!(places.iter().any(|it| it == place), "{places:#?}");
        }
        let files = FILES.iter().map(|file| file.0).chain(LISTS.iter().map(|list| list.0));
        for path in files.map(|path| root.join(path.replace("DAY", "22").replace("NAME", "twice_product"))) {
            let filled = std::fs::read_to_string(&path).unwrap().replace(MARK, "");
            std::fs::write(path, filled).unwrap();
        }
        assert!(unfinished(root, 22, "twice_product").is_empty());
        assert!(unfinished(&course, 22, "mul_add").is_empty(), "the course's own are filled in");
    }

    #[test]
    fn the_starter_and_the_solution_of_the_template_differ_in_the_regions_only() {
        let of = |path: &str| FILES.iter().find(|file| file.0 == path).unwrap().1;
        for extension in ["cu", "rs"] {
            let [starter, solution] =
                ["exercises", "solutions"].map(|it| of(&format!("{it}/dayDAY/src/NAME.{extension}")));
            assert_eq!(fusion_course::drift::check(starter, solution), Ok(()), "{extension}");
        }
    }
}
