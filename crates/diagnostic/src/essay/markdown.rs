//! The little Markdown that essays are written in, as plain text: headings, paragraphs, fenced blocks, emphasis.

use crate::wrap::wrap;

/// Text within so many columns. Fenced blocks are indented and never wrapped.
pub(super) fn plain(markdown: &str, columns: usize, bold: bool) -> String {
    let mut text = String::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            text += format!("    {line}").trim_end();
            text.push('\n');
        } else if let Some(heading) = line.strip_prefix("## ") {
            text += &format!("{}\n", strong(heading, bold));
        } else if let Some(heading) = line.strip_prefix("### ") {
            text += &format!("{}\n", strong(&format!("{heading}:"), bold));
        } else {
            text += &format!("{}\n", wrap(&without_emphasis(line), columns));
        }
    }
    text
}

fn strong(text: &str, bold: bool) -> String {
    if bold { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Without asterisks, but for those in code.
fn without_emphasis(line: &str) -> String {
    let mut code = false;
    line.chars()
        .filter(|&c| {
            code ^= c == '`';
            code || c != '*'
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_plain() {
        let markdown =
            "## E-X\n\n*Meaning.* **Bold** `float* x`, and so on.\n\n### Right\n\n```cpp,right\nint *x;\n\n```\nend\n";
        let expected = "E-X\n\nMeaning. Bold\n`float* x`,\nand so on.\n\nRight:\n\n    int *x;\n\nend\n";
        assert_eq!(plain(markdown, 14, false), expected);
        assert!(plain(markdown, 14, true).starts_with("\u{1b}[1mE-X\u{1b}[0m\n"));
    }
}
