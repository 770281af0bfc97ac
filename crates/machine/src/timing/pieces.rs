//! What the blocks of a launch have in common of each allocation, by what those that were recorded reach of it.

use std::collections::{HashMap, HashSet};

use super::grid::{Grid, Reached};
use super::memory::{Piece, piece_of};
use super::program::Program;
use super::rates::Rates;
use crate::exec::Recording;

/// Lines that more than one of the blocks reaches.
pub(super) fn common(recordings: &[Recording]) -> HashSet<u64> {
    let (mut first, mut common) = (HashMap::new(), HashSet::new());
    for (block, recording) in recordings.iter().enumerate() {
        for line in recording.lines.iter().filter(|line| !line.is_local()) {
            if *first.entry(line.number).or_insert(block) != block {
                common.insert(line.number);
            }
        }
    }
    common
}

/// How many times its own size a cache is gone through, beyond once, until nothing of it is found again.
const SHARP: f64 = 0.25;

/// Sectors of one allocation.
#[derive(Clone, Copy, Debug, Default)]
struct Sectors {
    /// That a block reads on average: of lines that only one of the recorded ones reaches, and of others.
    own: f64,
    common: f64,
    /// Of the latter, those that differ.
    distinct: u64,
    /// That a block writes on average.
    written: f64,
}

/// How a launch uses an allocation: bytes that it reaches, and bytes that its blocks ask L2 for, in sectors.
#[derive(Clone, Copy, Debug)]
struct Use {
    bytes: f64,
    requested: f64,
}

impl Use {
    /// How many times each byte is asked for.
    fn times(&self) -> f64 {
        self.requested / self.bytes.max(1.0)
    }
}

/// All uses, those first that ask for each byte least often. There may be thousands of allocations.
struct Uses {
    times: Vec<f64>,
    /// Of each and all behind it, and of all before it.
    bytes: Vec<f64>,
    requested: Vec<f64>,
}

impl Uses {
    fn new(mut uses: Vec<Use>) -> Self {
        uses.sort_by(|one, other| one.times().total_cmp(&other.times()));
        let (mut bytes, mut requested) = (vec![0.0; uses.len() + 1], vec![0.0; uses.len() + 1]);
        for (at, of) in uses.iter().enumerate() {
            requested[at + 1] = requested[at] + of.requested;
        }
        for (at, of) in uses.iter().enumerate().rev() {
            bytes[at] = bytes[at + 1] + of.bytes;
        }
        Self { times: uses.iter().map(Use::times).collect(), bytes, requested }
    }

    /// Bytes that pass between two requests for a sector of an allocation, where these are spread over the whole
    /// launch: of one that is asked for as often, all that is reached of it, and of others what is asked for in that
    /// time.
    fn distance(&self, of: Use) -> f64 {
        let times = of.times().max(1.0);
        let at = self.times.partition_point(|&other| other < times);
        self.bytes[at] + self.requested[at] / times
    }
}

/// What a launch does to memory as a whole.
pub(super) struct Pieces {
    pub(super) pieces: Vec<Piece>,
    /// Of what it brings to L2, the share that takes the place of what was written.
    pub(super) written_back: f64,
    pub(super) left: Left,
}

/// What a launch leaves in L2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    /// The bytes of allocations that it has reached, by their bases.
    pub(crate) reached: Vec<(u64, f64)>,
    /// Bytes that were written, by this launch and by those before, and that DRAM does not know yet.
    pub(crate) dirty: f64,
}

impl Pieces {
    /// Of a launch: `common` are the lines that several of the recorded blocks reach, `shares` how much of the grid each stands for.
    pub(super) fn new(
        program: &Program,
        rates: &Rates,
        grid: &Grid,
        recordings: &[Recording],
        (common, shares): (&HashSet<u64>, &[f64]),
    ) -> Self {
        let piece = |&Reached { start, end, cached }: &Reached| Piece {
            start,
            end,
            fresh: 1.0,
            fresh_common: 1.0,
            fresh_written: 1.0,
            missing: 1.0 - cached,
            evicted: 0.0,
            written_sectors: 1.0,
            sharers: 1.0,
        };
        let mut pieces: Vec<Piece> = grid.regions.iter().map(piece).collect();
        pieces.sort_unstable_by_key(|piece| piece.start);
        let sectors = reached(program, &pieces, recordings, (common, shares));
        let mut reached = Vec::new();
        let mut uses = Vec::new();
        let (mut brought, mut newly_written, mut asked) = (0.0, 0.0, 0.0);
        for (piece, sectors) in pieces.iter_mut().zip(sectors) {
            let all = ((piece.end - piece.start) as f64 / 32.0).ceil();
            // What a recorded block does, all blocks do that it stands for.
            let all_blocks = |sectors: f64| sectors * grid.blocks as f64;
            let share = |there: f64, asked: f64| if asked > 0.0 { (there / all_blocks(asked)).min(1.0) } else { 1.0 };
            let distinct = sectors.distinct as f64;
            piece.fresh = share(all - distinct, sectors.own) * piece.missing;
            piece.fresh_common = share(distinct, sectors.common) * piece.missing;
            piece.fresh_written = share(all, sectors.written);
            let (read, written) = ((all_blocks(sectors.own) + distinct).min(all), all_blocks(sectors.written).min(all));
            piece.written_sectors = written.max(1.0);
            piece.sharers = (all_blocks(sectors.own + sectors.common) / read.max(1.0)).max(1.0);
            // Of what is written in place there is one copy.
            brought += 32.0 * (read + written).min(all) * piece.missing;
            newly_written += 32.0 * written;
            asked += 32.0 * (read * piece.missing + written);
            let requests = all_blocks(sectors.own + sectors.common + sectors.written);
            uses.push(Use { bytes: 32.0 * (read + written).min(all), requested: 32.0 * requests });
            if read + written > 0.0 {
                reached.push((piece.start, 32.0 * (read + written)));
            }
        }
        let all = Uses::new(uses.clone());
        for (piece, of) in pieces.iter_mut().zip(uses) {
            piece.evicted = missing(all.distance(of) / rates.l2_bytes);
        }
        // What comes in takes the place of any other. So this much of what was there at the beginning stays to the end, and this much of
        // what comes in between.
        let times = brought / rates.l2_bytes;
        let stays = (-times).exp();
        let stays_of_new = if times > 1e-6 { (1.0 - stays) / times } else { 1.0 };
        let written_back = newly_written * (1.0 - stays_of_new) + grid.dirty * (1.0 - stays);
        let dirty = newly_written * stays_of_new + grid.dirty * stays;
        Self {
            pieces,
            written_back: if asked > 0.0 { written_back / asked } else { 0.0 },
            left: Left { reached, dirty },
        }
    }
}

/// Which share of what is gone through again and again a cache lacks each time, of which it is so many times its size: what has waited longest
/// has to go first, which is what would be asked for next, so that soon nothing is left. It is not quite so sharp, as a set of lines may be
/// fuller than another.
pub(crate) fn missing(times: f64) -> f64 {
    ((times - 1.0) / SHARP).clamp(0.0, 1.0)
}

fn reached(
    program: &Program,
    pieces: &[Piece],
    recordings: &[Recording],
    (common, shares): (&HashSet<u64>, &[f64]),
) -> Vec<Sectors> {
    let mut sectors = vec![Sectors::default(); pieces.len()];
    let mut distinct: HashMap<u64, u8> = HashMap::new();
    for (recording, block) in recordings.iter().zip(shares) {
        let (mut read, mut written): (HashMap<u64, u8>, HashMap<u64, u8>) = Default::default();
        for step in recording.warps.iter().flat_map(|path| &path.steps) {
            let is_read = program.ops[step.pc as usize].kind.loads();
            let reached = if is_read { &mut read } else { &mut written };
            for line in recording.lines(step) {
                *reached.entry(line.number).or_default() |= line.sectors;
            }
        }
        for (line, mask) in read {
            let Some(at) = piece_of(pieces, line) else { continue };
            let count = f64::from(mask.count_ones()) * block;
            if common.contains(&line) {
                sectors[at].common += count;
                let known = distinct.entry(line).or_default();
                sectors[at].distinct += u64::from((mask & !*known).count_ones());
                *known |= mask;
            } else {
                sectors[at].own += count;
            }
        }
        for (line, mask) in written {
            if let Some(at) = piece_of(pieces, line) {
                sectors[at].written += f64::from(mask.count_ones()) * block;
            }
        }
    }
    sectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_requests_the_whole_of_what_is_asked_for_as_often_passes_and_a_part_of_the_rest() {
        let uses = [(100.0, 400.0), (1000.0, 1000.0), (10.0, 80.0), (0.0, 0.0)];
        let uses = uses.map(|(bytes, requested)| Use { bytes, requested });
        let all = Uses::new(uses.to_vec());
        let pairwise = |of: &Use| {
            let times = of.times().max(1.0);
            uses.iter().map(|other| other.bytes.min(other.requested / times)).sum::<f64>()
        };
        for of in &uses {
            assert!((all.distance(*of) - pairwise(of)).abs() < 1e-9, "{of:?}");
        }
        assert_eq!(all.distance(uses[0]), 100.0 + 1000.0 / 4.0 + 10.0);
    }

    #[test]
    fn a_cache_that_is_too_small_keeps_some() {
        let shares = [0.5, 1.0, 1.1, 2.0, 10.0].map(missing);
        assert!(shares[..2] == [0.0, 0.0] && shares.is_sorted(), "{shares:?}");
        assert!((0.3..0.6).contains(&shares[2]) && shares[4] > 0.99, "{shares:?}");
    }
}
