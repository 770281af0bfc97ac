//! One value against another that should be the same.

use std::collections::BTreeSet;

use crate::axis::shown;
use crate::frame::{self, Plot, Sign};
use crate::heading::Heading;
use crate::lines::Series;
use crate::quantity::Quantity;
use crate::style::{AXIS, Style};
use crate::svg::{Anchor, SMALL, Svg};

/// Many points on logarithmic axes, with the line on which both values are the same.
#[derive(Clone, Debug)]
pub struct ScatterChart {
    pub heading: Heading,
    pub x: Quantity,
    pub y: Quantity,
    /// No more than two look different.
    pub series: Vec<Series>,
    /// How far off the dashed lines beside that line are: 0.25 for a quarter more or less.
    pub band: f64,
}

impl ScatterChart {
    /// The picture as SVG.
    pub fn render(&self) -> String {
        let mut svg = Svg::default();
        let top = frame::heading(&mut svg, &self.heading);
        let names: Vec<String> =
            self.series.iter().map(|series| format!("{}: {} points", series.name, visible(series).count())).collect();
        let top = frame::legend(&mut svg, top, Sign::Marker, &names);
        let points = || self.series.iter().flat_map(visible);
        let plot = Plot::new(top, points().map(|(x, _)| x), points().map(|(_, y)| y));
        plot.draw(&mut svg, &self.x, &self.y);
        for (times, dash) in [(1.0, ""), (1.0 + self.band, "4 4"), (1.0 / (1.0 + self.band), "4 4")] {
            diagonal(&mut svg, &plot, times, dash);
        }
        let (right, bottom) = (plot.area.x + plot.area.width, plot.area.y + plot.area.height);
        let text = format!("solid: the same; dashed: {:.0}% apart", 100.0 * self.band);
        svg.text(right - 6.0, bottom - 8.0, Anchor::End, SMALL, &text);
        // What is drawn last is not hidden.
        for (place, series) in self.series.iter().enumerate().rev() {
            svg.dots(&dots(&plot, series), Style::of(place).colour(), place == 0);
        }
        svg.finish(plot.bottom(), &self.heading, &self.describe())
    }

    /// What a screen reader says: how many points lie within the band.
    fn describe(&self) -> String {
        let mut text = format!("{} over {}.", self.y.name, self.x.name);
        for series in &self.series {
            let within = visible(series).filter(|(x, y)| (y / x).max(x / y) <= 1.0 + self.band).count();
            let all = visible(series).count();
            text += &format!(" {}: {within} of {all} points within {:.0}%.", series.name, 100.0 * self.band);
        }
        text
    }
}

fn visible(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.points.iter().copied().filter(|(x, y)| shown(*x) && shown(*y))
}

/// The line of all points with a ratio, as far as it is in the plot.
fn diagonal(svg: &mut Svg, plot: &Plot, times: f64, dash: &str) {
    let from = plot.x.low().max(plot.y.low() / times);
    let to = plot.x.high().min(plot.y.high() / times);
    if from < to {
        let at = |x: f64| (plot.x.place(x), plot.y.place(times * x));
        let ((x1, y1), (x2, y2)) = (at(from), at(to));
        svg.stroke(&format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), AXIS, 1.2, dash);
    }
}

/// A path of points. Those that cover each other are one.
fn dots(plot: &Plot, series: &Series) -> String {
    let half = |place: f64| (2.0 * place).round() as i64;
    let places: BTreeSet<(i64, i64)> =
        visible(series).map(|(x, y)| (half(plot.x.place(x)), half(plot.y.place(y)))).collect();
    places.into_iter().map(|(x, y)| format!("M{} {}h0", x as f64 / 2.0, y as f64 / 2.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heading::Basis;

    #[test]
    fn points_lie_on_the_line_where_both_are_the_same() {
        let series = |name: &str, points: &[(f64, f64)]| Series { name: name.into(), points: points.to_vec() };
        let chart = ScatterChart {
            heading: Heading { title: "times".into(), basis: Basis::Predicted, source: String::new() },
            x: Quantity::seconds("measured"),
            y: Quantity::seconds("predicted"),
            series: vec![
                series("new", &[(1e-5, 1e-5), (1e-4, 2e-4), (1e-4, 2e-4), (f64::NAN, 1.0)]),
                series("known", &[(1e-3, 1.1e-3)]),
            ],
            band: 0.25,
        };
        let text = chart.render();
        assert!(text.contains("new: 1 of 3 points within 25%. known: 1 of 1 points within 25%."), "{text}");
        assert!(!text.contains("NaN"));
        let dots = |cap: &str| -> usize {
            let paths = text.split("<path").filter(|path| path.contains(cap));
            paths.map(|path| path.matches("h0").count()).sum()
        };
        assert_eq!((dots("linecap=\"round\""), dots("linecap=\"square\"")), (2, 1));
    }
}
