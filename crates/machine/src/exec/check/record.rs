//! What the warps of a block do, one instruction after the other: what the clock goes by.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::code::Place;
use crate::exec::check::watch::{Action, Touch};
use crate::exec::state::lanes::each;

/// Instructions of a warp that are kept. What comes behind them is counted.
const MOST: usize = 1 << 15;

/// Lines of a block that are kept; with them ends what is kept of its warps.
const MOST_LINES: usize = 1 << 20;

/// Instructions around a loop that does nothing but ask an object whether its phase has ended, at most.
const SPIN: usize = 8;

/// Marks the lines of local memory. The address space of a GPU ends far below.
const LOCAL: u64 = 1 << 55;

/// One block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// In the order of their numbers.
    pub(crate) warps: Vec<Path>,
    /// Pieces of 128 bytes of memory that steps reach.
    pub(crate) lines: Vec<Line>,
    /// Of each sector that is written, the bytes.
    pub(crate) written: HashMap<u64, u32>,
    pub(crate) arrivals: Vec<AtBarrier>,
    /// What steps are at, each at one object or at some.
    visits: Vec<SmallVec<[Phase; 1]>>,
    /// Of each object the lowest bit of its present phase's number, and the number.
    phases: HashMap<u64, (bool, u32)>,
}

/// What one warp has executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<Step>,
    /// The last wait for a phase that had not ended.
    asked: Option<(usize, Phase)>,
    /// Instructions, also those that are not among the steps.
    executed: u64,
}

/// One instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    /// Where its lines are; of a barrier, where its arrival is.
    pub(crate) first: u32,
    pub(crate) lines: u16,
    pub(crate) lanes: u8,
    /// Of shared memory: how many times the banks are gone through.
    pub(crate) passes: u8,
    /// The same if each lane's word were the first of four that are loaded together.
    pub(crate) wide_passes: u8,
    /// Which memory it was that a generic address led to.
    pub(crate) reached: Option<Place>,
    /// A division that a routine does: [`crate::arith::single::is_divided_by_routine`].
    pub(crate) by_routine: bool,
    /// Where its visits of mbarriers are, counted from 1.
    pub(crate) visits: u32,
}

/// A phase of an mbarrier of the block, by the object's address and the number of the phase. Those of other blocks of
/// the cluster are taken for the block's own: a cluster's blocks mostly do the same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Phase {
    pub(crate) object: u64,
    pub(crate) number: u32,
}

/// What is done at an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtMbarrier {
    /// It begins to count.
    Begins,
    /// A warp, or a copy, arrives.
    Arrives,
    /// A warp asks whether a phase has ended, and it has or not.
    Asks { ended: bool },
}

/// A line of which some sectors are accessed, a bit each. Of an atomic in shared memory it is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) sectors: u8,
    /// Those that a store writes whole.
    pub(crate) whole: u8,
    /// Of an atomic: how many lanes have the same address, at most.
    pub(crate) conflicts: u8,
}

/// A warp comes to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtBarrier {
    pub(crate) id: u8,
    /// Threads that the barrier waits for; without a number, all of the block.
    pub(crate) threads: Option<u32>,
    /// As how many threads the warp counts, which counts whole.
    pub(crate) counts: u32,
    /// `bar.arrive` does not wait for the others, nor does a part of a warp for its own sake.
    pub(crate) waits: bool,
}

impl Line {
    /// A register that a warp spills: what all its lanes have is a line.
    pub(crate) fn spilled(warp: u32, register: u32) -> Self {
        let number = LOCAL | u64::from(warp) << 32 | 1 << 31 | u64::from(register);
        Self { number, sectors: 0b1111, whole: 0b1111, conflicts: 0 }
    }

    pub(crate) fn is_local(&self) -> bool {
        self.number & LOCAL != 0
    }
}

impl Path {
    pub(crate) fn executed(&self) -> u64 {
        self.executed
    }

    /// How many times as many instructions were executed as are among the steps.
    pub(crate) fn cut(&self) -> f64 {
        self.executed as f64 / self.steps.len().max(1) as f64
    }

    /// The warp asks for a phase. How often it does so in vain depends on who else has his turn: what counts is that it
    /// waits. So that of a loop which does nothing else the last time is kept.
    fn ask(&mut self, phase: Phase, ended: bool) {
        let now = self.steps.len() - 1;
        if let Some((before, _)) = self.asked.take().filter(|(_, asked)| *asked == phase)
            && let [first, between @ .., last] = &self.steps[before..]
            && first.pc == last.pc
            && between.len() < SPIN
            && between.iter().all(|step| step.lines == 0 && step.passes == 0 && step.visits == 0)
        {
            self.executed -= (now - before) as u64;
            self.steps.drain(before..now);
        }
        if !ended {
            self.asked = Some((self.steps.len() - 1, phase));
        }
    }

    /// The present instruction, if it is kept.
    fn present(&mut self) -> Option<&mut Step> {
        if self.executed == self.steps.len() as u64 { self.steps.last_mut() } else { None }
    }
}

impl Recording {
    pub(crate) fn new(warps: u32) -> Self {
        Self { warps: vec![Path::default(); warps as usize], ..Self::default() }
    }

    /// The lines that a step accesses.
    pub(crate) fn lines(&self, step: &Step) -> &[Line] {
        // A barrier has something else there.
        if step.lines == 0 { &[] } else { &self.lines[step.first as usize..][..usize::from(step.lines)] }
    }

    /// The phases that a step arrives at, or waits for.
    pub(crate) fn visits(&self, step: &Step) -> &[Phase] {
        let at = (step.visits as usize).checked_sub(1);
        at.and_then(|at| self.visits.get(at)).map_or(&[], |visits| visits)
    }

    /// The warp's present instruction, or a copy that it begins, is at an mbarrier. `odd` is the lowest bit of the
    /// present phase's number, where the object is the block's own.
    pub(crate) fn visit(&mut self, warp: u32, object: u64, odd: Option<bool>, does: AtMbarrier) {
        let (known, number) = self.phases.entry(object).or_insert((false, 1));
        if odd.is_some_and(|odd| odd != *known) {
            (*known, *number) = (!*known, *number + 1);
        }
        let number = match does {
            AtMbarrier::Begins => {
                (*known, *number) = (false, *number + 1);
                return;
            }
            // The one before the present.
            AtMbarrier::Asks { ended: true } => *number - 1,
            AtMbarrier::Arrives | AtMbarrier::Asks { ended: false } => *number,
        };
        let Some(path) = self.warps.get_mut(warp as usize) else { return };
        let Some(step) = path.present() else { return };
        let phase = Phase { object, number };
        match (step.visits as usize).checked_sub(1).and_then(|at| self.visits.get_mut(at)) {
            Some(visits) if visits.contains(&phase) => {}
            Some(visits) => visits.push(phase),
            None => {
                self.visits.push(SmallVec::from_elem(phase, 1));
                step.visits = self.visits.len() as u32;
            }
        }
        if let AtMbarrier::Asks { ended } = does {
            path.ask(phase, ended);
        }
    }

    /// A warp executes an instruction in so many lanes.
    pub(crate) fn step(&mut self, warp: u32, pc: u32, lanes: u32) {
        let Some(path) = self.warps.get_mut(warp as usize) else { return };
        path.executed += 1;
        if path.steps.len() < MOST && self.lines.len() < MOST_LINES {
            let first = self.lines.len() as u32;
            path.steps.push(Step { pc, first, lanes: lanes as u8, ..Step::default() });
        }
    }

    /// The warp has to wait for more of its lanes before it executes its present instruction.
    pub(crate) fn withdraw(&mut self, warp: u32) {
        let Some(path) = self.warps.get_mut(warp as usize) else { return };
        if path.present().is_some() {
            path.steps.pop();
        }
        path.executed = path.executed.saturating_sub(1);
    }

    /// The warp's present instruction is a division.
    pub(crate) fn divides(&mut self, warp: u32, by_routine: bool) {
        if let Some(step) = self.warps.get_mut(warp as usize).and_then(Path::present) {
            step.by_routine = by_routine;
        }
    }

    /// The warp's present instruction is a barrier.
    pub(crate) fn arrive(&mut self, warp: u32, arrival: AtBarrier) {
        let at = self.arrivals.len() as u32;
        if let Some(step) = self.warps.get_mut(warp as usize).and_then(Path::present) {
            step.first = at;
            self.arrivals.push(arrival);
        }
    }

    /// The warp's present instruction accesses memory. `passes` is asked for shared memory, with the bytes of a lane.
    pub(crate) fn touch(&mut self, warp: u32, touch: &Touch<'_>, passes: impl Fn(u64) -> u64) {
        let Self { warps, lines, written, .. } = self;
        let Some(step) = warps.get_mut(warp as usize).and_then(Path::present) else { return };
        let first = lines.len();
        match (touch.place, touch.action) {
            (Place::Shared | Place::Cluster, Action::Atomic) => words(touch, lines),
            (Place::Shared | Place::Cluster, _) => {
                let more = |passes: u64| passes.min(255) as u8;
                step.passes = step.passes.saturating_add(more(passes(touch.bytes)));
                step.wide_passes = step.wide_passes.saturating_add(more(passes(touch.bytes.max(16))));
            }
            (Place::Local, _) => local(warp, touch, lines),
            (Place::Global, action) => {
                let covered = global(touch, lines);
                match action {
                    Action::Atomic => conflicts(touch, &mut lines[first..]),
                    Action::Write | Action::CopyOut => write(&covered, &mut lines[first..], written),
                    _ => {}
                }
            }
            _ => return,
        }
        step.lines = (lines.len() - step.first as usize) as u16;
        // An asynchronous copy reaches both memories, and its lines are those of global memory.
        if lines.len() > first || step.reached != Some(Place::Global) {
            step.reached = Some(touch.place);
        }
    }
}

/// The words that atomics are at, in place of lines.
fn words(touch: &Touch<'_>, lines: &mut Vec<Line>) {
    let mut words: Vec<u64> = each(touch.mask).map(|lane| touch.addrs[lane] / 4).collect();
    words.sort_unstable();
    let word = |same: &[u64]| Line { number: same[0], sectors: 0, whole: 0, conflicts: same.len() as u8 };
    lines.extend(words.chunk_by(|a, b| a == b).map(word));
}

/// Lanes have their own addresses, which the hardware interleaves: what is one word to a thread is one line to a warp.
fn local(warp: u32, touch: &Touch<'_>, lines: &mut Vec<Line>) {
    let first = lines.len();
    // Of each line, the lanes that access it.
    let mut lanes: Vec<u32> = Vec::new();
    for lane in each(touch.mask) {
        let (start, end) = (touch.addrs[lane], touch.addrs[lane] + touch.bytes.max(1) - 1);
        for word in start / 4..=end / 4 {
            let at = reach(lines, first, LOCAL | u64::from(warp) << 32 | word, 1 << (lane / 8));
            lanes.resize(lanes.len().max(at + 1), 0);
            lanes[at] |= 1 << lane;
        }
    }
    for (line, lanes) in lines[first..].iter_mut().zip(lanes) {
        let is_whole = |sector: &u32| touch.bytes >= 4 && lanes >> (8 * sector) & 0xff == 0xff;
        line.whole = (0..4).filter(is_whole).fold(0, |whole, sector| whole | 1 << sector);
    }
}

/// Lines of global memory, with the bytes of each that lanes access.
fn global(touch: &Touch<'_>, lines: &mut Vec<Line>) -> Vec<u128> {
    let (first, bytes) = (lines.len(), touch.bytes.max(1));
    let mut covered: Vec<u128> = Vec::new();
    for lane in each(touch.mask) {
        let (start, end) = (touch.addrs[lane], touch.addrs[lane] + bytes);
        for number in start / 128..=(end - 1) / 128 {
            let (from, to) = (start.max(128 * number) % 128, end.min(128 * number + 128) - 128 * number);
            let sectors = (from / 32..=(to - 1) / 32).fold(0, |sectors, sector| sectors | 1 << sector);
            let at = reach(lines, first, number, sectors);
            covered.resize(covered.len().max(at + 1), 0);
            covered[at] |= u128::MAX >> (128 - (to - from)) << from;
        }
    }
    covered
}

/// Adds sectors of a line to those of the present access: which of its lines that is.
fn reach(lines: &mut Vec<Line>, first: usize, number: u64, sectors: u8) -> usize {
    // Neighbours are mostly in the line of the lane before.
    let known = lines[first..].iter().rposition(|line| line.number == number);
    let at = known.unwrap_or(lines.len() - first);
    match known {
        Some(at) => lines[first + at].sectors |= sectors,
        None => lines.push(Line { number, sectors, whole: 0, conflicts: 0 }),
    }
    at
}

fn conflicts(touch: &Touch<'_>, lines: &mut [Line]) {
    let mut addrs: Vec<u64> = each(touch.mask).map(|lane| touch.addrs[lane]).collect();
    addrs.sort_unstable();
    for same in addrs.chunk_by(|a, b| a == b) {
        if let Some(line) = lines.iter_mut().find(|line| line.number == same[0] / 128) {
            line.conflicts = line.conflicts.max(same.len() as u8);
        }
    }
}

fn write(covered: &[u128], lines: &mut [Line], written: &mut HashMap<u64, u32>) {
    for (line, bytes) in lines.iter_mut().zip(covered) {
        for sector in 0..4 {
            let bytes = (bytes >> (32 * sector)) as u32;
            line.whole |= u8::from(bytes == u32::MAX) << sector;
            if bytes != 0 {
                *written.entry(4 * line.number + sector).or_default() |= bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Order;

    fn touched(action: Action, place: Place, bytes: u64, addr: impl Fn(u64) -> u64) -> Recording {
        let mut recording = Recording::new(1);
        recording.step(0, 0, 32);
        touch(&mut recording, action, place, bytes, addr);
        recording
    }

    fn touch(recording: &mut Recording, action: Action, place: Place, bytes: u64, addr: impl Fn(u64) -> u64) {
        let addrs = std::array::from_fn(|lane| addr(lane as u64));
        let touch = Touch {
            place,
            action,
            mask: u32::MAX,
            addrs: &addrs,
            bytes,
            row: false,
            uniform: false,
            windows: &[],
            window: None,
            access: None,
            stored: None,
            order: Order::WEAK,
            looks: 0,
            shared: &[],
        };
        recording.touch(0, &touch, |bytes| bytes / 4);
    }

    fn lines(recording: &Recording) -> Vec<(u64, u8, u8, u8)> {
        recording.lines.iter().map(|line| (line.number, line.sectors, line.whole, line.conflicts)).collect()
    }

    #[test]
    fn a_store_is_whole_where_all_bytes_are_written() {
        let write = |addr: fn(u64) -> u64| lines(&touched(Action::Write, Place::Global, 4, addr));
        assert_eq!(write(|lane| 1280 + 4 * lane), [(10, 0b1111, 0b1111, 0)]);
        assert_eq!(write(|_| 1280), [(10, 0b0001, 0, 0)]);
        assert_eq!(write(|lane| 1284 + 4 * lane), [(10, 0b1111, 0b1110, 0), (11, 0b0001, 0, 0)]);
        let recording = touched(Action::Write, Place::Global, 4, |_| 1284);
        assert_eq!(recording.written.into_iter().collect::<Vec<_>>(), [(40, 0xf0)]);
    }

    #[test]
    fn words_of_local_memory_are_lines_of_their_warp() {
        let all = lines(&touched(Action::Read, Place::Local, 8, |_| 16));
        assert_eq!(all, [(LOCAL | 4, 0b1111, 0b1111, 0), (LOCAL | 5, 0b1111, 0b1111, 0)]);
        // An index of each lane's own: of no sector all bytes.
        let own = touched(Action::Read, Place::Local, 4, |lane| 4 * lane);
        assert_eq!((own.lines.len(), own.lines[31].sectors, own.lines[31].whole), (32, 0b1000, 0));
        assert!(own.lines.iter().all(Line::is_local));
    }

    #[test]
    fn lanes_with_one_address_are_counted() {
        let atomics = |place| lines(&touched(Action::Atomic, place, 4, |lane| 128 + 4 * (lane / 8)));
        assert_eq!(atomics(Place::Global), [(1, 0b0001, 0, 8)]);
        assert_eq!(atomics(Place::Shared), [(32, 0, 0, 8), (33, 0, 0, 8), (34, 0, 0, 8), (35, 0, 0, 8)]);
    }

    #[test]
    fn an_asynchronous_copy_reaches_both_memories() {
        let mut recording = touched(Action::Read, Place::Global, 16, |lane| 16 * lane);
        touch(&mut recording, Action::Write, Place::Shared, 16, |lane| 16 * lane);
        let step = recording.warps[0].steps[0];
        assert_eq!((step.lines, step.passes, step.reached), (4, 4, Some(Place::Global)));
        // Lanes of one access may reach their own block's memory and another's: it takes as long as the farther way.
        let mut recording = touched(Action::Read, Place::Shared, 4, |lane| 4 * lane);
        touch(&mut recording, Action::Read, Place::Cluster, 4, |lane| 4 * lane);
        assert_eq!(recording.warps[0].steps[0].reached, Some(Place::Cluster));
    }

    #[test]
    fn lanes_that_gather_execute_once() {
        let mut recording = Recording::new(1);
        for lanes in [8, 24] {
            recording.step(0, 7, lanes);
            recording.withdraw(0);
        }
        recording.step(0, 7, 32);
        assert_eq!((recording.warps[0].executed(), recording.warps[0].steps.len()), (1, 1));
    }

    #[test]
    fn of_a_loop_that_asks_the_last_time_is_kept() {
        let mut recording = Recording::new(1);
        let ask = |recording: &mut Recording, odd, ended| {
            for pc in 0..3 {
                recording.step(0, pc, 32);
                if pc == 0 {
                    recording.visit(0, 64, Some(odd), AtMbarrier::Asks { ended });
                }
            }
        };
        recording.visit(0, 64, None, AtMbarrier::Begins);
        for ended in [false, false, true] {
            ask(&mut recording, ended, ended);
        }
        let path = &recording.warps[0];
        assert_eq!((path.executed(), path.steps.len()), (3, 3));
        let phase = Phase { object: 64, number: 2 };
        assert_eq!(recording.visits(&path.steps[0]), [phase]);
        // The next phase is another one, and so is that of an object which begins anew.
        ask(&mut recording, false, true);
        assert_eq!(recording.visits(&recording.warps[0].steps[3]), [Phase { number: 3, ..phase }]);
        recording.visit(0, 64, None, AtMbarrier::Begins);
        ask(&mut recording, false, false);
        assert_eq!(recording.visits(&recording.warps[0].steps[6]), [Phase { number: 5, ..phase }]);
    }
}
