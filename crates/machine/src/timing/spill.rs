//! Registers that the assembler keeps in local memory, where a thread may not have as many as it needs.
//!
//! The assembler says how many it stores and loads ([`crate::Resources`]), not where. A kernel that needs many registers has gathered what it
//! needs them for by the middle of its work: here it stores before, and loads behind.

use super::schedule::Ordered;
use crate::code::Place;
use crate::exec::{Line, Step};

/// Puts so many stores and loads of registers between the steps of each warp. `at`: where in the program the two instructions stand.
pub(super) fn insert((stores, loads): (u32, u32), at: u32, lines: &mut Vec<Line>, warps: &mut [Vec<Ordered>]) {
    if stores == 0 {
        return;
    }
    for (warp, steps) in (0..).zip(warps) {
        let first = lines.len() as u32;
        lines.extend((0..stores).map(|register| Line::spilled(warp, register)));
        let spill = |pc: u32, register: u32| {
            let reached = Some(Place::Local);
            let step = Step { pc, first: first + register, lines: 1, lanes: 32, reached, ..Step::default() };
            Ordered { step, operands: pc }
        };
        let middle = steps.len() / 2;
        let mut all = Vec::with_capacity(steps.len() + (stores + loads) as usize);
        let (before, behind) = steps.split_at(middle);
        mix(&mut all, before, (0..stores).map(|register| spill(at, register)));
        mix(&mut all, behind, (0..loads).map(|load| spill(at + 1, load % stores)));
        *steps = all;
    }
}

/// Steps with others evenly between them.
fn mix(all: &mut Vec<Ordered>, steps: &[Ordered], others: impl ExactSizeIterator<Item = Ordered>) {
    let (count, mut done) = (others.len().max(1), 0);
    for (number, other) in others.enumerate() {
        let to = (number + 1) * steps.len() / (count + 1);
        all.extend_from_slice(&steps[done..to]);
        all.push(other);
        done = to;
    }
    all.extend_from_slice(&steps[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_come_before_the_middle_and_loads_behind_it() {
        let step = |pc| Ordered { step: Step { pc, lanes: 32, ..Step::default() }, operands: pc };
        let (mut lines, mut warps) = (Vec::new(), vec![(0..8).map(step).collect::<Vec<_>>(); 2]);
        insert((3, 2), 100, &mut lines, &mut warps);
        let places: Vec<u32> = warps[1].iter().map(|ordered| ordered.step.pc).collect();
        assert_eq!(places, [0, 100, 1, 100, 2, 100, 3, 4, 101, 5, 101, 6, 7]);
        assert_eq!(lines.len(), 6);
        assert!(lines.iter().all(Line::is_local) && lines[0] != lines[3]);
        let loaded: Vec<u32> = warps[1].iter().filter(|it| it.step.pc == 101).map(|it| it.step.first).collect();
        assert_eq!(loaded, [3, 4]);
    }
}
