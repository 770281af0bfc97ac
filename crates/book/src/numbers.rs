//! Numbers in prose that nothing backs: a measurement that somebody typed is one that no command makes anew.
//!
//! A number with a unit is backed if one of these holds:
//! - the number stands in a file that the page takes in, an output above all, to the digits that the prose gives;
//! - it stands in a file that a page takes in to which the paragraph links;
//! - its sentence, or its row of a table, shows the calculation: it has an `=` in it. What the calculation divides,
//!   divides by or subtracts must be backed itself, if it has four digits or more and is not round: it was read off
//!   an output. It may also stand elsewhere on the page in a paragraph that names its source, or be what another
//!   calculation comes to;
//! - its paragraph links to a page outside of the book, or to the book's page of sources;
//! - it is part of a knowledge check's question, which sets its own numbers;
//! - a comment in its paragraph names the source: `<!-- source: ... -->`, on a line of its own above the text.

mod prose;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Failure;
use prose::{Paragraph, Quantity};

/// The page that names sources.
const SOURCES: &str = "sources.md";
/// Links to the glossary explain words.
const GLOSSARY: &str = "glossary.md";

/// Numbers that nothing backs, of all pages under `source`: file and line, the number, and what stands around it.
pub(crate) fn unbacked(source: &Path) -> Result<Vec<String>, Failure> {
    let mut pages = Vec::new();
    collect(source, &mut pages);
    pages.sort();
    let mut backing = Backing::default();
    let mut problems = Vec::new();
    for page in &pages {
        if page.ends_with(SOURCES) {
            continue;
        }
        let text = crate::read(page)?;
        let paragraphs = prose::paragraphs(&text);
        let sourced = paragraphs.iter().filter(|paragraph| paragraph.has_source()).flat_map(Paragraph::numbers);
        let shown: Vec<f64> = paragraphs.iter().flat_map(Paragraph::results).chain(sourced).collect();
        for paragraph in paragraphs {
            if paragraph.has_source() || paragraph.is_question() {
                continue;
            }
            let links = paragraph.links();
            if links.iter().any(|link| link.starts_with("http") || link.contains(SOURCES)) {
                continue;
            }
            let mut files = vec![page.clone()];
            files.extend(linked(page, &links));
            let taken_in: Vec<f64> = files.iter().flat_map(|file| backing.of(file).to_vec()).collect();
            let is_in = |quantity: &Quantity, known: &[f64]| known.iter().any(|known| quantity.is(*known));
            let operands = paragraph.operands().into_iter().filter(|operand| !is_in(operand, &shown));
            let unbacked = paragraph.quantities().into_iter().chain(operands).filter(|it| !is_in(it, &taken_in));
            problems.extend(unbacked.map(|quantity| problem(source, page, &paragraph, &quantity)));
        }
    }
    Ok(problems)
}

fn problem(source: &Path, page: &Path, paragraph: &Paragraph, quantity: &Quantity) -> String {
    let page = page.strip_prefix(source).unwrap_or(page).display();
    format!(
        "book/src/{page}:{}: nothing backs `{}` in: {}\n  show the output that has it, link to its source, show the calculation, or add \
         `<!-- source: ... -->` above the paragraph",
        paragraph.line, quantity.text, quantity.around
    )
}

/// Pages of the book that these links lead to.
fn linked<'a>(page: &'a Path, links: &'a [&str]) -> impl Iterator<Item = PathBuf> + 'a {
    let folder = page.parent().unwrap_or(page);
    links.iter().filter_map(move |link| {
        let file = link.split('#').next().filter(|file| file.ends_with(".md") && !file.contains(GLOSSARY))?;
        folder.join(file).canonicalize().ok()
    })
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// The numbers in what pages take in, each page looked at once.
#[derive(Debug, Default)]
struct Backing {
    known: BTreeMap<PathBuf, Vec<f64>>,
}

impl Backing {
    fn of(&mut self, page: &Path) -> &[f64] {
        self.known.entry(page.to_owned()).or_insert_with(|| {
            let text = std::fs::read_to_string(page).unwrap_or_default();
            let folder = page.parent().unwrap_or(page);
            let taken_in = prose::included(&text).filter_map(|file| std::fs::read_to_string(folder.join(file)).ok());
            taken_in.flat_map(|text| prose::numbers(&prose::visible(&text))).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is unbacked on a page beside an output.
    fn found(page: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("out.txt", "time 6.594 us, 1,048,576 elements, 74%");
        write("other.md", "{{#include out.txt}}");
        write("page.md", page);
        unbacked(folder.path()).unwrap()
    }

    #[test]
    fn a_number_that_an_output_has_is_backed() {
        assert_eq!(found("It takes 6.59 us, 74% of it.\n\n{{#include out.txt}}"), Vec::<String>::new());
        assert_eq!(found("As [there](other.md#x): 6.6 microseconds."), Vec::<String>::new());
        for wrong in ["It takes 6.95 us.\n\n{{#include out.txt}}", "It takes 6.59 us.", "[Glossary](glossary.md): 7 ms"]
        {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_source_or_a_calculation_backs_a_number() {
        for right in [
            "<!-- source: the datasheet -->\nIt moves 4.8 TB/s.",
            "It moves 4.8 TB/s, says [the datasheet](https://example.org).",
            "Says [a write-up](../appendix/sources.md#one): 2.01x.",
            "20 / 12 = 1.67x.",
            "```text\n4.8 TB/s\n```",
            "`--size 4 KiB`",
            "It has 4 ways and 3 places.",
            "**3. A kernel takes 40 us. Why?**",
        ] {
            assert_eq!(found(right), Vec::<String>::new(), "{right}");
        }
        // Another sentence's calculation backs nothing.
        let text = found("a\n\n20 / 12 = 1.67x. It takes 5 ms.");
        assert!(text[0].starts_with("book/src/page.md:3: nothing backs `5 ms`"), "{text:?}");
    }

    #[test]
    fn what_a_calculation_uses_was_read_off_an_output() {
        let found = |text: &str| found(&format!("{text}\n\n{{{{#include out.txt}}}}"));
        for right in ["6.594 / 3 = 2.2 times.", "3 · 2.1234 = 6.3702, and 6.3702 / 2 = 3.2.", "0.98 / 1.25 = 0.78."] {
            assert_eq!(found(right), Vec::<String>::new(), "{right}");
        }
        assert_eq!(found("16,384 / 4096 = 4 times."), Vec::<String>::new());
        // The output was made anew, and the text was not.
        for (wrong, old) in [
            ("It takes 6.612 / 3 = 2.2 times as long.", "`6.612`"),
            ("The speedup = 6.612 / 3 = 2.2.", "`6.612`"),
            ("12 / (6.612 · 10⁻⁶) = 2.", "`6.612`"),
            ("2411 / 2 = 1205.5 us.", "`2411`"),
        ] {
            let text = found(wrong);
            assert!(text.len() == 1 && text[0].contains(old), "{text:?}");
        }
    }
}
