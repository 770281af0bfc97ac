//! Time, or GB/s, over size.

use crate::axis::shown;
use crate::frame::{self, Plot, Sign};
use crate::heading::Heading;
use crate::labels::{Labels, Placed};
use crate::quantity::Quantity;
use crate::style::{AXIS, Style};
use crate::svg::{Anchor, Area, SMALL, Svg, shorten};

/// Lines over a logarithmic axis of sizes; the values' axis is logarithmic, too.
#[derive(Clone, Debug)]
pub struct LineChart {
    pub heading: Heading,
    /// What goes to the right: usually `Quantity::count("elements")`.
    pub x: Quantity,
    /// What goes up: `Quantity::seconds("time")` or `Quantity::bytes_per_second("bytes moved a second")`.
    pub y: Quantity,
    pub series: Vec<Series>,
    /// Horizontal lines to compare with, such as a copy's speed.
    pub rules: Vec<Rule>,
}

/// One line: a name and its points in the axes' units, in the order in which they are joined. Points that a logarithmic axis cannot show are
/// left out.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// A horizontal line with its name.
#[derive(Clone, Debug)]
pub struct Rule {
    pub label: String,
    /// In the unit of the vertical axis.
    pub value: f64,
}

impl LineChart {
    /// The picture as SVG.
    pub fn render(&self) -> String {
        let mut svg = Svg::default();
        let top = frame::heading(&mut svg, &self.heading);
        let names: Vec<String> = self.series.iter().map(|series| series.name.clone()).collect();
        let top = frame::legend(&mut svg, top, Sign::Line, &names);
        let points = || self.series.iter().flat_map(|series| &series.points).filter(|(x, y)| shown(*x) && shown(*y));
        let rules = self.rules.iter().map(|rule| rule.value);
        let plot = Plot::new(top, points().map(|&(x, _)| x), points().map(|&(_, y)| y).chain(rules));
        plot.draw(&mut svg, &self.x, &self.y);
        let mut labels = Labels::within(plot.area);
        for places in self.series.iter().map(|series| places(&plot, series)) {
            places.iter().for_each(|&(x, y)| labels.take_marker(x, y));
            places.windows(2).for_each(|ends| labels.take_line(ends[0], ends[1]));
        }
        for rule in self.rules.iter().filter(|rule| shown(rule.value)) {
            self.draw_rule(&mut svg, &plot, &mut labels, rule);
        }
        for (place, series) in self.series.iter().enumerate() {
            draw_series(&mut svg, &plot, Style::of(place), series);
        }
        svg.finish(plot.bottom(), &self.heading, &self.describe())
    }

    /// Writes the line, and its name at either end, above or below, where nothing else is; above the left end if nowhere.
    fn draw_rule(&self, svg: &mut Svg, plot: &Plot, labels: &mut Labels, rule: &Rule) {
        let Area { x, width, .. } = plot.area;
        let y = plot.y.place(rule.value);
        svg.stroke(&format!("M{x:.1} {y:.1}H{:.1}", x + width), AXIS, 1.4, "4 4");
        let text = format!("{} {}", rule.label, self.y.format(rule.value));
        let text = shorten(&text, SMALL, width - 12.0);
        let (left, right) = ((x + 6.0, Anchor::Start), (x + width - 6.0, Anchor::End));
        let ends = [left, right].map(|(x, anchor)| [-5.0, 15.0].map(|dy| Placed { x, y: y + dy, anchor }));
        let fallback = Placed { x: left.0, y: y - 5.0, anchor: left.1 };
        let at = labels.place_at(ends.as_flattened(), &text).unwrap_or(fallback);
        svg.text(at.x, at.y, at.anchor, SMALL, &text);
    }

    /// What a screen reader says: each line's ends.
    fn describe(&self) -> String {
        let mut text = format!("{} over {}.", self.y.name, self.x.name);
        for series in &self.series {
            let mut shown = series.points.iter().filter(|(x, y)| shown(*x) && shown(*y));
            let say = |&(x, y): &(f64, f64)| format!("{} at {}", self.y.format(y), self.x.format(x));
            match (shown.next(), shown.next_back()) {
                (Some(first), Some(last)) => {
                    text.push_str(&format!(" {}: {} to {}.", series.name, say(first), say(last)));
                }
                (Some(only), None) => text.push_str(&format!(" {}: {}.", series.name, say(only))),
                _ => text.push_str(&format!(" {}: no values.", series.name)),
            }
        }
        for rule in self.rules.iter().filter(|rule| shown(rule.value)) {
            text.push_str(&format!(" {}: {}.", rule.label, self.y.format(rule.value)));
        }
        text
    }
}

/// Where the points are that the axes can show.
fn places(plot: &Plot, series: &Series) -> Vec<(f64, f64)> {
    let visible = series.points.iter().filter(|(x, y)| shown(*x) && shown(*y));
    visible.map(|&(x, y)| (plot.x.place(x), plot.y.place(y))).collect()
}

fn draw_series(svg: &mut Svg, plot: &Plot, style: Style, series: &Series) {
    let places = places(plot, series);
    if places.len() > 1 {
        let mut path = String::new();
        for (at, (x, y)) in places.iter().enumerate() {
            path.push_str(&format!("{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" }));
        }
        svg.stroke(&path, style.colour(), 2.0, style.dash());
    }
    for (x, y) in places {
        svg.marker(&style.marker(x, y), style.colour());
    }
}
