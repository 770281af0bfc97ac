//! A whole launch, from what one SM does in the first waves of it.

use std::collections::{HashMap, HashSet};

use super::TICKS;
use super::memory::{Load, MemorySystem, Piece};
use super::program::{Kind, Program};
use super::rates::Rates;
use super::schedule::Scheduler;
use super::sm::{Sample, Sm, Work};
use crate::exec::{Path, Recording};

/// What a launch looks like from outside.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: u64,
    /// Blocks that an SM holds at once.
    pub(crate) resident: u64,
    /// Shared memory of a block in bytes, with what the system reserves.
    pub(crate) shared: u64,
    /// Allocations: start, end.
    pub(crate) regions: Vec<(u64, u64)>,
    /// L2 holds what the launch reads, as far as it has room.
    pub(crate) warm: bool,
}

/// A predicted time, and from how much of the launch it follows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    /// From one event to another with the launch between them, in a stream that is busy.
    pub ns: f64,
    /// Blocks and machine instructions that were simulated: those of one SM.
    pub blocks: u64,
    pub issued: u64,
}

/// Waves of an SM's blocks that are simulated, and blocks at least. Blocks behind them end at the rate of those.
const WAVES: u64 = 3;
const LEAST: u64 = 12;

/// `recordings` are of some blocks, the last one of the grid's last; `unrolls` says how many iterations of a loop, by the place of the
/// branch at its end, are one piece of code.
pub(crate) fn estimate(
    program: &Program,
    rates: &Rates,
    grid: &Grid,
    recordings: Vec<Recording>,
    unrolls: &dyn Fn(u32) -> usize,
) -> Estimate {
    let (pieces, common) = (pieces(program, rates, grid, &recordings), common(&recordings));
    // A warp that was recorded in part goes on as it began.
    let cut = recordings.iter().flat_map(|recording| &recording.warps).map(Path::cut).fold(1.0, f64::max);
    let reaches_memory = recordings.iter().any(|recording| !recording.lines.is_empty());
    let mut scheduler = Scheduler::default();
    let sample = |recording: Recording| {
        let ordered = recording.warps.iter().map(|path| scheduler.order(program, &path.steps, unrolls)).collect();
        Sample { recording, ordered }
    };
    let samples: Vec<Sample> = recordings.into_iter().map(sample).collect();

    let sms = u64::from(rates.sms);
    let active = grid.blocks.clamp(1, sms);
    let blocks = grid.blocks.div_ceil(sms).max(1);
    let resident = grid.resident.clamp(1, blocks);
    let simulated = blocks.min((WAVES * resident).max(LEAST));
    // The last block of the grid may be cut off; it stands for itself alone.
    let (whole, last) = (samples.len().saturating_sub(1).max(1) as u64, samples.len().saturating_sub(1));
    let like = |block: u64| {
        if block + 1 == blocks && grid.blocks == active * blocks { last } else { (block % whole) as usize }
    };
    let every = rates.dispatch * active as f64 * TICKS as f64;
    let load = Load {
        pieces: &pieces,
        common: &common,
        active: active as f64,
        shared: grid.shared * resident,
        first_wave: resident,
    };
    let mut sm = Sm::new(program, rates, MemorySystem::new(rates, load), &samples);
    let result = sm.run(&Work { blocks: simulated, resident, every, sample: &like });

    let end = |index: u64| result.ends.get(index as usize).copied().unwrap_or_default() as f64;
    let mut total = end(result.ends.len() as u64 - u64::from(!result.ends.is_empty()));
    if blocks > simulated {
        // From the end of the first wave on, and up to where the last one begins, blocks end as steadily as they will.
        let span = end(simulated - 1) - end(resident - 1) + end(simulated - resident) - end(0);
        let rate = span / 2.0 / (simulated - resident).max(1) as f64;
        total += rate.max(every) * (blocks - simulated) as f64;
    }
    let first_access = if reaches_memory { rates.first_access } else { 0.0 };
    let clocks = total / TICKS as f64 * cut + rates.block_end + first_access;
    Estimate { ns: rates.overhead_ns + clocks / rates.clock_ghz, blocks: simulated, issued: result.issued }
}

/// What blocks have in common of each allocation, by what those that were recorded reach of it.
fn pieces(program: &Program, rates: &Rates, grid: &Grid, recordings: &[Recording]) -> Vec<Piece> {
    let count = recordings.len().max(1) as f64;
    let mut touched = 0.0;
    let piece = |&(start, end): &(u64, u64)| {
        let (read, written) = recordings
            .iter()
            .map(|recording| sectors(program, recording, start..end))
            .fold((0, 0), |(read, written), (more_read, more_written)| (read + more_read, written + more_written));
        let all = ((end - start) as f64 / 32.0).ceil();
        let of_grid = |sectors: u64| sectors as f64 / count * grid.blocks as f64;
        let (asked, written) = (of_grid(read), of_grid(written).min(all));
        touched += 32.0 * (asked.min(all) + written);
        let fresh = if asked > 0.0 { (all / asked).min(1.0) } else { 1.0 };
        Piece { start, end, fresh, written_sectors: written.max(1.0) }
    };
    let mut pieces: Vec<Piece> = grid.regions.iter().map(piece).collect();
    if grid.warm && touched < rates.l2_bytes {
        pieces.iter_mut().for_each(|piece| piece.fresh = 0.0);
    }
    pieces
}

/// Distinct sectors of a piece of memory that a block reads, and those that it writes.
fn sectors(program: &Program, recording: &Recording, addresses: std::ops::Range<u64>) -> (u64, u64) {
    let (mut read, mut written): (HashMap<u64, u8>, HashMap<u64, u8>) = Default::default();
    for step in recording.warps.iter().flat_map(|path| &path.steps) {
        let sectors = match program.ops[step.pc as usize].kind {
            Kind::Load(_) => &mut read,
            _ => &mut written,
        };
        for line in &recording.lines[step.first as usize..][..usize::from(step.lines)] {
            if addresses.contains(&(line.number * 128)) {
                *sectors.entry(line.number).or_default() |= line.sectors;
            }
        }
    }
    let count = |sectors: HashMap<u64, u8>| sectors.values().map(|sectors| u64::from(sectors.count_ones())).sum();
    (count(read), count(written))
}

/// Lines that more than one of the blocks reaches.
fn common(recordings: &[Recording]) -> HashSet<u64> {
    let (mut first, mut common) = (HashMap::new(), HashSet::new());
    for (block, recording) in recordings.iter().enumerate() {
        for line in &recording.lines {
            if *first.entry(line.number).or_insert(block) != block {
                common.insert(line.number);
            }
        }
    }
    common
}
