//! A loop over tiles that asks for the next ones early, or does not.

use super::{Colour, Panel, SIDE, Sketch, WIDTH, rectangle};
use crate::style::{AXIS, GRID};
use crate::svg::Anchor;

/// Clocks until a tile is there, and of the work on it.
const FETCH: u32 = 75;
const WORK: u32 = 25;
/// Clocks and tiles that are shown.
const CLOCKS: u32 = 250;
const TILES: usize = 8;

/// When each tile was asked for, came, and was done with. A buffer is free again when the work on its tile has ended.
fn schedule(buffers: usize) -> Vec<[u32; 3]> {
    let mut tiles: Vec<[u32; 3]> = Vec::new();
    for tile in 0..TILES {
        let done = |tile: usize| tiles.get(tile).map_or(0, |times| times[2]);
        let asked = tile.checked_sub(buffers).map_or(0, done);
        let begun = (asked + FETCH).max(tile.checked_sub(1).map_or(0, done));
        tiles.push([asked, asked + FETCH, begun + WORK]);
    }
    tiles
}

/// Clocks from tile to tile, once the first have come: what the work takes, or its share of a wait.
fn each(buffers: usize) -> u32 {
    WORK.max((FETCH + WORK).div_ceil(buffers as u32))
}

pub(super) fn panels() -> Vec<Panel> {
    [1, 2, 4].map(panel).into()
}

fn panel(buffers: usize) -> Panel {
    let tiles = schedule(buffers);
    let name = if buffers == 1 { "1 buffer".to_owned() } else { format!("{buffers} buffers") };
    let mut sketch = Sketch::new(&name);
    let (left, row) = (62.0, 16.0);
    let unit = (WIDTH - SIDE - left) / f64::from(CLOCKS);
    let at = |clock: u32| left + unit * f64::from(clock.min(CLOCKS));
    let top = sketch.y + 2.0;
    let bottom = top + row * TILES as f64 + 28.0;
    let ticks = (0..=CLOCKS).step_by((FETCH + WORK) as usize);
    let grid: String = ticks.clone().map(|tick| format!("M{:.1} {top:.1}V{bottom:.1}", at(tick))).collect();
    sketch.svg.stroke(&grid, GRID, 1.0, "");
    let (mut work, mut waits, mut all) = (String::new(), String::new(), String::new());
    for (tile, &[asked, came, done]) in tiles.iter().enumerate() {
        let y = top + row * tile as f64;
        sketch.text(left - 6.0, y + row / 2.0 + 4.5, Anchor::End, &format!("tile {tile}"));
        if asked < CLOCKS {
            waits += &format!("M{:.1} {:.1}H{:.1}", at(asked), y + row / 2.0, at(came));
        }
        let begun = done - WORK;
        if begun < CLOCKS {
            work += &rectangle(at(begun), y + 2.0, at(done) - at(begun), row - 4.0);
            all += &rectangle(at(begun), bottom - 20.0, at(done) - at(begun), 16.0);
        }
    }
    sketch.svg.stroke(&waits, AXIS, 1.6, "2 3");
    sketch.svg.fill(&work, Colour::Used.ink(), 0.85);
    sketch.svg.stroke(&rectangle(left, bottom - 20.0, at(CLOCKS) - left, 16.0), AXIS, 1.0, "");
    sketch.svg.fill(&all, Colour::Kept.ink(), 0.85);
    sketch.bold(left - 6.0, bottom - 7.5, Anchor::End, "works");
    sketch.y = bottom + 2.0;
    let last = ticks.clone().last();
    for tick in ticks {
        let text = if Some(tick) == last { format!("{tick} clocks") } else { tick.to_string() };
        sketch.text(at(tick), sketch.y + 12.0, Anchor::Middle, &text);
    }
    sketch.y += 22.0;
    let says = format!("A tile every {} clocks.", each(buffers));
    sketch.say(&says);
    let words = format!(
        "{name} for tiles that take {FETCH} clocks to fetch and {WORK} to work on; a buffer is filled again when the work on its \
         tile has ended. {says}"
    );
    sketch.finish(&format!("prefetch-{buffers}"), &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_come_as_often_as_is_said() {
        for buffers in [1, 2, 4, 8] {
            let tiles = schedule(buffers);
            // Over whole rounds of the buffers.
            let (first, last) = (tiles[TILES / 2 - 1][2], tiles[TILES - 1][2]);
            let clocks = f64::from(last - first) / (TILES / 2) as f64;
            assert_eq!(clocks, f64::from(each(buffers)), "{buffers} buffers");
        }
    }
}
