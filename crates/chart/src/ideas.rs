//! Pictures of ideas: what stands in a page of the book to be understood, where the other pictures stand to be read off.
//!
//! A picture consists of panels of [`WIDTH`] units. They stand beside each other where there is room and below each other on a phone, so
//! that their text is legible on both. What a panel shows is computed from the case that it is about: addresses become sectors, blocks
//! are placed on multiprocessors.

mod banks;
mod cells;
mod fragment;
mod grid;
mod hiding;
mod hierarchy;
mod mask;
mod online;
mod prefetch;
mod reduction;
mod sectors;
mod tiles;
mod traffic;
mod waves;

pub use cells::{Cell, Grid};
pub use hierarchy::{Device, Waits};

use crate::style::{AXIS, Style};
use crate::svg::{Anchor, Area, BOLD, Svg, wrap};

/// How wide a panel is.
pub const WIDTH: f64 = 340.0;
/// What is left free at both sides.
const SIDE: f64 = 10.0;
/// The height of text.
const TEXT: f64 = 13.0;
const TITLE: f64 = 15.0;
/// From one line of text to the next.
const LINE: f64 = 17.0;

/// One drawing of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panel {
    /// What its file is called: `sectors-coalesced`.
    pub name: String,
    pub svg: String,
}

/// All panels. Two things are no theory and come from elsewhere: what a GPU has, and how long it was measured to wait.
pub fn panels(device: &Device, waits: &Waits) -> Vec<Panel> {
    [
        hierarchy::panels(device, waits),
        grid::panels(),
        sectors::panels(),
        traffic::panels(),
        reduction::panels(),
        banks::panels(),
        hiding::panels(),
        waves::panels(),
        tiles::panels(),
        online::panels(),
        prefetch::panels(),
        fragment::panels(),
        mask::panels(),
    ]
    .concat()
}

/// A panel in the making.
struct Sketch {
    svg: Svg,
    title: String,
    /// Where the next thing may begin.
    y: f64,
}

impl Sketch {
    fn new(title: &str) -> Sketch {
        let mut sketch = Sketch { svg: Svg::default(), title: title.to_owned(), y: 4.0 };
        for line in wrap(title, TITLE * BOLD, WIDTH - 2.0 * SIDE) {
            sketch.y += 19.0;
            sketch.styled(SIDE, sketch.y - 4.0, Anchor::Start, &line, TITLE, true);
        }
        sketch.y += 4.0;
        sketch
    }

    /// Sentences below what is there.
    fn say(&mut self, text: &str) {
        self.y += 3.0;
        for line in wrap(text, TEXT, WIDTH - 2.0 * SIDE) {
            self.y += LINE;
            self.text(SIDE, self.y - 4.0, Anchor::Start, &line);
        }
        self.y += 2.0;
    }

    fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.styled(x, y, anchor, text, TEXT, false);
    }

    fn bold(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.styled(x, y, anchor, text, TEXT, true);
    }

    fn styled(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, size: f64, bold: bool) {
        self.svg.styled_text(x, y, anchor, size, text, if bold { " font-weight=\"600\"" } else { "" });
    }

    /// A box with text in its middle.
    fn cell(&mut self, area: Area, colour: Colour, text: &str) {
        self.svg.shade(area, colour.ink(), colour.opacity());
        if !text.is_empty() {
            self.text(area.x + area.width / 2.0, area.y + area.height / 2.0 + 4.5, Anchor::Middle, text);
        }
    }

    /// An arrow whose shaft is as thick as this.
    fn arrow(&mut self, from: (f64, f64), to: (f64, f64), width: f64, colour: Colour) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let (dx, dy) = (dx / length, dy / length);
        let head = 5.0 + width;
        let neck = (to.0 - head * dx, to.1 - head * dy);
        self.svg.stroke(&format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, neck.0, neck.1), colour.ink(), width, "");
        let half = 0.7 * head;
        self.svg.fill(
            &format!(
                "M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z",
                to.0,
                to.1,
                neck.0 - half * dy,
                neck.1 + half * dx,
                neck.0 + half * dy,
                neck.1 - half * dx
            ),
            colour.ink(),
            1.0,
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, dash: &str) {
        let path = format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1);
        self.svg.stroke(&path, AXIS, width, dash);
    }

    /// The panel. `description` says in words what the drawing shows.
    fn finish(self, name: &str, description: &str) -> Panel {
        self.finish_from(name, description, "cargo run -p fusion-chart --example ideas")
    }

    /// The same of a panel that another command draws.
    fn finish_from(self, name: &str, description: &str, source: &str) -> Panel {
        let svg = self.svg.finish_as(WIDTH, self.y + 8.0, &self.title, source, description);
        Panel { name: name.to_owned(), svg }
    }
}

/// What a colour says, in all panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// What the panel is about.
    Used,
    /// What it costs besides, or what goes wrong.
    Cost,
    /// What stays on the chip, or is shared.
    Kept,
    /// What is there and idle.
    Plain,
}

impl Colour {
    fn ink(self) -> &'static str {
        match self {
            Colour::Used => Style::of(0).colour(),
            Colour::Cost => Style::of(1).colour(),
            Colour::Kept => Style::of(2).colour(),
            Colour::Plain => AXIS,
        }
    }

    fn opacity(self) -> f64 {
        match self {
            Colour::Plain => 0.08,
            _ => 0.3,
        }
    }
}

/// A rectangle as a path.
fn rectangle(x: f64, y: f64, width: f64, height: f64) -> String {
    format!("M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}Z")
}
