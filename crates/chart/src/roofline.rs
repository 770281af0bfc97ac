//! The roofline: what a device allows at an arithmetic intensity, and what kernels reach.
//!
//! Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", 2009.

use crate::axis::shown;
use crate::frame::{self, Plot, Sign};
use crate::heading::Heading;
use crate::labels::{Labels, Placed};
use crate::quantity::{Quantity, digits};
use crate::style::{AXIS, Style};
use crate::svg::{Anchor, Area, SMALL, Svg, text_width};

/// A roofline with points for variants. Both axes are logarithmic.
#[derive(Clone, Debug)]
pub struct Roofline {
    pub heading: Heading,
    /// Slopes, in bytes a second: DRAM, or DRAM and L2. The lowest is the one that ridges and the shares in the legend use.
    pub bandwidths: Vec<Ceiling>,
    /// Flat roofs, in FLOP a second. The lowest is the one that the shares in the legend use.
    pub peaks: Vec<Ceiling>,
    pub points: Vec<RooflinePoint>,
}

/// A limit of the device.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// `DRAM`, `float32 FMA`.
    pub label: String,
    /// In bytes or FLOP a second.
    pub value: f64,
}

/// One variant of a kernel.
#[derive(Clone, Debug)]
pub struct RooflinePoint {
    pub label: String,
    /// Arithmetic intensity in FLOP a byte of DRAM.
    pub intensity: f64,
    /// FLOP a second.
    pub rate: f64,
}

/// What the roof is in FLOP/s at this intensity: `min(peak, intensity * bandwidth)`.
fn roof(peak: f64, bandwidth: f64, intensity: f64) -> f64 {
    peak.min(intensity * bandwidth)
}

impl Roofline {
    /// The picture as SVG.
    pub fn render(&self) -> String {
        let mut svg = Svg::default();
        let top = frame::heading(&mut svg, &self.heading);
        let names: Vec<String> = self.points.iter().map(|point| self.legend(point)).collect();
        let top = frame::legend(&mut svg, top, Sign::Marker, &names);
        let plot = self.plot(top);
        let intensity = Quantity::new("arithmetic intensity, FLOP a byte", "FLOP/B");
        let rate = Quantity::new("FLOP a second", "FLOP/s");
        plot.draw(&mut svg, &Quantity::count(intensity.name.clone()), &rate);
        let mut labels = Labels::within(plot.area);
        self.draw_roofs(&mut svg, &plot, &mut labels, &rate);
        self.draw_ridges(&mut svg, &plot, &mut labels, &intensity);
        self.draw_points(&mut svg, &plot, &mut labels);
        svg.finish(plot.bottom(), &self.heading, &self.describe())
    }

    /// The lowest peak and bandwidth, where there are both.
    fn binding(&self) -> Option<(f64, f64)> {
        let lowest = |ceilings: &[Ceiling]| {
            ceilings.iter().map(|ceiling| ceiling.value).filter(|&value| shown(value)).min_by(f64::total_cmp)
        };
        Some((lowest(&self.peaks)?, lowest(&self.bandwidths)?)).filter(|(peak, bandwidth)| shown(peak / bandwidth))
    }

    fn plot(&self, top: f64) -> Plot {
        let points = || self.points.iter().filter(|point| shown(point.intensity) && shown(point.rate));
        // Each roof begins in the picture.
        let bandwidth = self.binding().map(|(_, bandwidth)| bandwidth);
        let ridges = bandwidth.into_iter().flat_map(|slope| self.peaks.iter().map(move |peak| peak.value / slope));
        let xs = points().map(|point| point.intensity).chain(ridges.flat_map(|ridge| [ridge, ridge * 4.0]));
        let highest = self.peaks.iter().map(|peak| peak.value * 1.5);
        let left = points().map(|point| point.intensity).fold(f64::INFINITY, f64::min);
        let on_roof = self.binding().map(|(peak, bandwidth)| roof(peak, bandwidth, left)).filter(|&rate| shown(rate));
        let ys = points().map(|point| point.rate).chain(highest).chain(on_roof);
        Plot::new(top, xs, ys)
    }

    fn draw_roofs(&self, svg: &mut Svg, plot: &Plot, labels: &mut Labels, rate: &Quantity) {
        let visible = |ceilings: &[Ceiling]| {
            ceilings.iter().map(|ceiling| ceiling.value).filter(|&value| shown(value)).max_by(f64::total_cmp)
        };
        let (highest, widest) = (visible(&self.peaks), visible(&self.bandwidths));
        let (left, right) = (plot.x.low(), plot.x.high());
        for peak in self.peaks.iter().filter(|peak| shown(peak.value)) {
            let from = widest.map_or(left, |bandwidth| (peak.value / bandwidth).clamp(left, right));
            let y = plot.y.place(peak.value);
            let (x1, x2) = (plot.x.place(from), plot.x.place(right));
            svg.stroke(&format!("M{x1:.1} {y:.1}H{x2:.1}"), AXIS, 2.0, "");
            labels.take_line((x1, y), (x2, y));
            let text = format!("{} {}", peak.label, rate.format(peak.value));
            let text = crate::svg::shorten(&text, SMALL, plot.area.width);
            svg.text(x2, y - 6.0, Anchor::End, SMALL, &text);
            labels.take(Area::of_text(x2, y - 6.0, Anchor::End, SMALL, &text));
        }
        for bandwidth in self.bandwidths.iter().filter(|bandwidth| shown(bandwidth.value)) {
            // From where the slope enters the plot to the highest roof, or to where it leaves.
            let from = (plot.y.low() / bandwidth.value).max(left);
            let until = highest.unwrap_or(plot.y.high()).min(plot.y.high());
            let to = (until / bandwidth.value).min(right);
            if !(shown(from) && shown(to) && from < to) {
                continue;
            }
            let (x1, y1) = (plot.x.place(from), plot.y.place(from * bandwidth.value));
            let (x2, y2) = (plot.x.place(to), plot.y.place(to * bandwidth.value));
            svg.stroke(&format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"), AXIS, 2.0, "");
            labels.take_line((x1, y1), (x2, y2));
            self.label_slope(svg, labels, bandwidth, (x1, y1), (x2, y2));
        }
    }

    /// Writes a slope's name along its middle, where it is long enough for it.
    fn label_slope(
        &self,
        svg: &mut Svg,
        labels: &mut Labels,
        of: &Ceiling,
        (x1, y1): (f64, f64),
        (x2, y2): (f64, f64),
    ) {
        let text = format!("{} {}", of.label, Quantity::bytes_per_second("").format(of.value));
        let (dx, dy) = (x2 - x1, y2 - y1);
        let length = dx.hypot(dy);
        let width = text_width(&text, SMALL);
        if width + 20.0 > length {
            return;
        }
        // Seven units above the line, at its middle.
        let (ux, uy) = (dx / length, dy / length);
        let (x, y) = ((x1 + x2) / 2.0 + 7.0 * uy, (y1 + y2) / 2.0 - 7.0 * ux);
        let turn = dy.atan2(dx).to_degrees();
        let more = format!(" transform=\"rotate({turn:.1} {x:.1} {y:.1})\"");
        svg.styled_text(x, y, Anchor::Middle, SMALL, &text, &more);
        let (half_x, half_y) = (ux * width / 2.0, uy * width / 2.0);
        let (x, y) = (x + 4.0 * uy, y - 4.0 * ux);
        labels.take_line((x - half_x, y - half_y), (x + half_x, y + half_y));
    }

    /// Where each roof meets the lowest bandwidth: dotted lines, and their names beside them.
    fn draw_ridges(&self, svg: &mut Svg, plot: &Plot, labels: &mut Labels, intensity: &Quantity) {
        let Some((_, bandwidth)) = self.binding() else { return };
        let (right, bottom) = (plot.area.x + plot.area.width, plot.area.y + plot.area.height);
        let peaks = self.peaks.iter().map(|peak| peak.value);
        let peaks: Vec<f64> = peaks.filter(|&peak| shown(peak) && shown(peak / bandwidth)).collect();
        for &peak in &peaks {
            let (x, top) = (plot.x.place(peak / bandwidth), plot.y.place(peak));
            svg.stroke(&format!("M{x:.1} {top:.1}V{bottom:.1}"), AXIS, 1.2, "2 4");
            labels.take_line((x, top), (x, bottom));
        }
        for ridge in peaks.iter().map(|peak| peak / bandwidth) {
            let x = plot.x.place(ridge);
            let text = format!("ridge {}", intensity.format(ridge));
            let mut sides = [(x + 6.0, Anchor::Start), (x - 6.0, Anchor::End)];
            if x + 8.0 + text_width(&text, SMALL) >= right {
                sides.reverse();
            }
            let row = |up: f64| sides.map(|(x, anchor)| Placed { x, y: bottom - 8.0 - up, anchor });
            let rows = [0.0, 16.0, 32.0].map(row);
            // Only several ridges are in each other's way.
            let places = if peaks.len() > 1 { rows.as_flattened() } else { &rows[0][..1] };
            let at = labels.place_at(places, &text).unwrap_or(rows[0][0]);
            svg.text(at.x, at.y, at.anchor, SMALL, &text);
            labels.take(Area::of_text(at.x, at.y, at.anchor, SMALL, &text));
        }
    }

    fn draw_points(&self, svg: &mut Svg, plot: &Plot, labels: &mut Labels) {
        let places: Vec<(usize, &RooflinePoint, f64, f64)> = self
            .points
            .iter()
            .enumerate()
            .filter(|(_, point)| shown(point.intensity) && shown(point.rate))
            .map(|(place, point)| (place, point, plot.x.place(point.intensity), plot.y.place(point.rate)))
            .collect();
        for &(place, _, x, y) in &places {
            labels.take_marker(x, y);
            svg.marker(&Style::of(place).marker(x, y), Style::of(place).colour());
        }
        for (_, point, x, y) in places {
            if let Some(at) = labels.place(x, y, &point.label) {
                svg.text(at.x, at.y, at.anchor, SMALL, &point.label);
            }
        }
    }

    /// A point's name with what it reaches: `fused: 0.67 FLOP/B, 2.1 TFLOP/s, 78% of the roof`.
    fn legend(&self, point: &RooflinePoint) -> String {
        if !(shown(point.intensity) && shown(point.rate)) {
            return format!("{}: no value", point.label);
        }
        let rate = Quantity::new("", "FLOP/s").format(point.rate);
        let share = self.binding().map(|(peak, bandwidth)| point.rate / roof(peak, bandwidth, point.intensity));
        let share = share.filter(|&share| shown(share) && share < 1e6);
        let share = share.map(|share| format!(", {:.0}% of the roof", share * 100.0)).unwrap_or_default();
        format!("{}: {} FLOP/B, {rate}{share}", point.label, digits_or_power(point.intensity))
    }

    fn describe(&self) -> String {
        let mut text = "Roofline on logarithmic axes: FLOP a second over FLOP a byte.".to_owned();
        let rate = Quantity::new("", "FLOP/s");
        for (ceilings, unit) in [(&self.bandwidths, Quantity::bytes_per_second("")), (&self.peaks, rate)] {
            for ceiling in ceilings.iter().filter(|ceiling| shown(ceiling.value)) {
                text.push_str(&format!(" Ceiling {}: {}.", ceiling.label, unit.format(ceiling.value)));
            }
        }
        for point in &self.points {
            text.push_str(&format!(" {}.", self.legend(point)));
        }
        text
    }
}

fn digits_or_power(value: f64) -> String {
    if (1e-3..1e6).contains(&value) { digits(value) } else { format!("{value:.0e}") }
}
