//! Blocks on multiprocessors over time: whole waves, and the tail that does not fill one.

use super::{Colour, Panel, SIDE, Sketch, WIDTH};
use crate::style::GRID;
use crate::svg::{Anchor, Area};

const SMS: usize = 4;
/// What the time axis shows, where a long block takes 1.
const END: f64 = 3.0;

/// Where and when each block runs, if an SM holds one at a time: the next goes to the SM that is free first.
fn schedule(blocks: usize, time: f64) -> Vec<(usize, f64)> {
    let mut free = [0.0_f64; SMS];
    let mut places = Vec::new();
    for _ in 0..blocks {
        let Some((sm, at)) = free.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        places.push((sm, at));
        free[sm] = at + time;
    }
    places
}

pub(super) fn panels() -> Vec<Panel> {
    vec![
        panel("waves-full", "8 blocks on 4 SMs", 8, 1.0),
        panel("waves-tail", "9 blocks on 4 SMs", 9, 1.0),
        panel("waves-small", "36 blocks, each a quarter as long", 36, 0.25),
    ]
}

fn panel(name: &str, title: &str, blocks: usize, time: f64) -> Panel {
    let mut sketch = Sketch::new(title);
    let (left, row) = (50.0, 30.0);
    let unit = (WIDTH - SIDE - left) / END;
    let top = sketch.y + 4.0;
    let bottom = top + row * SMS as f64;
    let mut grid = String::new();
    for tick in 0..=END as usize {
        grid += &format!("M{:.1} {top:.1}V{:.1}", left + unit * tick as f64, bottom + 4.0);
    }
    sketch.svg.stroke(&grid, GRID, 1.0, "");
    let places = schedule(blocks, time);
    let end = places.iter().map(|(_, at)| at + time).fold(0.0, f64::max);
    let last = places.iter().map(|(_, at)| *at).fold(0.0, f64::max);
    let full = places.iter().filter(|(_, at)| *at == last).count() == SMS;
    for (block, (sm, at)) in places.iter().enumerate() {
        let area = Area {
            x: left + unit * at + 1.0,
            y: top + row * *sm as f64 + 2.0,
            width: unit * time - 2.0,
            height: row - 4.0,
        };
        let colour = if *at == last && !full { Colour::Cost } else { Colour::Used };
        let number = if unit * time > 30.0 { block.to_string() } else { String::new() };
        sketch.cell(area, colour, &number);
    }
    for sm in 0..SMS {
        sketch.text(left - 6.0, top + row * (sm as f64 + 0.5) + 4.5, Anchor::End, &format!("SM {sm}"));
    }
    sketch.y = bottom + 2.0;
    for tick in 0..=END as usize {
        sketch.text(left + unit * tick as f64, sketch.y + 15.0, Anchor::Middle, &tick.to_string());
    }
    let long = if time < 1.0 { format!("{:.0} blocks on one SM", 1.0 / time) } else { "one block".to_owned() };
    sketch.text(left + unit * END / 2.0, sketch.y + 32.0, Anchor::Middle, &format!("unit: the time of {long}"));
    sketch.y += 39.0;
    let used = 100.0 * blocks as f64 * time / (SMS as f64 * end);
    let says = format!("Done at time {end}. The SMs are busy {used:.0}% of that time.");
    sketch.say(&says);
    sketch.finish(name, &format!("{title}, one at a time on each. {says}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_costs_a_whole_wave() {
        let end = |blocks, time| schedule(blocks, time).iter().map(|(_, at)| at + time).fold(0.0, f64::max);
        assert_eq!([end(8, 1.0), end(9, 1.0), end(36, 0.25)], [2.0, 3.0, 2.25]);
    }
}
