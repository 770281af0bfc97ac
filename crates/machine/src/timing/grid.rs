//! A whole launch, from what one SM does in the first waves of it.

use super::memory::{MemorySystem, Piece};
use super::program::Program;
use super::rates::Rates;
use super::schedule::Scheduler;
use super::sm::{Sample, Sm};
use super::{TICKS, ticks};
use crate::exec::Recording;

/// What a launch looks like from outside.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: u64,
    pub(crate) resident: u64,
    /// Shared memory of a block, with what the system reserves.
    pub(crate) shared: u64,
    /// Allocations: start, end.
    pub(crate) regions: Vec<(u64, u64)>,
    /// Bytes of them are in L2 already.
    pub(crate) warm: bool,
}

/// Predicted nanoseconds, and what they were made of.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    pub ns: f64,
    pub issued: u64,
    pub simulated_blocks: u64,
    pub dram_bytes: f64,
}

pub(crate) fn estimate(program: &Program, rates: &Rates, grid: &Grid, recordings: Vec<Recording>, unrolls: &dyn Fn(u32) -> usize) -> Estimate {
    let mut scheduler = Scheduler::default();
    let pieces = pieces(program, rates, grid, &recordings);
    let common = common(&recordings);
    // A warp that was recorded in part goes on as it began.
    let longest = |recording: &Recording| {
        recording.warps.iter().map(|path| path.executed as f64 / path.steps.len().max(1) as f64).fold(1.0, f64::max)
    };
    let cut = recordings.iter().map(longest).fold(1.0, f64::max);
    let samples: Vec<Sample> = recordings
        .into_iter()
        .map(|recording| {
            let ordered = recording.warps.iter().map(|path| scheduler.order(program, &path.steps, unrolls)).collect();
            Sample { recording, ordered }
        })
        .collect();
    let sms = u64::from(rates.sms);
    let active = grid.blocks.min(sms).max(1);
    let on_one = grid.blocks.div_ceil(sms).max(1);
    let resident = grid.resident.min(on_one).max(1);
    let most = (3 * resident).max(12).min(on_one);
    let memory = MemorySystem::new(rates, &pieces, &common, active as f64, grid.shared * resident, resident);
    let mut sm = Sm::new(program, rates, memory, &samples);
    let every = rates.dispatch_clocks * active as f64 * TICKS as f64;
    let count = samples.len();
    let last = on_one == most;
    let which = |number: usize| if count > 1 && last && number + 1 == most as usize { count - 1 } else { number % count.max(2).min(count) };
    let simulated = sm.run(most as usize, resident as usize, every, &which);
    let mut ends = simulated.ends.clone();
    ends.sort_unstable();
    let end = ends.last().copied().unwrap_or_default().max(sm.memory.drained()) as f64;
    let mut total = end;
    if on_one > most {
        // Blocks end as steadily as they did between the first wave and the last.
        let (from, to) = (ends[resident as usize - 1] as f64, ends[(most - 1) as usize] as f64);
        let (from_start, to_start) = (ends[0] as f64, ends[(most - resident) as usize] as f64);
        let rate = ((to - from) + (to_start - from_start)) / 2.0 / (most - resident) as f64;
        total += rate.max(every) * (on_one - most) as f64;
    }
    let reaches = samples.iter().any(|sample| !sample.recording.lines.is_empty());
    let clocks = total / TICKS as f64 * cut + rates.block_end + if reaches { rates.cold_start } else { 0.0 };
    Estimate {
        ns: rates.overhead_ns + clocks / rates.clock_ghz,
        issued: simulated.issued,
        simulated_blocks: most,
        dram_bytes: sm.memory.dram_sectors as f64 * 32.0 * grid.blocks as f64 / most as f64,
    }
}

/// What blocks have in common, by what those that were recorded reach of each allocation.
fn pieces(program: &Program, rates: &Rates, grid: &Grid, recordings: &[Recording]) -> Vec<Piece> {
    use std::collections::HashMap;

    use super::program::Kind;
    let _ = ticks;
    let mut pieces = Vec::new();
    let (mut written_all, mut touched) = (0.0, 0.0);
    for &(start, end) in &grid.regions {
        let (mut read, mut written) = (0_u64, 0_u64);
        for recording in recordings {
            let (mut reads, mut writes): (HashMap<u64, u8>, HashMap<u64, u8>) = Default::default();
            for step in recording.warps.iter().flat_map(|path| &path.steps) {
                if step.lines == 0 {
                    continue;
                }
                for line in &recording.lines[step.first as usize..][..usize::from(step.lines)] {
                    if (start..end).contains(&(line.number * 128)) {
                        match program.ops[step.pc as usize].kind {
                            Kind::Load(_) => *reads.entry(line.number).or_default() |= line.sectors,
                            _ => *writes.entry(line.number).or_default() |= line.sectors,
                        }
                    }
                }
            }
            read += reads.values().map(|sectors| u64::from(sectors.count_ones())).sum::<u64>();
            written += writes.values().map(|sectors| u64::from(sectors.count_ones())).sum::<u64>();
        }
        let count = recordings.len().max(1) as f64;
        let all = ((end - start) as f64 / 32.0).ceil();
        let asked = read as f64 / count * grid.blocks as f64;
        let fresh = if asked > 0.0 { (all / asked).min(1.0) } else { 1.0 };
        let bytes = (written as f64 / count * grid.blocks as f64).min(all) * 32.0;
        written_all += bytes;
        touched += (asked.min(all)) * 32.0 + bytes;
        pieces.push(Piece { start, end, fresh, written_back: 0.0, met: (bytes / 32.0).max(1.0) });
    }
    let back = (1.0 - rates.dirty_bytes / written_all.max(1.0)).max(0.0);
    let stays = grid.warm && touched < rates.l2_bytes as f64;
    for piece in &mut pieces {
        piece.written_back = back;
        if stays {
            piece.fresh = 0.0;
        }
    }
    pieces
}

/// Lines that more than one of the blocks reaches.
fn common(recordings: &[Recording]) -> std::collections::HashSet<u64> {
    let mut seen = std::collections::HashMap::new();
    let mut common = std::collections::HashSet::new();
    for (block, recording) in recordings.iter().enumerate() {
        for line in &recording.lines {
            if *seen.entry(line.number).or_insert(block) != block {
                common.insert(line.number);
            }
        }
    }
    common
}
