//! How many warps it takes to hide what one of them waits for.

use super::{Colour, Panel, SIDE, Sketch, WIDTH, rectangle};
use crate::style::{AXIS, GRID};
use crate::svg::Anchor;

/// Clocks of instructions between two loads, and of the wait for each load.
const WORK: u32 = 10;
const WAIT: u32 = 70;
/// Clocks that are shown.
const CLOCKS: u32 = 240;

/// When each warp issues instructions: a scheduler issues for one warp at a time, and takes the one that has been ready longest.
fn schedule(warps: usize) -> Vec<Vec<(u32, u32)>> {
    let mut ready = vec![0; warps];
    let mut spans = vec![Vec::new(); warps];
    let mut clock = 0;
    while clock < CLOCKS {
        let Some((warp, at)) = ready.iter().copied().enumerate().min_by_key(|&(_, at)| at) else { break };
        let from = clock.max(at);
        let to = from + WORK;
        if from < CLOCKS {
            spans[warp].push((from, to.min(CLOCKS)));
        }
        ready[warp] = to + WAIT;
        clock = to;
    }
    spans
}

/// The share of the time in which instructions are issued, in percent, over whole rounds.
fn busy(spans: &[Vec<(u32, u32)>]) -> u32 {
    let issued: u32 = spans.iter().flatten().map(|(from, to)| to - from).sum();
    100 * issued / CLOCKS
}

pub(super) fn panels() -> Vec<Panel> {
    [2, 8].map(panel).into()
}

fn panel(warps: usize) -> Panel {
    let spans = schedule(warps);
    let mut sketch = Sketch::new(&format!("{warps} warps"));
    let left = 62.0;
    let unit = (WIDTH - SIDE - left) / f64::from(CLOCKS);
    let at = |clock: u32| left + unit * f64::from(clock);
    let (top, row) = (sketch.y + 2.0, if warps > 4 { 16.0 } else { 18.0 });
    let bottom = top + row * warps as f64 + 28.0;
    let mut grid = String::new();
    for tick in (0..=CLOCKS).step_by((WORK + WAIT) as usize) {
        grid += &format!("M{:.1} {top:.1}V{bottom:.1}", at(tick));
    }
    sketch.svg.stroke(&grid, GRID, 1.0, "");
    let (mut work, mut waits, mut all) = (String::new(), String::new(), String::new());
    for (warp, own) in spans.iter().enumerate() {
        let y = top + row * warp as f64;
        sketch.text(left - 6.0, y + row / 2.0 + 4.5, Anchor::End, &format!("warp {warp}"));
        for (from, to) in own {
            work += &rectangle(at(*from), y + 2.0, at(*to) - at(*from), row - 4.0);
            all += &rectangle(at(*from), bottom - 20.0, at(*to) - at(*from), 16.0);
            waits += &format!("M{:.1} {:.1}H{:.1}", at(*to), y + row / 2.0, at((to + WAIT).min(CLOCKS)));
        }
    }
    sketch.svg.stroke(&waits, AXIS, 1.6, "2 3");
    sketch.svg.fill(&work, Colour::Used.ink(), 0.85);
    sketch.svg.stroke(&rectangle(left, bottom - 20.0, at(CLOCKS) - left, 16.0), AXIS, 1.0, "");
    sketch.svg.fill(&all, Colour::Kept.ink(), 0.85);
    sketch.bold(left - 6.0, bottom - 7.5, Anchor::End, "issued");
    sketch.y = bottom + 2.0;
    for tick in (0..=CLOCKS).step_by((WORK + WAIT) as usize) {
        let (anchor, text) = match tick {
            CLOCKS => (Anchor::End, format!("{tick} clocks")),
            _ => (Anchor::Middle, tick.to_string()),
        };
        sketch.text(at(tick), sketch.y + 12.0, anchor, &text);
    }
    sketch.y += 22.0;
    let says = format!("Instructions are issued {}% of the time.", busy(&spans));
    sketch.say(&says);
    let words = format!(
        "{warps} warps, each of which issues instructions for {WORK} clocks and then waits {WAIT} clocks for memory. {says}"
    );
    sketch.finish(&format!("hiding-{warps}"), &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_warps_as_fit_into_the_wait_hide_it() {
        assert_eq!([1, 2, 4, 8, 16].map(|warps| busy(&schedule(warps))), [12, 25, 50, 100, 100]);
    }
}
