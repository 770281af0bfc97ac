//! Which lane of a warp has which of 16 x 8 sums, and what an epilogue reads for them.

use super::{Colour, Panel, SIDE, Sketch, WIDTH, rectangle};
use crate::style::AXIS;
use crate::svg::{Anchor, Area};

const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// Elements of 2 bytes in a sector.
const SECTOR: usize = 16;
/// The lane that is followed.
const LANE: usize = 5;

/// The lane that has a sum, and which of its four sums that is (PTX ISA, "mma.m16n8k16", the fragment of C).
fn holder(row: usize, column: usize) -> (usize, usize) {
    (row % 8 * 4 + column / 2, row / 8 * 2 + column % 2)
}

/// The rows and columns of a lane's sums.
fn sums(lane: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..ROWS * COLUMNS)
        .map(|at| (at / COLUMNS, at % COLUMNS))
        .filter(move |&(row, column)| holder(row, column).0 == lane)
}

pub(super) fn panels() -> Vec<Panel> {
    vec![lanes(), residual()]
}

fn lanes() -> Panel {
    let mut sketch = Sketch::new("16 x 8 sums, by lane");
    let (left, width, height) = (SIDE + 52.0, 34.0, 17.0);
    let bias = sketch.y + 6.0;
    let top = bias + height + 10.0;
    sketch.text(SIDE, bias + 13.0, Anchor::Start, "bias");
    for column in 0..COLUMNS {
        let area = Area { x: left + width * column as f64, y: bias, width: width - 2.0, height: height - 2.0 };
        let needed = sums(LANE).any(|(_, of)| of == column);
        sketch.cell(area, if needed { Colour::Kept } else { Colour::Plain }, "");
    }
    for row in 0..ROWS {
        let y = top + height * row as f64;
        if row % 8 == 0 || sums(LANE).any(|(of, _)| of == row) {
            sketch.text(SIDE, y + 12.5, Anchor::Start, &format!("row {row}"));
        }
        for column in 0..COLUMNS {
            let (lane, sum) = holder(row, column);
            let area = Area { x: left + width * column as f64, y, width: width - 2.0, height: height - 2.0 };
            match lane == LANE {
                true => sketch.cell(area, Colour::Used, &format!("c{sum}")),
                false => sketch.cell(area, Colour::Plain, &lane.to_string()),
            }
        }
    }
    sketch.y = top + height * ROWS as f64 + 2.0;
    let says = format!("Lane {LANE} has c0 to c3: two columns in two rows. So it needs two elements of the bias.");
    sketch.say(&says);
    let words =
        format!("A table of {ROWS} rows and {COLUMNS} columns with the number of the lane that holds each sum. {says}");
    sketch.finish("fragment-lanes", &words)
}

fn residual() -> Panel {
    let mut sketch = Sketch::new("The residual, by sector");
    let (left, height) = (SIDE + 52.0, 17.0);
    let width = (WIDTH - SIDE - left) / SECTOR as f64;
    let top = sketch.y + 6.0;
    let mut sectors = 0;
    for row in 0..ROWS {
        let y = top + height * row as f64;
        if row % 8 == 0 {
            sketch.text(SIDE, y + 12.5, Anchor::Start, &format!("row {row}"));
        }
        // One access of the warp is to c0 and c1 of all lanes: to the upper eight rows.
        let first = (0..COLUMNS).any(|column| holder(row, column).1 < 2);
        sectors += usize::from(first);
        for column in 0..SECTOR {
            let area = Area { x: left + width * column as f64, y, width: width - 1.0, height: height - 2.0 };
            let colour = match (column < COLUMNS, first) {
                (true, true) => Colour::Used,
                (false, true) => Colour::Cost,
                _ => Colour::Plain,
            };
            sketch.cell(area, colour, "");
        }
        sketch.svg.stroke(&rectangle(left, y, width * SECTOR as f64 - 1.0, height - 2.0), AXIS, 1.0, "");
    }
    sketch.y = top + height * ROWS as f64 + 2.0;
    let says = format!(
        "A row is one sector of {} bytes. One access, for c0 and c1 of all lanes: {sectors} sectors. Blue: the {} bytes of each that are asked for. \
         Orange: what comes with them.",
        2 * SECTOR,
        2 * COLUMNS
    );
    sketch.say(&says);
    let words = format!("{ROWS} rows of the residual, {SECTOR} elements of each. {says}");
    sketch.finish("fragment-residual", &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_has_two_columns_of_two_rows() {
        assert_eq!(sums(LANE).collect::<Vec<_>>(), [(1, 2), (1, 3), (9, 2), (9, 3)]);
        assert_eq!(sums(31).collect::<Vec<_>>(), [(7, 6), (7, 7), (15, 6), (15, 7)]);
        assert!((0..32).all(|lane| sums(lane).map(|(row, column)| holder(row, column).1).eq(0..4)));
    }
}
