//! Which banks a warp needs that reads a column of a tile in shared memory.

use std::collections::BTreeMap;

use super::{Colour, Panel, SIDE, Sketch, WIDTH, rectangle};
use crate::style::{AXIS, GRID};
use crate::svg::Anchor;

const BANKS: usize = 32;
const ROWS: usize = 32;

/// The words that lane 0 to 31 read: the first of each row of this many words.
fn column(pitch: usize) -> impl Iterator<Item = usize> {
    (0..ROWS).map(move |lane| lane * pitch)
}

/// How often the banks are gone through: as often as the busiest one is needed.
fn passes(words: impl Iterator<Item = usize>) -> usize {
    let mut needed: BTreeMap<usize, usize> = BTreeMap::new();
    for word in words {
        *needed.entry(word % BANKS).or_default() += 1;
    }
    needed.values().copied().max().unwrap_or(0)
}

pub(super) fn panels() -> Vec<Panel> {
    vec![panel("banks-conflict", BANKS), panel("banks-padded", BANKS + 1)]
}

fn panel(name: &str, pitch: usize) -> Panel {
    let mut sketch = Sketch::new(&format!("float tile[{ROWS}][{pitch}]"));
    let (cell, height) = ((WIDTH - 2.0 * SIDE) / BANKS as f64, 7.0);
    let top = sketch.y + 20.0;
    sketch.text(SIDE, top - 5.0, Anchor::Start, "bank 0");
    sketch.text(WIDTH - SIDE, top - 5.0, Anchor::End, &format!("bank {}", BANKS - 1));
    let place = |word: usize| (SIDE + cell * (word % BANKS) as f64, top + height * (word / BANKS) as f64);
    let words = ROWS * pitch;
    let rows = words.div_ceil(BANKS);
    let (mut read, mut padding) = (String::new(), String::new());
    for word in column(pitch) {
        let (x, y) = place(word);
        read += &rectangle(x + 0.5, y + 0.5, cell - 1.0, height - 1.0);
    }
    for word in (0..words).filter(|word| word % pitch >= BANKS) {
        let (x, y) = place(word);
        padding += &rectangle(x + 0.5, y + 0.5, cell - 1.0, height - 1.0);
    }
    let mut lines = String::new();
    for bank in (0..=BANKS).step_by(4) {
        lines += &format!("M{:.1} {top:.1}v{:.1}", SIDE + cell * bank as f64, height * rows as f64);
    }
    sketch.svg.stroke(&lines, GRID, 1.0, "");
    sketch.svg.stroke(&rectangle(SIDE, top, cell * BANKS as f64, height * rows as f64), AXIS, 1.2, "");
    let passes = passes(column(pitch));
    let (colour, pads) = if passes > 1 { (Colour::Cost, "") } else { (Colour::Used, "Grey: the padding. ") };
    sketch.svg.fill(&padding, AXIS, 0.55);
    sketch.svg.fill(&read, colour.ink(), 1.0);
    sketch.y = top + height * rows as f64 + 2.0;
    let says = match passes {
        1 => format!("Column 0 has one word in each bank: 1 pass. {pads}"),
        _ => format!("All {ROWS} words of column 0 are in bank 0: {passes} passes."),
    };
    sketch.say(says.trim());
    let words = format!("The words of a tile of {ROWS} rows with {pitch} floats each, by bank. {}", says.trim());
    sketch.finish(name, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_takes_the_conflict_away() {
        assert_eq!([32, 33, 34, 36, 40, 48].map(|pitch| passes(column(pitch))), [32, 1, 2, 4, 8, 16]);
    }
}
