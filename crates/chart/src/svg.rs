//! Elements of SVG as text.

use std::fmt::Write as _;

use crate::heading::Heading;
use crate::style::{BACKGROUND, TEXT};

/// The width of every picture in user units, which are pixels where there is room for them.
pub(crate) const WIDTH: f64 = 720.0;
/// The height of small print. No text is smaller.
pub(crate) const SMALL: f64 = 12.5;

/// How much wider bold text is than [`text_width`] says.
pub(crate) const BOLD: f64 = 1.06;

/// Where a text's position is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A picture in the making.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// A line, polyline or outline. `dash` may be empty.
    pub(crate) fn stroke(&mut self, path: &str, colour: &str, width: f64, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        self.element(&format!(
            "<path d=\"{path}\" style=\"fill:none;stroke:{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{dash}></path>"
        ));
    }

    /// Points, as a path of lines without length.
    pub(crate) fn dots(&mut self, path: &str, colour: &str, round: bool) {
        let cap = if round { "round" } else { "square" };
        self.element(&format!(
            "<path d=\"{path}\" style=\"fill:none;stroke:{colour}\" stroke-width=\"3\" stroke-linecap=\"{cap}\" \
             stroke-opacity=\"0.7\"></path>"
        ));
    }

    /// A filled outline with an edge in the colour of the background, so that it stands out from lines under it.
    pub(crate) fn marker(&mut self, path: &str, colour: &str) {
        self.element(&format!(
            "<path d=\"{path}\" style=\"fill:{colour};stroke:{BACKGROUND}\" stroke-width=\"1\" paint-order=\"stroke\"></path>"
        ));
    }

    /// A rectangle in a shade of its edge's colour.
    pub(crate) fn shade(&mut self, area: Area, colour: &str, opacity: f64) {
        let Area { x, y, width, height } = area;
        self.element(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" style=\"fill:{colour};stroke:{colour}\" \
             fill-opacity=\"{opacity}\" stroke-width=\"1.2\"></rect>"
        ));
    }

    /// One line of text with its baseline at `y`.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, text: &str) {
        self.styled_text(x, y, anchor, size, text, "");
    }

    /// As [`Svg::text`], with attributes of its own.
    pub(crate) fn styled_text(&mut self, x: f64, y: f64, anchor: Anchor, size: f64, text: &str, more: &str) {
        let anchor = anchor.name();
        let text = escape(text);
        self.element(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{more}>{text}</text>"
        ));
    }

    /// A filled outline without an edge.
    pub(crate) fn fill(&mut self, path: &str, colour: &str, opacity: f64) {
        self.element(&format!("<path d=\"{path}\" style=\"fill:{colour}\" fill-opacity=\"{opacity}\"></path>"));
    }

    /// A chart of the usual width under its heading.
    pub(crate) fn finish(self, height: f64, heading: &Heading, description: &str) -> String {
        self.finish_as(WIDTH, height, &heading.full_title(), &heading.source, description)
    }

    /// The whole picture. Screen readers say the title, then the description. Its first line holds the source, so that the file
    /// itself tells where it is from.
    pub(crate) fn finish_as(self, width: f64, height: f64, title: &str, source: &str, description: &str) -> String {
        let source = escape(source);
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fusion-chart\" viewBox=\"0 0 {width} {height:.0}\" \
             width=\"{width}\" height=\"{height:.0}\" role=\"img\" \
             data-source=\"{source}\" style=\"font-family:system-ui,'Liberation Sans',Arial,sans-serif;fill:{TEXT}\">"
        );
        let _ = writeln!(out, "<title>{}</title>\n<desc>{}</desc>", escape(title), escape(description));
        let _ = writeln!(
            out,
            "<rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height:.0}\" style=\"fill:{BACKGROUND}\"></rect>"
        );
        out + &self.body + "</svg>\n"
    }

    fn element(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    /// About what a line of text covers.
    pub(crate) fn of_text(x: f64, y: f64, anchor: Anchor, size: f64, text: &str) -> Area {
        let width = text_width(text, size);
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        Area { x, y: y - size * 0.8, width, height: size * 1.05 }
    }

    pub(crate) fn overlaps(self, other: Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    pub(crate) fn inside(self, other: Area) -> bool {
        self.x >= other.x
            && self.y >= other.y
            && self.x + self.width <= other.x + other.width
            && self.y + self.height <= other.y + other.height
    }
}

/// How wide a text is at most in the usual sans-serif fonts. There are no font metrics here, so this errs on the wide side.
pub fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
            ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.42,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
            'A'..='Z' => 0.74,
            c if (c as u32) < 0x2000 => 0.62,
            _ => 1.05,
        })
        .sum();
    ems * size
}

/// The text in lines that are no wider than this.
pub(crate) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + 0.42 * size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shorten(word, size, width)),
        }
    }
    lines
}

/// The text, or as much of its beginning as fits with an ellipsis.
pub(crate) fn shorten(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = text_width("…", size);
    for c in text.chars() {
        used += text_width(c.encode_utf8(&mut [0; 4]), size);
        if used > width {
            break;
        }
        short.push(c);
    }
    short.push('…');
    short
}

/// Text as XML takes it. Characters that XML forbids, and line breaks, become spaces.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A page of the book would take "{{#" for a directive of its own.
            '{' => out.push_str("&#123;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
