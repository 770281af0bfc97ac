//! `cargo xtask grade TARGET --hint [N]`: hints instead of a verdict.

use fusion_course::Exercise;

use crate::{command, output, target};

/// The widest text that is easy to read.
const WIDEST: usize = 100;

/// Prints the first `count` hints of each exercise and returns the exit code.
pub(crate) fn run(targets: &[String], count: usize) -> u8 {
    match target::resolve(targets, fusion_course::days()) {
        Ok(selections) => {
            let width = output::look().width.map_or(WIDEST, usize::from).min(WIDEST);
            let exercises = selections.iter().flat_map(|selection| &selection.exercises);
            let texts: Vec<String> = exercises.map(|exercise| hints(exercise, count, width)).collect();
            if output::print(&texts.join("\n")) { 0 } else { 2 }
        }
        Err(unknown) => {
            output::note(&format!("error: {unknown}"));
            2
        }
    }
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
        text += &format!("\nmore: {} grade {} --hint {}\n", command::program(), exercise.name, count + 1);
    }
    text
}

/// Markdown as plain text: paragraphs and items of lists fill lines of this width, and code stands indented as it is.
fn plain(markdown: &str, width: usize) -> String {
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
        assert!(one.contains("hint 1 of 3") && !one.contains("hint 2 of") && one.contains("--hint 2"), "{one}");
        let all = hints(exercise, 9, 80);
        assert!(all.contains("hint 3 of 3") && !all.contains("more:") && all.ends_with("no more hints\n"), "{all}");
    }

    #[test]
    fn hints_are_shown_plainly() {
        let markdown = "One two three\nfour.\n\nThese matter.\n\n- An item that is\n  long.\n- Another.\n\n```cpp,body\nif (i < n) {\n    out[i] = 0;\n}\n```\n\nEnd.";
        let shown = "One two three\nfour.\n\nThese matter.\n\n- An item that\n  is long.\n- Another.\n\n    if (i < n) {\n        out[i] = 0;\n    }\n\nEnd.\n";
        assert_eq!(plain(markdown, 14), shown);
    }
}
