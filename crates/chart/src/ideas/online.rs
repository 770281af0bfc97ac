//! The online softmax: one walk that keeps a maximum and a sum, and corrects the sum where the maximum grows.

use super::{Colour, Panel, SIDE, Sketch, WIDTH};
use crate::style::AXIS;
use crate::svg::{Anchor, Area};

const ROW: [f64; 7] = [1.0, 0.5, 2.0, 1.5, 3.0, 2.5, 1.0];

/// After an element: the maximum so far, what the sum before is multiplied by, and the sum.
#[derive(Clone, Copy, Debug)]
struct Step {
    maximum: f64,
    factor: f64,
    sum: f64,
}

fn walk(row: &[f64]) -> Vec<Step> {
    let mut now = Step { maximum: f64::NEG_INFINITY, factor: 1.0, sum: 0.0 };
    let mut steps = Vec::new();
    for &x in row {
        let maximum = now.maximum.max(x);
        let factor = if maximum > now.maximum { (now.maximum - maximum).exp() } else { 1.0 };
        now = Step { maximum, factor, sum: now.sum * factor + (x - maximum).exp() };
        steps.push(now);
    }
    steps
}

pub(super) fn panels() -> Vec<Panel> {
    let steps = walk(&ROW);
    let mut sketch = Sketch::new("Online softmax: one walk over a row");
    let left = 60.0;
    let width = (WIDTH - SIDE - left) / ROW.len() as f64;
    let middle = |at: usize| left + width * (at as f64 + 0.5);
    let (top, high) = (sketch.y + 8.0, 84.0);
    let largest = ROW.iter().copied().fold(0.0, f64::max);
    let y = |value: f64| top + high * (1.0 - value / largest);
    for (at, &x) in ROW.iter().enumerate() {
        let area = Area { x: middle(at) - 11.0, y: y(x), width: 22.0, height: top + high - y(x) };
        sketch.cell(area, Colour::Used, "");
    }
    // The maximum so far is a line that only rises.
    let mut path = String::new();
    for (at, step) in steps.iter().enumerate() {
        let (from, to) = (left + width * at as f64, left + width * (at as f64 + 1.0));
        path += &format!(
            "{}{from:.1} {:.1}L{to:.1} {:.1}",
            if at == 0 { 'M' } else { 'L' },
            y(step.maximum),
            y(step.maximum)
        );
    }
    sketch.svg.stroke(&path, Colour::Cost.ink(), 2.4, "");
    sketch.line((left, top + high), (WIDTH - SIDE, top + high), 1.2, "");
    sketch.y = top + high + 4.0;
    let grows = |at: usize| at > 0 && steps[at].factor < 1.0;
    let rows: [(&str, Vec<String>); 4] = [
        ("x", ROW.map(|x| format!("{x:.1}")).to_vec()),
        ("m", steps.iter().map(|step| format!("{:.1}", step.maximum)).collect()),
        (
            "sum ×",
            (0..steps.len()).map(|at| if grows(at) { format!("{:.2}", steps[at].factor) } else { "".into() }).collect(),
        ),
        ("sum", steps.iter().map(|step| format!("{:.2}", step.sum)).collect()),
    ];
    for (at, _) in steps.iter().enumerate().filter(|(at, _)| grows(*at)) {
        let path = super::rectangle(middle(at) - width / 2.0, sketch.y, width, 4.0 * 22.0 + 2.0);
        sketch.svg.fill(&path, Colour::Cost.ink(), 0.18);
    }
    for (name, values) in rows {
        sketch.y += 22.0;
        sketch.bold(left - 6.0, sketch.y - 6.0, Anchor::End, name);
        for (at, value) in values.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
            sketch.text(middle(at), sketch.y - 6.0, Anchor::Middle, value);
        }
    }
    sketch.svg.stroke(&format!("M{SIDE} {:.1}H{:.1}", sketch.y + 2.0, WIDTH - SIDE), AXIS, 1.0, "");
    sketch.y += 4.0;
    let last = steps[steps.len() - 1];
    let says = format!(
        "Where the maximum m grows, the sum so far is multiplied by exp(old m − new m). At the end the sum is {:.2}. It is the same as if the maximum had been known before the walk.",
        last.sum
    );
    sketch.say(&says);
    let words = format!("Seven values from left to right: {ROW:?}. {says}");
    vec![sketch.finish("online-softmax", &words)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_walk_finds_what_two_find() {
        let last = walk(&ROW)[ROW.len() - 1];
        let maximum = ROW.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = ROW.iter().map(|x| (x - maximum).exp()).sum();
        assert_eq!(last.maximum, maximum);
        assert!((last.sum - sum).abs() < 1e-12);
    }
}
