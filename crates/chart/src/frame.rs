//! What the pictures share: heading, legend, axes with their grid.

use crate::axis::LogAxis;
use crate::heading::Heading;
use crate::quantity::Quantity;
use crate::style::{AXIS, GRID, Style};
use crate::svg::{Anchor, Area, BOLD, SMALL, Svg, WIDTH, shorten, text_width, wrap};

const TITLE: f64 = 16.0;
const MARGIN: f64 = 12.0;
const ROW: f64 = 20.0;

/// Writes the title and its small print. Returns where the next thing may begin.
pub(crate) fn heading(svg: &mut Svg, heading: &Heading) -> f64 {
    let mut y = 8.0;
    for line in wrap(&heading.full_title(), TITLE * BOLD, WIDTH - 2.0 * MARGIN) {
        y += ROW;
        svg.styled_text(MARGIN, y - 4.0, Anchor::Start, TITLE, &line, " font-weight=\"600\"");
    }
    for line in wrap(&heading.source, SMALL, WIDTH - 2.0 * MARGIN) {
        y += ROW * 0.85;
        svg.text(MARGIN, y - 4.0, Anchor::Start, SMALL, &line);
    }
    y + 4.0
}

/// How a legend shows what belongs to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A line with the marker on it.
    Line,
    Marker,
    Box,
    /// A line as thick as those that it stands for.
    Stroke,
}

/// Writes a legend in rows. Returns where the next thing may begin.
pub(crate) fn legend(svg: &mut Svg, top: f64, sign: Sign, names: &[String]) -> f64 {
    // Room for the sign before its text.
    let before = match sign {
        Sign::Line => 36.0,
        Sign::Marker => 16.0,
        Sign::Box | Sign::Stroke => 24.0,
    };
    let room = WIDTH - 2.0 * MARGIN - before;
    let (mut x, mut y) = (MARGIN, top);
    for (place, name) in names.iter().enumerate() {
        let name = shorten(name, SMALL, room);
        let width = before + text_width(&name, SMALL) + 14.0;
        if x > MARGIN && x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + ROW);
        }
        let (style, middle) = (Style::of(place), y + ROW / 2.0);
        match sign {
            Sign::Line => {
                svg.stroke(&format!("M{x:.1} {middle:.1}H{:.1}", x + 30.0), style.colour(), 2.0, style.dash());
                svg.marker(&style.marker(x + 15.0, middle), style.colour());
            }
            Sign::Marker => svg.marker(&style.marker(x + 6.0, middle), style.colour()),
            Sign::Box => {
                svg.shade(Area { x, y: middle - 6.0, width: 18.0, height: 12.0 }, style.colour(), 0.4);
            }
            Sign::Stroke => {
                svg.stroke(&format!("M{x:.1} {middle:.1}H{:.1}", x + 18.0), style.colour(), style.thickness(), "");
            }
        }
        svg.text(x + before, middle + 4.4, Anchor::Start, SMALL, &name);
        x += width;
    }
    if names.is_empty() { y } else { y + ROW + 4.0 }
}

/// Two logarithmic axes about an area.
#[derive(Debug)]
pub(crate) struct Plot {
    pub(crate) area: Area,
    pub(crate) x: LogAxis,
    pub(crate) y: LogAxis,
}

impl Plot {
    /// A plot below `top` with room for these values.
    pub(crate) fn new(top: f64, xs: impl Iterator<Item = f64>, ys: impl Iterator<Item = f64>) -> Plot {
        let area = Area { x: 96.0, y: top + 22.0, width: WIDTH - 96.0 - 24.0, height: 300.0 };
        let x = LogAxis::around(xs, area.x, area.x + area.width);
        let y = LogAxis::around(ys, area.y + area.height, area.y);
        Plot { area, x, y }
    }

    /// The height of a picture that ends with this plot.
    pub(crate) fn bottom(&self) -> f64 {
        self.area.y + self.area.height + 48.0
    }

    /// Writes grid, marks and names. The name of the vertical axis stands above it, where it can be read without turning one's head.
    pub(crate) fn draw(&self, svg: &mut Svg, x: &Quantity, y: &Quantity) {
        let Area { x: left, y: top, width, height } = self.area;
        let (right, bottom) = (left + width, top + height);
        for (at, text) in self.x.ticks(x) {
            svg.stroke(&format!("M{at:.1} {top:.1}V{bottom:.1}"), GRID, 1.0, "");
            svg.text(at, bottom + 17.0, Anchor::Middle, SMALL, &text);
        }
        for (at, text) in self.y.ticks(y) {
            svg.stroke(&format!("M{left:.1} {at:.1}H{right:.1}"), GRID, 1.0, "");
            svg.text(left - 7.0, at + 4.4, Anchor::End, SMALL, &text);
        }
        svg.stroke(&format!("M{left:.1} {top:.1}V{bottom:.1}H{right:.1}"), AXIS, 1.2, "");
        svg.text((left + right) / 2.0, bottom + 37.0, Anchor::Middle, 13.0, &shorten(&x.name, 13.0, width));
        svg.text(MARGIN, top - 9.0, Anchor::Start, 13.0, &shorten(&y.name, 13.0, WIDTH - 2.0 * MARGIN));
    }
}
