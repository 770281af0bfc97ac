//! The walk of one block over the tiles of a matrix product, and what it saves.

use super::{Colour, LINE, Panel, SIDE, Sketch, WIDTH};
use crate::svg::{Anchor, Area};

/// Tiles in a column of the left matrix, in the common dimension, and in a row of the right one.
const DOWN: usize = 4;
const COMMON: usize = 5;
const ACROSS: usize = 4;
/// The tile of the result that is followed, and the step that is shown.
const AT: (usize, usize) = (1, 2);
const STEP: usize = 2;

/// The product of the chapter: rows, and columns of both matrices, of 2 bytes each.
const ROWS: u64 = 8192;
const COLUMNS: u64 = 1024;
const BYTES: u64 = 2;

pub(super) fn panels() -> Vec<Panel> {
    vec![walk(), reads()]
}

fn walk() -> Panel {
    let mut sketch = Sketch::new("One block's walk over tiles");
    let cell = 27.0;
    let (left, top) = (SIDE + 12.0, sketch.y + 20.0);
    let (right, below) = (left + cell * COMMON as f64 + 26.0, top + cell * COMMON as f64 + 26.0);
    let tile = |x: f64, y: f64, row: usize, column: usize| Area {
        x: x + cell * column as f64,
        y: y + cell * row as f64,
        width: cell,
        height: cell,
    };
    // The right matrix, the left one, and their product below the one and beside the other.
    for row in 0..COMMON {
        for column in 0..ACROSS {
            paint(&mut sketch, tile(right, top, row, column), column == AT.1, row);
        }
    }
    for row in 0..DOWN {
        for column in 0..COMMON {
            paint(&mut sketch, tile(left, below, row, column), row == AT.0, column);
        }
    }
    for row in 0..DOWN {
        for column in 0..ACROSS {
            let colour = if (row, column) == AT { Colour::Kept } else { Colour::Plain };
            sketch.cell(tile(right, below, row, column), colour, "");
        }
    }
    sketch.bold(right, top - 6.0, Anchor::Start, "W");
    sketch.bold(left, below - 6.0, Anchor::Start, "normed");
    sketch.bold(right, below - 6.0, Anchor::Start, "normed · W");
    // There is room in the corner.
    for (line, words) in
        ["blue: the tiles", "of step 3, now in", "shared memory", "green: the sums,", "in registers"].iter().enumerate()
    {
        sketch.text(left, top + 14.0 + LINE * line as f64, Anchor::Start, words);
    }
    sketch.y = below + cell * DOWN as f64 + 4.0;
    sketch.say(&format!(
        "In {COMMON} steps the block goes along a row of normed and down a column of W. It reads two tiles per step and adds their product to its sums."
    ));
    let words = format!(
        "A block computes one tile of the product. In step 1 to {COMMON} it brings one tile of a row of normed and one tile of a column of W into shared \
         memory and adds their product to the sums that it keeps in registers."
    );
    sketch.finish("tiles-walk", &words)
}

/// A tile of an input: those of the walk have their step's number.
fn paint(sketch: &mut Sketch, area: Area, walked: bool, step: usize) {
    let number = if walked { (step + 1).to_string() } else { String::new() };
    let colour = if walked && step == STEP { Colour::Used } else { Colour::Plain };
    sketch.cell(area, colour, &number);
}

/// Bytes of W that all blocks together read, if a block takes this many rows.
fn read(rows: u64) -> u64 {
    COLUMNS * COLUMNS * BYTES * (ROWS / rows)
}

fn reads() -> Panel {
    let mut sketch = Sketch::new("How often W is read");
    sketch.say(&format!("{ROWS} rows, W of {COLUMNS} x {COLUMNS} numbers of {BYTES} bytes"));
    sketch.y += 6.0;
    let mut words = String::new();
    for rows in [1, 32, 128] {
        let name = if rows == 1 { "1 row per block".to_owned() } else { format!("{rows} rows per block") };
        let says = format!("{} times: {:.2} GB", ROWS / rows, read(rows) as f64 / 1e9);
        sketch.bold(SIDE, sketch.y + 14.0, Anchor::Start, &name);
        sketch.text(WIDTH - SIDE, sketch.y + 14.0, Anchor::End, &says);
        let width = (WIDTH - 2.0 * SIDE) * read(rows) as f64 / read(1) as f64;
        let colour = if rows == 1 { Colour::Cost } else { Colour::Used };
        sketch.cell(Area { x: SIDE, y: sketch.y + 20.0, width, height: 16.0 }, colour, "");
        sketch.y += 46.0;
        words += &format!("{name}: {says}. ");
    }
    sketch.finish("tiles-reads", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w_is_read_once_for_each_block_of_rows() {
        assert_eq!([1, 32, 128].map(read), [17_179_869_184, 536_870_912, 134_217_728]);
    }
}
