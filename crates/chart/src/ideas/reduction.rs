//! How a warp and a block agree on a sum.

use super::{Colour, Panel, SIDE, Sketch, WIDTH};
use crate::style::AXIS;
use crate::svg::{Anchor, Area};

pub(super) fn panels() -> Vec<Panel> {
    vec![warp(), block()]
}

/// The values of a butterfly: what the lanes hold at first and after each exchange with lane `i ^ d`.
fn butterfly(values: &[u32]) -> Vec<(usize, Vec<u32>)> {
    let mut steps = Vec::new();
    let mut now = values.to_vec();
    let mut distance = values.len() / 2;
    while distance > 0 {
        now = (0..now.len()).map(|lane| now[lane] + now[lane ^ distance]).collect();
        steps.push((distance, now.clone()));
        distance /= 2;
    }
    steps
}

fn warp() -> Panel {
    let values = [3, 1, 4, 1, 5, 9, 2, 6];
    let mut sketch = Sketch::new("In a warp: shuffles (8 lanes shown)");
    let (label, height, gap) = (56.0, 26.0, 40.0);
    let width = (WIDTH - SIDE - label) / values.len() as f64;
    let middle = |lane: usize| label + width * (lane as f64 + 0.5);
    let row = |sketch: &mut Sketch, y: f64, values: &[u32], colour: Colour| {
        for (lane, value) in values.iter().enumerate() {
            let area = Area { x: label + width * lane as f64 + 1.5, y, width: width - 3.0, height };
            sketch.cell(area, colour, &value.to_string());
        }
    };
    let mut y = sketch.y + 4.0;
    sketch.text(SIDE, y + 17.0, Anchor::Start, "values");
    row(&mut sketch, y, &values, Colour::Plain);
    let steps = butterfly(&values);
    let last = steps.len() - 1;
    for (place, (distance, sums)) in steps.iter().enumerate() {
        let (from, to) = (y + height, y + height + gap);
        let mut lines = String::new();
        for lane in 0..values.len() {
            for source in [lane, lane ^ distance] {
                lines += &format!("M{:.1} {from:.1}L{:.1} {to:.1}", middle(source), middle(lane));
            }
        }
        sketch.svg.stroke(&lines, AXIS, 1.1, "");
        sketch.text(SIDE, from + gap / 2.0 + 4.0, Anchor::Start, &format!("xor {distance}"));
        y = to;
        row(&mut sketch, y, sums, if place == last { Colour::Used } else { Colour::Plain });
    }
    sketch.y = y + height + 4.0;
    let says = format!("After {} steps every lane has the sum. 32 lanes take {} steps.", steps.len(), 32u32.ilog2());
    sketch.say(&says);
    let words = format!(
        "Eight lanes hold {values:?}. In each step a lane adds the value of the lane whose number differs in one bit: 4, then 2, then 1. {says}"
    );
    sketch.finish("reduction-warp", &words)
}

fn block() -> Panel {
    // What the four warps of a block would find.
    let sums = [31, 18, 40, 22];
    let total: u32 = sums.iter().sum();
    let mut sketch = Sketch::new("In a block: through shared memory");
    let gap = 8.0;
    let width = (WIDTH - 2.0 * SIDE - 3.0 * gap) / 4.0;
    let left = |at: usize| SIDE + (width + gap) * at as f64;
    let middle = |at: usize| left(at) + width / 2.0;
    let mut y = sketch.y + 4.0;
    for (warp, sum) in sums.iter().enumerate() {
        sketch.cell(Area { x: left(warp), y, width, height: 44.0 }, Colour::Plain, "");
        sketch.text(middle(warp), y + 18.0, Anchor::Middle, &format!("warp {warp}"));
        sketch.bold(middle(warp), y + 35.0, Anchor::Middle, &sum.to_string());
    }
    y += 44.0;
    // The array in shared memory, in one piece.
    let (cell, first) = (46.0, (WIDTH - 4.0 * 46.0) / 2.0);
    for warp in 0..4 {
        sketch.arrow((middle(warp), y + 2.0), (first + cell * (warp as f64 + 0.5), y + 40.0), 1.4, Colour::Kept);
    }
    y += 42.0;
    for (warp, sum) in sums.iter().enumerate() {
        sketch.cell(
            Area { x: first + cell * warp as f64, y, width: cell, height: 28.0 },
            Colour::Kept,
            &sum.to_string(),
        );
    }
    sketch.text(WIDTH / 2.0, y + 44.0, Anchor::Middle, "partial[4] in shared memory");
    y += 80.0;
    sketch.line((SIDE, y), (WIDTH - SIDE, y), 2.0, "6 4");
    sketch.bold(WIDTH / 2.0, y - 9.0, Anchor::Middle, "__syncthreads()");
    let below = y + 46.0;
    for warp in 0..4 {
        sketch.arrow(
            (WIDTH / 2.0 + (warp as f64 - 1.5) * 20.0, y + 6.0),
            (middle(warp), below - 3.0),
            1.4,
            Colour::Kept,
        );
        sketch.cell(Area { x: left(warp), y: below, width, height: 44.0 }, Colour::Used, "");
        sketch.text(middle(warp), below + 18.0, Anchor::Middle, &format!("warp {warp}"));
        sketch.bold(middle(warp), below + 35.0, Anchor::Middle, &total.to_string());
    }
    sketch.y = below + 48.0;
    sketch.say("Every warp reads all four sums and reduces them once more, by shuffles.");
    let words = format!(
        "Four warps write their sums, {sums:?}, to an array in shared memory. All wait at __syncthreads. Then every warp reads the array and finds {total}."
    );
    sketch.finish("reduction-block", &words)
}

#[cfg(test)]
mod tests {
    use super::butterfly;

    #[test]
    fn every_lane_ends_with_the_sum() {
        let steps = butterfly(&[1, 2, 3, 4]);
        assert_eq!(steps, [(2, vec![4, 6, 4, 6]), (1, vec![10; 4])]);
    }
}
