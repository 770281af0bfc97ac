//! Bytes that each step of a chain moves, unfused beside fused.

use crate::frame::{self, Sign};
use crate::heading::Heading;
use crate::quantity::digits;
use crate::style::{AXIS, Style};
use crate::svg::{Anchor, Area, BOLD, SMALL, Svg, WIDTH, shorten, text_width};

/// Bars of bytes per element, one above the other, each made of its steps. What is read is faint and what is written full, on a light page and on
/// a dark one.
#[derive(Clone, Debug)]
pub struct TrafficChart {
    pub heading: Heading,
    pub bars: Vec<TrafficBar>,
}

/// One bar: `unfused`, `fused`.
#[derive(Clone, Debug)]
pub struct TrafficBar {
    pub name: String,
    pub steps: Vec<TrafficStep>,
}

/// What one launch moves, in bytes per element. Steps of the same name have the same colour in all bars. Values that are negative or not
/// finite count as zero.
#[derive(Clone, Debug)]
pub struct TrafficStep {
    pub name: String,
    pub read: f64,
    pub written: f64,
}

const LEFT: f64 = 12.0;
const BAR: f64 = 34.0;

impl TrafficStep {
    fn bytes(&self) -> (f64, f64) {
        // So large a number of bytes per element is a mistake; a sum of some stays finite.
        let real = |bytes: f64| if bytes.is_finite() { bytes.clamp(0.0, 1e100) } else { 0.0 };
        (real(self.read), real(self.written))
    }
}

impl TrafficBar {
    fn total(&self) -> f64 {
        self.steps.iter().map(|step| step.bytes().0 + step.bytes().1).sum()
    }
}

impl TrafficChart {
    /// The picture as SVG.
    pub fn render(&self) -> String {
        let mut svg = Svg::default();
        let names = self.names();
        let mut y = frame::heading(&mut svg, &self.heading);
        y = frame::legend(&mut svg, y, Sign::Box, &names);
        let longest = self.bars.iter().map(TrafficBar::total).fold(0.0, f64::max);
        for bar in &self.bars {
            y = draw_bar(&mut svg, y, bar, &names, longest);
        }
        svg.text(LEFT, y + 16.0, Anchor::Start, SMALL, "bytes per element: faint is read, full is written");
        svg.finish(y + 30.0, &self.heading, &self.describe())
    }

    /// The steps' names in the order in which they first come.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for step in self.bars.iter().flat_map(|bar| &bar.steps) {
            if !names.contains(&step.name) {
                names.push(step.name.clone());
            }
        }
        names
    }

    fn describe(&self) -> String {
        let mut text = "Bars of bytes per element.".to_owned();
        for bar in &self.bars {
            let steps: Vec<String> = bar
                .steps
                .iter()
                .map(|step| {
                    let (read, written) = step.bytes();
                    format!("{} reads {} and writes {}", step.name, number(read), number(written))
                })
                .collect();
            text.push_str(&format!(" {}: {} in all; {}.", bar.name, number(bar.total()), steps.join(", ")));
        }
        text
    }
}

/// Writes a bar below `top`, with its name above it. Returns where the next thing may begin.
fn draw_bar(svg: &mut Svg, top: f64, bar: &TrafficBar, names: &[String], longest: f64) -> f64 {
    let total = bar.total();
    let name = format!("{}: {} B", bar.name, number(total));
    let name = shorten(&name, 14.0 * BOLD, WIDTH - 2.0 * LEFT);
    svg.styled_text(LEFT, top + 18.0, Anchor::Start, 14.0, &name, " font-weight=\"600\"");
    let top = top + 26.0;
    let scale = if longest > 0.0 { (WIDTH - 2.0 * LEFT) / longest } else { 0.0 };
    let mut x = LEFT;
    for step in &bar.steps {
        let (read, written) = step.bytes();
        let colour = Style::of(names.iter().position(|name| *name == step.name).unwrap_or(0)).colour();
        let start = x;
        for (bytes, opacity) in [(read, 0.16), (written, 0.42)] {
            let width = bytes * scale;
            if width > 0.0 {
                svg.shade(Area { x, y: top, width, height: BAR }, colour, opacity);
                let text = number(bytes);
                if text_width(&text, SMALL) + 4.0 <= width {
                    svg.text(x + width / 2.0, top + BAR / 2.0 + 4.4, Anchor::Middle, SMALL, &text);
                }
            }
            x += width;
        }
        // Where there is no room for it, the legend has the name.
        if text_width(&step.name, SMALL) <= x - start {
            svg.text((start + x) / 2.0, top + BAR + 15.0, Anchor::Middle, SMALL, &step.name);
        }
        // A launch ends here.
        svg.stroke(&format!("M{x:.1} {:.1}V{:.1}", top - 3.0, top + BAR + 3.0), AXIS, 1.5, "");
    }
    top + BAR + 24.0
}

fn number(bytes: f64) -> String {
    if bytes < 1e6 { digits(bytes) } else { format!("{bytes:.0e}") }
}
