//! Which tiles of scores a causal mask leaves, and in which order blocks of such different length should begin.

use super::{Colour, LINE, Panel, SIDE, Sketch, WIDTH};
use crate::svg::{Anchor, Area};

/// Tokens, and queries and keys of a tile.
const TOKENS: usize = 512;
const TILE: usize = 64;
const TILES: usize = TOKENS / TILE;

/// Heads and multiprocessors of the second picture, each of which has one block at a time.
const HEADS: usize = 2;
const SMS: usize = 4;

/// What becomes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tile {
    Skipped,
    /// Some of its scores count.
    Partial,
    Whole,
}

impl Tile {
    /// Query i sees keys 0 to i.
    fn of(row: usize, column: usize) -> Tile {
        let (first_query, first_key) = (row * TILE, column * TILE);
        let (last_query, last_key) = (first_query + TILE - 1, first_key + TILE - 1);
        match () {
            () if first_key > last_query => Tile::Skipped,
            () if last_key <= first_query => Tile::Whole,
            () => Tile::Partial,
        }
    }

    fn colour(self) -> Colour {
        match self {
            Tile::Skipped => Colour::Plain,
            Tile::Partial => Colour::Cost,
            Tile::Whole => Colour::Used,
        }
    }
}

/// Tiles of a block's row that are needed.
fn needed(row: usize) -> usize {
    (0..TILES).filter(|&column| Tile::of(row, column) != Tile::Skipped).count()
}

pub(super) fn panels() -> Vec<Panel> {
    vec![tiles(), order()]
}

fn tiles() -> Panel {
    let mut sketch = Sketch::new("Tiles of scores under a causal mask");
    let (left, cell) = (SIDE + 96.0, 26.0);
    sketch.text(left - 8.0, sketch.y + 14.0, Anchor::End, "queries");
    let middle = left + cell * TILES as f64 / 2.0;
    sketch.text(middle, sketch.y + 14.0, Anchor::Middle, &format!("keys, {TILE} per tile"));
    let top = sketch.y + 22.0;
    let mut counts = [0; 3];
    for row in 0..TILES {
        let y = top + cell * row as f64;
        let queries = format!("{} to {}", row * TILE, (row + 1) * TILE - 1);
        sketch.text(left - 8.0, y + 17.0, Anchor::End, &queries);
        for column in 0..TILES {
            let tile = Tile::of(row, column);
            counts[tile as usize] += 1;
            let area = Area { x: left + cell * column as f64, y, width: cell - 2.0, height: cell - 2.0 };
            sketch.cell(area, tile.colour(), "");
        }
    }
    sketch.y = top + cell * TILES as f64 + 2.0;
    let [skipped, partial, whole] = counts;
    let says = format!(
        "{TOKENS} queries, each row of tiles one block's. Blue: {whole} tiles whose scores all count. Orange: {partial} tiles in which each score is compared with \
         the mask. Grey: {skipped} tiles that are neither read nor multiplied."
    );
    sketch.say(&says);
    sketch.finish("mask-tiles", &format!("A square of {TILES} x {TILES} tiles. {says}"))
}

/// Blocks in the order in which they begin, each with its tiles, on multiprocessors that take the next one when they are free: where and from when
/// on each runs.
fn schedule(blocks: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut free = [0; SMS];
    let place = |&tiles: &usize| {
        let sm = (0..SMS).min_by_key(|&sm| free[sm]).unwrap_or(0);
        let from = free[sm];
        free[sm] += tiles;
        (sm, from, tiles)
    };
    blocks.iter().map(place).collect()
}

/// When the last block ends.
fn end(schedule: &[(usize, usize, usize)]) -> usize {
    schedule.iter().map(|(_, from, tiles)| from + tiles).max().unwrap_or(0)
}

/// The blocks of one head after the other, from the first queries to the last; and those of all heads from the last to the first.
fn orders() -> [Vec<usize>; 2] {
    let by_head = (0..HEADS).flat_map(|_| (0..TILES).map(needed)).collect();
    let longest_first = (0..TILES).rev().flat_map(|row| [needed(row); HEADS]).collect();
    [by_head, longest_first]
}

fn order() -> Panel {
    let mut sketch = Sketch::new("Which blocks begin first");
    let schedules = orders().map(|blocks| schedule(&blocks));
    let ends = [0, 1].map(|at| end(&schedules[at]));
    let (left, height) = (SIDE + 42.0, 20.0);
    let unit = (WIDTH - SIDE - left) / ends.into_iter().max().unwrap_or(1) as f64;
    let names = ["Head by head, first queries first", "The longest blocks of all heads first"];
    for ((name, schedule), end) in names.iter().zip(&schedules).zip(ends) {
        sketch.bold(SIDE, sketch.y + 14.0, Anchor::Start, name);
        let top = sketch.y + 22.0;
        for sm in 0..SMS {
            sketch.text(SIDE, top + height * sm as f64 + 13.5, Anchor::Start, &format!("SM {sm}"));
        }
        for &(sm, from, tiles) in schedule {
            let area = Area {
                x: left + unit * from as f64,
                y: top + height * sm as f64,
                width: unit * tiles as f64 - 1.5,
                height: height - 2.0,
            };
            let ends_it = from + tiles == end;
            sketch.cell(area, if ends_it { Colour::Cost } else { Colour::Used }, &tiles.to_string());
        }
        sketch.y = top + height * SMS as f64 + 4.0;
        sketch.text(left + unit * end as f64, sketch.y + 8.0, Anchor::End, &format!("ends after {end} tiles"));
        sketch.y += LINE;
    }
    let tiles: usize = orders()[0].iter().sum();
    let says = format!(
        "{HEADS} heads of {TOKENS} queries: {tiles} tiles on {SMS} SMs, at least {} each. A number is a block's tiles. A block takes the first SM that is \
         free.",
        tiles.div_ceil(SMS)
    );
    sketch.say(&says);
    let words = format!("{says} {}: {} tiles. {}: {} tiles.", names[0], ends[0], names[1], ends[1]);
    sketch.finish("mask-order", &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_what_its_scores_say() {
        for (row, column) in (0..TILES).flat_map(|row| (0..TILES).map(move |column| (row, column))) {
            let scores = (0..TILE * TILE).map(|at| (row * TILE + at / TILE, column * TILE + at % TILE));
            let seen = scores.filter(|(query, key)| key <= query).count();
            let told = match seen {
                0 => Tile::Skipped,
                all if all == TILE * TILE => Tile::Whole,
                _ => Tile::Partial,
            };
            assert_eq!(Tile::of(row, column), told, "{row} {column}");
        }
    }

    #[test]
    fn long_blocks_at_the_end_cost_time() {
        let [by_head, longest_first] = orders().map(|blocks| end(&schedule(&blocks)));
        assert_eq!((by_head, longest_first), (21, 18));
    }
}
