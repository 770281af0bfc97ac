//! What the warps of a block do, one instruction after the other: what the clock goes by.

use std::collections::HashMap;

use crate::code::Place;
use crate::exec::check::watch::{Action, Touch};
use crate::exec::state::lanes::each;

/// Instructions of a warp that are kept. What comes behind them is counted.
const MOST: usize = 1 << 15;

/// Lines of a block that are kept; with them ends what is kept of its warps.
const MOST_LINES: usize = 1 << 20;

/// One block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// In the order of their numbers.
    pub(crate) warps: Vec<Path>,
    /// Pieces of 128 bytes of memory that steps reach.
    pub(crate) lines: Vec<Line>,
    /// Of each sector that is written, the bytes.
    pub(crate) written: HashMap<u64, u32>,
}

/// What one warp has executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<Step>,
    /// Instructions, also those that are not among the steps.
    executed: u64,
}

/// One instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    /// Where its lines are.
    pub(crate) first: u32,
    pub(crate) lines: u16,
    pub(crate) lanes: u8,
    /// Of shared memory: how many times the banks are gone through.
    pub(crate) passes: u8,
    /// Of shared memory: how many addresses the lanes have.
    pub(crate) addresses: u8,
}

/// A line of which some sectors are accessed, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) sectors: u8,
    /// Of an atomic: how many lanes meet at one address, at most.
    pub(crate) meet: u8,
}

impl Path {
    pub(crate) fn executed(&self) -> u64 {
        self.executed
    }

    /// How many times as many instructions were executed as are among the steps.
    pub(crate) fn cut(&self) -> f64 {
        self.executed as f64 / self.steps.len().max(1) as f64
    }
}

impl Recording {
    pub(crate) fn new(warps: u32) -> Self {
        Self { warps: vec![Path::default(); warps as usize], ..Self::default() }
    }

    /// A warp executes an instruction in so many lanes.
    pub(crate) fn step(&mut self, warp: u32, pc: u32, lanes: u32) {
        let Some(path) = self.warps.get_mut(warp as usize) else { return };
        path.executed += 1;
        if path.steps.len() < MOST && self.lines.len() < MOST_LINES {
            path.steps.push(Step {
                pc,
                first: self.lines.len() as u32,
                lines: 0,
                lanes: lanes as u8,
                ..Step::default()
            });
        }
    }

    /// The warp's present instruction accesses memory; `passes` is asked for shared memory.
    pub(crate) fn touch(&mut self, warp: u32, touch: &Touch<'_>, passes: impl FnOnce() -> u64) {
        let Self { warps, lines, written } = self;
        let Some(path) = warps.get_mut(warp as usize).filter(|path| path.executed == path.steps.len() as u64) else {
            return;
        };
        let Some(step) = path.steps.last_mut() else { return };
        match touch.place {
            // The words stand where lines do elsewhere.
            Place::Shared if touch.action == Action::Atomic => {
                let mut words: Vec<u64> = each(touch.mask).map(|lane| touch.addrs[lane] / 4).collect();
                words.sort_unstable();
                for same in words.chunk_by(|a, b| a == b) {
                    lines.push(Line { number: same[0], sectors: 0, meet: same.len() as u8 });
                }
                step.lines = (lines.len() - step.first as usize) as u16;
            }
            Place::Shared => {
                step.passes = step.passes.saturating_add(passes().min(255) as u8);
                let mut addrs: Vec<u64> = each(touch.mask).map(|lane| touch.addrs[lane]).collect();
                addrs.sort_unstable();
                addrs.dedup();
                step.addresses = addrs.len() as u8;
            }
            // Lanes have their own addresses, which the hardware interleaves: what is one address to a thread is one line to a warp.
            Place::Local => {
                let at = touch.addrs[touch.mask.trailing_zeros() as usize & 31];
                let number = 1 << 55 | u64::from(warp) << 32 | (at / 4);
                lines.push(Line { number, sectors: 15, meet: 0 });
                step.lines += 1;
            }
            Place::Global => {
                if touch.action == Action::CopyAsync {
                    return;
                }
                let first = lines.len();
                for lane in each(touch.mask) {
                    let (start, end) = (touch.addrs[lane], touch.addrs[lane] + touch.bytes.max(1) - 1);
                    for sector in start / 32..=end / 32 {
                        let (number, bit) = (sector / 4, 1 << (sector % 4));
                        // Neighbours are mostly in the line of the lane before.
                        match lines[first..].iter_mut().rev().find(|line| line.number == number) {
                            Some(line) => line.sectors |= bit,
                            None => lines.push(Line { number, sectors: bit, meet: 0 }),
                        }
                    }
                }
                step.lines = (lines.len() - step.first as usize) as u16;
                match touch.action {
                    Action::Atomic => {
                        let mut addrs: Vec<u64> = each(touch.mask).map(|lane| touch.addrs[lane]).collect();
                        addrs.sort_unstable();
                        for same in addrs.chunk_by(|a, b| a == b) {
                            if let Some(line) = lines[first..].iter_mut().find(|line| line.number == same[0] / 128) {
                                line.meet = line.meet.max(same.len() as u8);
                            }
                        }
                    }
                    Action::Write => {
                        for lane in each(touch.mask) {
                            for byte in touch.addrs[lane]..touch.addrs[lane] + touch.bytes {
                                *written.entry(byte / 32).or_default() |= 1 << (byte % 32);
                            }
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
