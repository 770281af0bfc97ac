//! From the grid to one lane, and what number its thread has.

use super::{Colour, LINE, Panel, SIDE, Sketch, WIDTH};
use crate::svg::{Anchor, Area};

const BLOCKS: usize = 12;
const WARPS: usize = 8;
const LANES: usize = 32;
/// The one that is followed.
const BLOCK: usize = 5;
const WARP: usize = 2;
const LANE: usize = 7;

pub(super) fn panels() -> Vec<Panel> {
    let threads = WARPS * LANES;
    let mut sketch = Sketch::new("Grid, block, warp, lane");
    sketch.bold(SIDE, sketch.y + 14.0, Anchor::Start, &format!("the grid: {BLOCKS} blocks"));
    sketch.y += 21.0;
    let from = level(&mut sketch, BLOCKS, BLOCK);
    zoom(&mut sketch, from, &format!("block {BLOCK}: {threads} threads, {WARPS} warps"));
    let from = level(&mut sketch, WARPS, WARP);
    zoom(&mut sketch, from, &format!("warp {WARP}: {LANES} lanes"));
    let from = level(&mut sketch, LANES, LANE);
    let x = from.x + from.width / 2.0;
    sketch.line((x, sketch.y), (x, sketch.y + 16.0), 1.2, "");
    sketch.bold(x + 6.0, sketch.y + 18.0, Anchor::Start, &format!("lane {LANE}"));
    sketch.y += 26.0;
    let thread = WARP * LANES + LANE;
    let index = BLOCK * threads + thread;
    for line in [
        format!("threadIdx.x = {WARP} · {LANES} + {LANE} = {thread}"),
        format!("i = {BLOCK} · {threads} + {thread} = {index}"),
    ] {
        sketch.y += LINE;
        sketch.text(SIDE, sketch.y - 3.0, Anchor::Start, &line);
    }
    let words = format!(
        "A grid of {BLOCKS} blocks. Block {BLOCK} has {threads} threads, which are {WARPS} warps of {LANES} lanes. Lane {LANE} of warp {WARP} is \
         thread {thread} of its block and thread {index} of the grid."
    );
    vec![sketch.finish("grid", &words)]
}

/// A row of boxes, of which one stands out. Returns that one.
fn level(sketch: &mut Sketch, count: usize, chosen: usize) -> Area {
    let (top, height) = (sketch.y, 34.0);
    let width = (WIDTH - 2.0 * SIDE) / count as f64;
    let area = |at: usize| Area { x: SIDE + width * at as f64, y: top, width, height };
    for at in 0..count {
        // 32 lanes are too narrow for numbers.
        let number = if width > 20.0 { at.to_string() } else { String::new() };
        sketch.cell(area(at), if at == chosen { Colour::Used } else { Colour::Plain }, &number);
    }
    sketch.y = top + height;
    area(chosen)
}

/// Lines from one box to the ends of the row below it, and between them what that row is.
fn zoom(sketch: &mut Sketch, from: Area, words: &str) {
    let (top, bottom) = (from.y + from.height, from.y + from.height + 62.0);
    let right = from.x + from.width;
    sketch.line((from.x, top), (SIDE, bottom), 1.2, "3 3");
    sketch.line((right, top), (WIDTH - SIDE, bottom), 1.2, "3 3");
    // At this height, the middle between the two lines.
    let share = 0.8;
    let middle = (1.0 - share) * (from.x + right) / 2.0 + share * WIDTH / 2.0;
    sketch.bold(middle, bottom - 7.0, Anchor::Middle, words);
    sketch.y = bottom;
}
