//! A whole launch, from what one SM does in the first waves of it.

use super::account::{Placed, Whole};
use super::effect::Model;
use super::memory::{Load, MemorySystem};
use super::pieces::{self, Left, Pieces};
use super::program::Program;
use super::representatives::Representatives;
use super::schedule::Scheduler;
use super::sm::{Sample, Sm, Work};
use super::spill;
use super::{TICKS, ticks};
use crate::code::Place;
use crate::exec::{Path, Recording};
use crate::report::Account;

/// What a launch looks like from outside.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: u64,
    /// SMs that its blocks can be on, and clocks by which two of them begin apart at least.
    pub(crate) sms: u64,
    pub(crate) apart: f64,
    /// Blocks that an SM holds at once, and those that it holds where enough of their warps have left.
    pub(crate) resident: u64,
    pub(crate) places: u64,
    /// Warps that an SM can hold: of this kernel, and of one with few registers.
    pub(crate) warps: u32,
    pub(crate) most_warps: u32,
    /// Shared memory of a block in bytes, with what the system reserves.
    pub(crate) shared: u64,
    /// Registers of a thread that the assembler stores to local memory, and loads of them.
    pub(crate) spilled: (u32, u32),
    /// Registers that the assembler gives a thread, where they are known.
    pub(crate) registers: Option<u32>,
    /// Allocations.
    pub(crate) regions: Vec<Reached>,
    /// Whether it is kept what warps do, and when.
    pub(crate) traced: bool,
    /// Bytes that L2 holds and DRAM does not know yet.
    pub(crate) dirty: f64,
    /// Instructions that the warps of a block execute on average, where blocks differ.
    pub(crate) mean: Option<f64>,
}

/// An allocation that a launch may reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The share of what the launch reads of it that L2 holds before.
    pub(crate) cached: f64,
}

/// A predicted time, and from how much of the launch it follows.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// From one event to another with the launch between them, in a stream that is busy.
    pub ns: f64,
    /// Blocks and machine instructions that were simulated: those of one SM.
    pub blocks: u64,
    pub issued: u64,
    /// Where the time goes.
    pub account: Box<Account>,
}

/// Waves of an SM's blocks that are simulated, and blocks at least. Blocks behind them end at the rate of those. Of short blocks there are
/// more, since queues fill up at first: as many as have about so many instructions, up to a number of waves.
const WAVES: u64 = 3;
const LEAST: u64 = 12;
const STEADY: u64 = 24_000;
const MOST_WAVES: u64 = 12;

/// Instructions of warps that are simulated, about. Of long blocks there are fewer, and warps go on as they began; but so many
/// instructions of each are simulated.
const BUDGET: u64 = 400_000;
const LEAST_STEPS: usize = 2_000;

/// Clocks after a block's end at which one ends on the SM beside it, at least, where blocks wait for memory: its answers
/// take more or less time.
const ANSWERS_APART: f64 = 450.0;

/// Predicts a launch, and says what it leaves in L2.
///
/// `recordings` are of some blocks, the last one of the grid's last; `unrolls` says how many iterations of a loop, by the place of the
/// branch at its end, are one piece of code; `place` where an instruction stands.
pub(crate) fn estimate(
    program: &Program,
    model: &Model,
    grid: &Grid,
    mut recordings: Vec<Recording>,
    unrolls: &dyn Fn(u32) -> usize,
    place: &dyn Fn(u32) -> Placed,
) -> (Estimate, Left) {
    let rates = &model.rates;
    let common = pieces::common(&recordings);
    let steps = |recording: &Recording| recording.warps.iter().map(|path| path.steps.len() as u64).sum::<u64>();
    let of_block = recordings.iter().map(steps).max().unwrap_or_default();
    let shape = Shape::new(grid, of_block);
    let leave = grid.places > grid.resident && recordings.iter().any(leave_early);
    let representatives = Representatives::new(&recordings, grid.mean, leave, shape);
    let Pieces { pieces, written_back, left } =
        Pieces::new(program, rates, grid, &recordings, (&common, &representatives.shares));
    let cut = shorten(&mut recordings, (BUDGET as f64 / (of_block * shape.simulated).max(1) as f64).min(1.0));
    let reaches_memory = recordings.iter().any(|recording| reaches_memory_by(recording, |_| true));
    let apart = leave.then(|| {
        let loads = |pc: u32| program.ops[pc as usize].kind.loads();
        let waits = recordings.iter().any(|recording| reaches_memory_by(recording, loads));
        if waits { ticks(ANSWERS_APART) } else { 0 }
    });
    let mut scheduler = Scheduler::new(program, model.assembler, grid.registers, unrolls);
    let sample = |mut recording: Recording| {
        for path in &mut recording.warps {
            path.steps = program.issued(std::mem::take(&mut path.steps));
            path.steps.iter_mut().for_each(|step| step.by_routine &= model.assembler.routine);
        }
        let mut ordered = recording.warps.iter().map(|path| scheduler.order(&path.steps)).collect::<Vec<_>>();
        // Next to a loop that is too long to be simulated they are nothing.
        if cut == 1.0 && model.assembler.spills {
            spill::insert(grid.spilled, program.spills, &mut recording.lines, &mut ordered);
        }
        Sample::new(program, recording, ordered)
    };
    let samples: Vec<Sample> = recordings.into_iter().map(sample).collect();
    let operands = scheduler.finish();

    let Shape { active, blocks, resident, simulated, last } = shape;
    let every = rates.dispatch.max(grid.apart) * active as f64 * TICKS as f64;
    let load = Load {
        pieces: &pieces,
        common: &common,
        active: active as f64,
        last: (simulated - 1, last as f64),
        written_back,
        shared: grid.shared * resident,
        first_wave: resident,
    };
    let mut sm = Sm::new(program, rates, MemorySystem::new(rates, load), &samples, &operands);
    if grid.traced {
        sm.trace();
    }
    let like = |block: u64| representatives.of(block);
    let (places, warps) = (grid.places, grid.warps as usize);
    let result = sm.run(&Work { blocks: simulated, resident, places, warps, every, apart, sample: &like });

    let end = |index: u64| result.ends.get(index as usize).copied().unwrap_or_default() as f64;
    let mut total = end(result.ends.len() as u64 - u64::from(!result.ends.is_empty()));
    if blocks > simulated {
        // From the end of the first wave on, and up to where the last one begins, blocks end as steadily as they will.
        let after = shape.unsteady();
        let span = end(simulated - 1) - end(after + resident - 1) + end(simulated - resident) - end(after);
        let rate = span / 2.0 / (simulated - resident - after).max(1) as f64;
        total += rate.max(every) * (blocks - simulated) as f64;
    }
    let first_access = if reaches_memory { rates.first_access } else { 0.0 };
    let clocks = total / TICKS as f64 * cut + rates.block_end + first_access;
    let ns = rates.overhead_ns + clocks / rates.clock_ghz;
    let whole = Whole {
        program,
        rates,
        samples: &samples,
        shares: &representatives.shares,
        grid: grid.blocks,
        blocks,
        simulated,
        fit: grid.resident,
        ends: &result.ends,
        total,
        without_last: 1.0 - last as f64 / active as f64,
        overhead: 1.0 - total / TICKS as f64 * cut / rates.clock_ghz / ns,
        most_warps: grid.most_warps,
    };
    let (account, memory) = sm.account();
    let account = Box::new(whole.account(&account, &memory, place));
    (Estimate { ns, blocks: simulated, issued: result.issued, account }, left)
}

/// How the blocks of a grid come to SMs: each gets one in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// SMs that have work.
    pub(super) active: u64,
    /// Blocks of the SM that has most; how many of them it has at once, and how many are simulated.
    pub(super) blocks: u64,
    pub(super) resident: u64,
    pub(super) simulated: u64,
    /// SMs that have as many blocks as this one.
    pub(super) last: u64,
}

impl Shape {
    /// Its blocks have so many steps.
    fn new(grid: &Grid, steps: u64) -> Self {
        let sms = grid.sms.max(1);
        let blocks = grid.blocks.div_ceil(sms).max(1);
        let resident = grid.resident.clamp(1, blocks);
        // Whole waves: the blocks of a part of one would have the SM for themselves.
        let wave = (steps * resident).max(1);
        let waves = (STEADY / wave).clamp(WAVES, MOST_WAVES).min((BUDGET / wave).max(2));
        let affordable = waves * resident;
        let simulated = blocks.min(affordable.max(LEAST));
        let last = grid.blocks.saturating_sub(sms * (blocks - 1)).max(1);
        Self { active: grid.blocks.clamp(1, sms), blocks, resident, simulated, last }
    }

    /// How many of the first blocks end at another rate than those behind them, where enough are simulated to leave them out.
    fn unsteady(&self) -> u64 {
        let waves = self.simulated / self.resident;
        if waves >= 2 * WAVES { waves / 2 * self.resident } else { 0 }
    }
}

/// Leaves so large a share of the longest warp's instructions, and of each other's as much as it executes in that time. A warp goes on as
/// it began: returns how many times as long the launch takes.
fn shorten(recordings: &mut [Recording], share: f64) -> f64 {
    let paths = || recordings.iter().flat_map(|recording| &recording.warps);
    let Some(longest) = paths().max_by_key(|path| path.executed()) else { return 1.0 };
    let (executed, recorded) = (longest.executed().max(1), longest.steps.len());
    let keep = ((recorded as f64 * share) as usize).clamp(LEAST_STEPS.min(recorded), recorded);
    for path in recordings.iter_mut().flat_map(|recording| &mut recording.warps) {
        let own = u128::from(path.executed()) * keep as u128;
        path.steps.truncate(own.div_ceil(executed.into()) as usize);
    }
    executed as f64 / keep.max(1) as f64
}

/// Whether warps of a block leave long before others.
fn leave_early(recording: &Recording) -> bool {
    let executed = || recording.warps.iter().map(Path::executed);
    2 * executed().min().unwrap_or(0) < executed().max().unwrap_or(0)
}

/// Whether a block asks for what is no memory of its own, by instructions at such places.
fn reaches_memory_by(recording: &Recording, at: impl Fn(u32) -> bool) -> bool {
    let mut steps = recording.warps.iter().flat_map(|path| &path.steps);
    steps.any(|step| step.lines > 0 && step.reached == Some(Place::Global) && at(step.pc))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(blocks: u64, resident: u64) -> Shape {
        of_steps(blocks, resident, 100)
    }

    /// Blocks that have so many steps.
    fn of_steps(blocks: u64, resident: u64, steps: u64) -> Shape {
        let grid = Grid {
            blocks,
            sms: 132,
            apart: 0.0,
            resident,
            places: resident,
            warps: 64,
            most_warps: 64,
            shared: 0,
            regions: Vec::new(),
            spilled: (0, 0),
            registers: None,
            traced: false,
            dirty: 0.0,
            mean: None,
        };
        Shape::new(&grid, steps)
    }

    #[test]
    fn a_second_wave_of_one_block_has_one_active_sm() {
        assert_eq!(shape(100, 8), Shape { active: 100, blocks: 1, resident: 1, simulated: 1, last: 100 });
        assert_eq!(shape(133, 8), Shape { active: 132, blocks: 2, resident: 2, simulated: 2, last: 1 });
        assert_eq!(shape(264, 8).last, 132);
        assert_eq!((shape(132_000, 8).simulated, shape(132_000, 8).unsteady()), (96, 48));
        assert_eq!(of_steps(132_000, 8, 1 << 20).simulated, 16);
        assert_eq!(shape(0, 8), Shape { active: 1, blocks: 1, resident: 1, simulated: 1, last: 1 });
    }

    #[test]
    fn a_short_block_does_not_decide_how_much_was_cut() {
        let block = |steps: u32| {
            let mut recording = Recording::new(1);
            (0..steps).for_each(|pc| recording.step(0, pc, 32));
            recording
        };
        let mut both = [block(100_000), block(30)];
        let alone = shorten(&mut [block(100_000)], 0.01);
        assert_eq!(shorten(&mut both, 0.01), alone);
        assert_eq!(both.map(|recording| recording.warps[0].steps.len()), [2000, 1]);
        // What is recorded whole stays so.
        let mut whole = [block(500), block(30)];
        assert_eq!(shorten(&mut whole, 1.0), 1.0);
        assert_eq!(whole.map(|recording| recording.warps[0].steps.len()), [500, 30]);
        assert_eq!(shorten(&mut [], 1.0), 1.0);
    }
}
