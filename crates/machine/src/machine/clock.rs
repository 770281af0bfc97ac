//! How long a launch takes, from a few of its blocks.
//!
//! They are executed for it ([`Machine::estimate`]), or recorded when the launch is.

mod cached;
mod known;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use super::residency::Residency;
use super::{Checks, How, Kernel, Launch, Loaded, Machine, Tracing, blame, limits};
use crate::exec::{Path, Recording};
use crate::memory::Region;
use crate::profile::Profile;
use crate::report::kind::Refusal;
use crate::report::{Fault, SourcePosition};
use crate::timing::{self, CLUSTERS_APART, Estimate, Grid, Model, Program, Rates, Reached};
use cached::Cached;
use known::{Key, Known};

/// Warp instructions that one of the blocks may execute.
const BUDGET: u64 = 1 << 28;

/// Of blocks that execute more than so many, three are enough.
const LONG: u64 = 1 << 20;
/// Instructions of a block's warps up to which several stand for all.
const SHORT: u64 = 1 << 15;

/// Blocks differ where one executes so many times as many instructions as another. Then so many are executed to know how many a block
/// does on average; of long ones fewer, as many as execute about so many instructions.
const UNEVEN: f64 = 1.25;
const COUNTED: u64 = 40;
const ENOUGH: u64 = 16 * LONG;

/// Launches that were timed, and what they leave for others.
#[derive(Debug, Default)]
pub(super) struct Timed {
    cached: Cached,
    known: Known,
}

/// A launch that is executed, and that may be timed.
pub(super) struct Timing<'a> {
    machine: &'a Machine,
    loaded: &'a Loaded,
    kernel: Kernel,
    launch: &'a Launch,
    /// Those that are recorded; none where the time is known, or nobody wants it.
    blocks: Vec<u64>,
    key: Key,
    known: Option<Estimate>,
}

impl Machine {
    /// Predicts how long a launch takes that comes behind those which were timed before: of what they have reached, L2 holds what it has
    /// room for. A few blocks of the launch are executed, as if the others had not begun yet: what they write stays written.
    ///
    /// None for a kernel whose blocks go on by what others do: such a launch must be executed
    /// ([`Machine::set_times`]).
    ///
    /// # Errors
    /// As [`Machine::launch_block`]'s.
    pub fn estimate(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
    ) -> Result<Option<Estimate>, Box<Fault>> {
        let info = loaded.info(kernel);
        let Some(code) = loaded.code(kernel) else { return Err(blame::refused(&info.name, Refusal::NoKernel)) };
        if launch.blocks() == 0 {
            return Err(blame::refused(&info.name, Refusal::EmptyGrid { grid: launch.grid }));
        }
        if launch.cooperative || code.waits {
            return Ok(None);
        }
        let key = self.key(loaded, kernel, launch, params);
        if let Some(estimate) = self.known(&key) {
            return Ok(Some(estimate));
        }
        let record = |block| self.record_block(loaded, kernel, launch, params, (block, BUDGET));
        let first = record(0)?;
        let executed = first.warps.iter().map(Path::executed).sum::<u64>();
        let mut recordings = vec![first];
        for block in self.sample(launch.blocks(), executed).into_iter().skip(1) {
            recordings.push(record(block)?);
        }
        let mut mean = None;
        if let Some(last) = recordings.pop() {
            if uneven(&recordings) {
                let count = |block| self.count_block(loaded, kernel, launch, params, (block, BUDGET));
                let counted = Counted::new(launch.blocks(), count)?;
                mean = Some(counted.mean());
                recordings = counted.chosen(recordings.len()).into_iter().map(record).collect::<Result<_, _>>()?;
            }
            recordings.push(last);
        }
        Ok(self.simulate(loaded, kernel, launch, (recordings, mean), key))
    }

    /// Whether launches that are executed are timed by what their blocks do, from the next one on: see [`super::Options::times`].
    pub fn set_times(&self, times: bool) {
        self.times.store(times, Relaxed);
    }

    /// Whether the accounts of launches that are timed say what warps do, and when.
    pub fn set_traces(&self, traces: bool) {
        self.traces.store(traces, Relaxed);
    }

    /// The next launch finds nothing in L2, and those that were timed before are forgotten.
    pub fn empty_cache(&self) {
        *self.timed.lock().unwrap_or_else(PoisonError::into_inner) = Timed::default();
    }

    /// What is to be recorded of a launch that is executed, for its time.
    pub(super) fn timing<'a>(
        &'a self,
        loaded: &'a Loaded,
        kernel: Kernel,
        launch: &'a Launch,
        params: &[u8],
    ) -> Timing<'a> {
        let mut timing =
            Timing { machine: self, loaded, kernel, launch, blocks: Vec::new(), key: Key::default(), known: None };
        if self.times.load(Relaxed) {
            timing.key = self.key(loaded, kernel, launch, params);
            timing.known = self.known(&timing.key);
            if timing.known.is_none() {
                timing.blocks = self.sample(launch.blocks(), 0);
            }
        }
        timing
    }

    /// Blocks that stand for all: the first, one of the second wave, some at irregular distances, since every eighth row may be unlike the
    /// others, and the last, which may be cut off. Of blocks that execute many instructions there are fewer; but two beside the last, or
    /// nobody would see that they differ.
    fn sample(&self, blocks: u64, executed: u64) -> Vec<u64> {
        if blocks == 0 {
            return Vec::new();
        }
        let part = |share: f64| (blocks as f64 * share) as u64;
        let between = [part(0.618), u64::from(self.profile.sms), part(0.146), part(0.382), part(0.764), part(0.910)];
        let most = if executed > LONG {
            1
        } else if executed > SHORT {
            2
        } else {
            between.len()
        };
        let mut wanted = vec![0, blocks - 1];
        wanted.extend(between.into_iter().take(most).map(|block| block.min(blocks - 1)));
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// By what launches are alike.
    fn key(&self, loaded: &Loaded, kernel: Kernel, launch: &Launch, params: &[u8]) -> Key {
        let regions = self.memory.snapshot();
        Key::new(loaded, kernel, launch, params, |address| {
            let region = regions.iter().find(|it| (it.allocation.base..it.allocation.end()).contains(&address))?;
            Some((address - region.allocation.base, region.allocation.size))
        })
    }

    /// The time of a launch that was timed often enough.
    fn known(&self, key: &Key) -> Option<Estimate> {
        let rates = Rates::of(&self.profile);
        let mut timed = self.timed.lock().unwrap_or_else(PoisonError::into_inner);
        let (estimate, left) = timed.known.get(key)?;
        timed.cached.launched(left, rates.l2_bytes);
        Some(estimate)
    }

    /// The time of a launch from what some of its blocks did, the last of them the grid's last; and what one does on average, where they
    /// differ.
    fn simulate(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        (recordings, mean): (Vec<Recording>, Option<f64>),
        key: Key,
    ) -> Option<Estimate> {
        let model = Model::new(Rates::of(&self.profile), self.options.without);
        let (rates, code) = (&model.rates, loaded.code(kernel)?);
        let (blocks, threads) = (launch.blocks(), launch.threads() as u32);
        if blocks == 0 || recordings.is_empty() {
            return None;
        }
        let shared = (code.dynamic_shared_offset + launch.dynamic_shared).saturating_sub(code.reserved_shared);
        let residency = Residency { profile: &self.profile, loaded, kernel, blocks, threads, shared };
        let cluster = launch.cluster.or(loaded.info(kernel).required_cluster);
        let cluster: Option<u32> = cluster.map(|cluster| cluster.iter().product());
        let occupancy = residency.occupancy();
        let (resident, places) = match cluster {
            None => (occupancy.blocks, occupancy.blocks_whose_warps_left()),
            // Its blocks begin together.
            Some(_) => [occupancy.blocks.min(Profile::MAX_CLUSTER_BLOCKS_PER_SM); 2].into(),
        };
        let resources = loaded.resources(kernel);
        let mut timed = self.timed.lock().unwrap_or_else(PoisonError::into_inner);
        let region = |region: &Arc<Region>| Reached {
            start: region.allocation.base,
            end: region.allocation.end(),
            cached: timed.cached.share(region.allocation.base, rates.l2_bytes),
        };
        let grid = Grid {
            blocks,
            sms: cluster.map_or(self.profile.sms, |size| self.profile.sms_for_clusters(size)).into(),
            apart: cluster.map_or(0.0, |size| CLUSTERS_APART / f64::from(size.max(1))),
            resident: resident.max(1).into(),
            places: places.max(1).into(),
            warps: occupancy.warps_that_fit,
            most_warps: self.profile.max_threads_per_sm / Profile::WARP_SIZE,
            shared: u64::from(shared + self.profile.shared_reserved),
            spilled: (resources.spill_stores / 4, resources.spill_loads / 4),
            registers: resources.exact.then_some(resources.registers),
            regions: self.memory.snapshot().iter().map(region).collect(),
            traced: self.traces.load(Relaxed),
            dirty: timed.cached.dirty(),
            mean,
        };
        let text = |pc: u32| loaded.text(kernel, pc).unwrap_or_default();
        let program = Program::new(code, &self.profile.units, &model, text);
        let place = |pc: u32| {
            let (source, ptx) = loaded.place(kernel, pc);
            (own(source), ptx)
        };
        let (estimate, left) =
            timing::estimate(&program, &model, &grid, recordings, &|pc| timing::unrolled(code, pc), &place);
        timed.cached.launched(left.clone(), rates.l2_bytes);
        timed.known.add(key, (estimate.clone(), left));
        Some(estimate)
    }

    /// Executes one block of a launch as [`Machine::launch_block`] does, and says how many instructions its warps took: of a cluster, all of
    /// whose blocks are executed, how many a block's took on average.
    fn count_block(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        alone: (u64, u64),
    ) -> Result<u64, Box<Fault>> {
        let how = How { tracing: Tracing::Off, checks: Checks::NONE, alone: Some(alone), recorded: &[] };
        let executed = self.execute(loaded, kernel, launch, params, how)?;
        let together: u32 = limits::cluster(&loaded.info(kernel), launch).iter().product();
        Ok(executed.report.counters.warp_instructions / u64::from(together.max(1)))
    }

    /// Executes one block of a launch as [`Machine::launch_block`] does, and records all that its warps do.
    fn record_block(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        alone: (u64, u64),
    ) -> Result<Recording, Box<Fault>> {
        let recorded = &[alone.0];
        let how = How { tracing: Tracing::Off, checks: Checks::NONE, alone: Some(alone), recorded };
        let executed = self.execute(loaded, kernel, launch, params, how)?;
        Ok(executed.recordings.into_iter().map(|(_, recording)| *recording).next().unwrap_or_default())
    }
}

/// Whether blocks have more or less to do, as those of a product under a mask have.
fn uneven(recordings: &[Recording]) -> bool {
    let all = || recordings.iter().map(timing::work);
    all().max().unwrap_or(0) as f64 > UNEVEN * all().min().unwrap_or(0) as f64
}

/// Blocks that differ, from all over the grid, and the instructions of each.
struct Counted(Vec<(u64, u64)>);

impl Counted {
    /// Blocks at distances that no period goes by, those that are far from each other first.
    fn new(blocks: u64, mut count: impl FnMut(u64) -> Result<u64, Box<Fault>>) -> Result<Self, Box<Fault>> {
        const GOLDEN: f64 = 0.618_033_988_749_895;
        /// Nearly the golden part of all places, and without a common factor with their number.
        const STEP: u64 = 23;
        let place = |at: u64| ((at as f64 + (at as f64 * GOLDEN).fract()) * blocks as f64 / COUNTED as f64) as u64;
        let mut counted: Vec<(u64, u64)> = Vec::new();
        let mut sum = 0;
        for at in 0..COUNTED {
            let block = place(at * STEP % COUNTED).min(blocks.saturating_sub(1));
            if counted.iter().all(|(other, _)| *other != block) {
                let work = count(block)?;
                counted.push((block, work));
                sum += work;
            }
            if sum > ENOUGH && counted.len() >= COUNTED as usize / 4 {
                break;
            }
        }
        Ok(Self(counted))
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|(_, work)| work).sum::<u64>() as f64 / self.0.len().max(1) as f64
    }

    /// The blocks with least and most to do, and so many with about as much as one has on average.
    fn chosen(&self, wanted: usize) -> Vec<u64> {
        let mean = self.mean();
        let mut sorted = self.0.clone();
        sorted.sort_by_key(|(_, work)| *work);
        let ends = sorted.first().into_iter().chain(sorted.last()).map(|(block, _)| *block).collect::<Vec<_>>();
        sorted.sort_by(|(_, a), (_, b)| (*a as f64 - mean).abs().total_cmp(&(*b as f64 - mean).abs()));
        let mut chosen: Vec<u64> = sorted.into_iter().take(wanted.max(1)).map(|(block, _)| block).collect();
        chosen.extend(ends);
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}

/// Of the calls that an instruction was inlined into, the innermost that is in the kernel's own file.
fn own(source: Vec<SourcePosition>) -> Option<SourcePosition> {
    let file = source.last()?.file.clone();
    source.into_iter().find(|position| position.file == file)
}

impl Timing<'_> {
    /// The blocks that are to be recorded.
    pub(super) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// The time, once the launch is over, whose warps took so many instructions.
    pub(super) fn end(&mut self, recordings: Vec<(u64, Box<Recording>)>, executed: u64) -> Option<Estimate> {
        if self.known.is_some() || self.blocks.is_empty() {
            return self.known.take();
        }
        let recordings: Vec<Recording> = recordings.into_iter().map(|(_, recording)| *recording).collect();
        let others = recordings.split_last().map_or(&[][..], |(_, others)| others);
        let mean = uneven(others).then(|| executed as f64 / self.launch.blocks().max(1) as f64);
        let key = std::mem::take(&mut self.key);
        self.machine.simulate(self.loaded, self.kernel, self.launch, (recordings, mean), key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(blocks: u64, work: impl Fn(u64) -> u64) -> Counted {
        Counted::new(blocks, |block| Ok(work(block))).unwrap_or_else(|_| Counted(Vec::new()))
    }

    #[test]
    fn blocks_that_differ_are_counted_all_over_the_grid() {
        // Heads of 64 blocks, each with one tile more than the one before it: 32.5 on average.
        for blocks in [64, 1024, 4096, 64 * 1000] {
            let work = |block: u64| 1000 * (block % 64 + 1);
            let counted = counted(blocks, work);
            assert!((counted.mean() / 32_500.0 - 1.0).abs() < 0.1, "{blocks}: {}", counted.mean());
            let chosen = counted.chosen(3);
            assert!((4..=5).contains(&chosen.len()), "{blocks}: {chosen:?}");
            let usual = chosen.iter().filter(|block| (28..=37).contains(&(*block % 64 + 1)));
            assert!(usual.count() >= 3, "{blocks}: {chosen:?}");
        }
        // No more blocks than there are.
        assert_eq!(counted(1, |_| 7).chosen(3), [0]);
    }

    #[test]
    fn few_long_blocks_are_counted_from_all_over_the_grid() {
        let counted = counted(4096, |block| 4 * LONG * (block % 64 + 1) / 32);
        assert!(counted.0.len() < 20, "{}", counted.0.len());
        assert!((counted.mean() / (4.0 * LONG as f64) - 1.0).abs() < 0.3, "{}", counted.mean());
    }
}
