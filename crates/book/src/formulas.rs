//! Formulas: LaTeX in `book/formulas.toml`, MathML in `book/src/formulas/`.
//!
//! Browsers show MathML by themselves (MathML Core, W3C), so readers need neither scripts nor a network.

use std::collections::BTreeMap;
use std::path::Path;

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};
use serde::Deserialize;

use crate::Failure;
use crate::changes::Changes;

/// `book/formulas.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Formulas {
    /// Formulas on lines of their own.
    #[serde(default)]
    display: BTreeMap<String, Display>,
    /// Formulas within a sentence.
    #[serde(default)]
    inline: BTreeMap<String, String>,
}

/// One formula, or several that stand beside each other where there is room, and below each other on a phone.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Display {
    One(String),
    Several(Vec<String>),
}

impl Display {
    /// One line of HTML: a box that scrolls when the page is too narrow for a formula in it.
    fn html(&self) -> Result<String, String> {
        let parts = match self {
            Display::One(latex) => std::slice::from_ref(latex),
            Display::Several(parts) => parts,
        };
        let parts: Result<Vec<String>, String> = parts.iter().map(|latex| mathml(latex, MathDisplay::Block)).collect();
        Ok(format!("<div class=\"formula\">{}</div>\n", parts?.join(" ")))
    }
}

const FIX: &str = "cargo xtask book --only formulas/";

/// Writes or compares one file a formula.
pub(crate) fn regenerate(book: &Path, changes: &mut Changes) -> Result<(), Failure> {
    let path = book.join("formulas.toml");
    let formulas: Formulas =
        toml::from_str(&crate::read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    if let Some(twice) = formulas.display.keys().find(|name| formulas.inline.contains_key(*name)) {
        return Err(format!("book/formulas.toml: `{twice}` is both under [display] and [inline]: rename one"));
    }
    let display = formulas.display.iter().map(|(name, formula)| (name, formula.html()));
    let inline = formulas.inline.iter().map(|(name, latex)| (name, inline(latex)));
    for (name, html) in display.chain(inline) {
        let html = html.map_err(|why| format!("book/formulas.toml: `{name}`: {why}"))?;
        changes.file(&format!("formulas/{name}.html"), &html, FIX)?;
    }
    let known = |name: &str| formulas.display.contains_key(name) || formulas.inline.contains_key(name);
    for entry in std::fs::read_dir(changes.source().join("formulas")).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if !file.strip_suffix(".html").is_some_and(known) {
            changes
                .stray(&format!("formulas/{file}"), "is not in book/formulas.toml: add it there or remove the file")?;
        }
    }
    Ok(())
}

/// A formula within a sentence, without a line end, so that a full stop can follow.
fn inline(latex: &str) -> Result<String, String> {
    // Markdown looks at text inside a sentence: it must not take a sign for its own.
    Ok(mathml(latex, MathDisplay::Inline)?.replace('*', "&#42;").replace('_', "&#95;"))
}

/// One line of MathML.
fn mathml(latex: &str, display: MathDisplay) -> Result<String, String> {
    let converter = LatexToMathML::new(MathCoreConfig::default()).map_err(|(error, ..)| error.to_string())?;
    // A line break in the LaTeX is a space.
    let latex = latex.split_whitespace().collect::<Vec<_>>().join(" ");
    let mathml = converter.convert_with_local_counter(&latex, display).map_err(|error| error.to_string())?;
    let spoken = format!("<math alttext=\"{}\"", attribute(&latex));
    Ok(mathml.replace('\n', " ").replacen("<math", &spoken, 1))
}

/// The LaTeX as an attribute's value, for tools that read formulas aloud from it.
fn attribute(latex: &str) -> String {
    let mut out = String::new();
    for c in latex.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // The book would take "{{#" for a directive of its own.
            '{' => out.push_str("&#123;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(latex: &str) -> Result<String, String> {
        Display::One(latex.to_owned()).html()
    }

    #[test]
    fn latex_becomes_one_line_of_well_formed_mathml() {
        let cases = [
            r"\frac{a}{b}",
            "\\begin{aligned} a &< b \\\\\n c &> d \\end{aligned}",
            r"\sqrt{\frac{1}{n}\sum_{i=1}^{n} x_i^2 + \varepsilon}",
            "a * b * c",
        ];
        for latex in cases {
            let (display, inline) = (display(latex).unwrap(), inline(latex).unwrap());
            for html in [&display, &inline] {
                assert_eq!(html.lines().count(), 1, "{html}");
                let tree = roxmltree::Document::parse(html).unwrap();
                assert!(tree.descendants().any(|node| node.has_tag_name("math")), "{html}");
                assert!(!html.contains("{{"), "{html}");
            }
            assert!(!inline.contains(['*', '_', '\n']), "{inline}");
        }
        assert!(display(r"\frac{a}{b}").unwrap().contains("<mfrac>"));
        let both = Display::Several(vec!["a".into(), "b".into()]).html().unwrap();
        assert_eq!(both.matches("<math").count(), 2, "{both}");
    }

    #[test]
    fn a_mistake_in_latex_is_an_error() {
        for latex in [r"\frac{a}", r"\nosuchcommand", r"{"] {
            assert!(display(latex).is_err(), "{latex}");
        }
    }
}
