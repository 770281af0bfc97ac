//! The knowledge checks of the book. A page is the only place that has them: the book shows it, and it is read here.

use std::path::Path;

use super::question::{Answer, Question};

/// Those of a day; none where it has no such page.
pub(super) fn questions(root: &Path, day: u32) -> Vec<Question> {
    let page = std::fs::read_to_string(root.join(format!("book/src/day{day}/check.md"))).unwrap_or_default();
    parsed(&page, day)
}

/// A question is a line `**N. What?**`, and its answer is folded below it.
fn parsed(page: &str, day: u32) -> Vec<Question> {
    const FOLD: (&str, &str) = ("<details><summary>Answer</summary>", "</details>");
    let mut questions = Vec::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(FOLD.0) {
        let (answer, behind) = after.split_once(FOLD.1).unwrap_or((after, ""));
        let asked = before.trim_end().lines().last().unwrap_or_default();
        let asked = asked.trim_start_matches("**").trim_end_matches("**");
        let (number, ask) = asked.split_once(". ").unwrap_or(("", asked));
        questions.push(Question {
            id: format!("day{day}/{number}"),
            ask: without_links(ask),
            answer: Answer::Words,
            because: without_links(answer.trim()),
        });
        rest = behind;
    }
    questions
}

/// `[DRAM](glossary.md#dram)` is DRAM where nothing can be followed.
fn without_links(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once('[') {
        text += before;
        let link = after.split_once("](").and_then(|(shown, target)| Some((shown, target.split_once(')')?.1)));
        match link.filter(|(shown, _)| !shown.contains('[')) {
            Some((shown, behind)) => {
                text += shown;
                rest = behind;
            }
            None => {
                text.push('[');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_can_be_played() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for day in fusion_course::days() {
            let page = std::fs::read_to_string(root.join(format!("book/src/day{}/check.md", day.number)));
            let Ok(page) = page else { continue };
            let questions = questions(&root, day.number);
            assert_eq!(questions.len(), page.matches("<details>").count());
            for (number, question) in (1..).zip(&questions) {
                assert_eq!(question.id, format!("day{}/{number}", day.number));
                for text in [&question.ask, &question.because] {
                    assert!(
                        !text.is_empty()
                            && !["](", "{{", "**", "<"].iter().any(|it| text.contains(it) && !text.contains('`')),
                        "{text}"
                    );
                }
            }
        }
    }

    #[test]
    fn links_are_what_they_show() {
        assert_eq!(without_links("an [SM](a.md#b) and x[i], y[j](k)"), "an SM and x[i], yj");
        assert_eq!(without_links("x[i] of [a](b)"), "x[i] of a");
    }
}
