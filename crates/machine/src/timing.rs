//! Predicted times: a model of what a GPU of a profile would need, never a measurement.
//!
//! A kernel takes its launch overhead, plus the latency of its first answer from memory, plus the
//! longest of four times, as if everything else hid behind it:
//!
//! * DRAM: bytes that must reach it (distinct sectors, as if the cache were cold) over the bandwidth
//!   that a large copy reaches;
//! * L2: all sectors requested, repeated ones too, over the bandwidth of L2;
//! * issue: warp instructions over what the schedulers issue. An SM issues one warp instruction a
//!   clock for every 32 of its lanes, and a warp no more than one in four clocks, so that few warps
//!   issue slowly. The busiest SM counts: blocks come whole, which is the cost of a last, partial wave;
//! * shared memory: one wavefront a clock in each SM.
//!
//! A grid with fewer blocks than SMs draws on L2 and DRAM only as fast as its SMs can: 64 bytes a
//! clock each (NVIDIA A100 architecture whitepaper: L2 to SM).
//!
//! What the model leaves out: caches that are still warm, DRAM pages and refresh, contention on one
//! atomic address, latency that too few warps fail to hide, the cost of slow instructions. Large
//! elementwise kernels are bound by DRAM, and there the model's ratio of a chain to its fused form is
//! the ratio of their bytes.

mod account;
mod cost;
mod effect;
mod grid;
mod memory;
mod pieces;
mod program;
mod rates;
mod representatives;
mod schedule;
mod sm;
mod spill;
mod unroll;

pub(crate) use cost::CLUSTERS_APART;
pub use effect::Effect;
pub(crate) use effect::Model;
pub use grid::Estimate;
pub(crate) use grid::{Grid, Reached, estimate};
pub(crate) use pieces::{Left, missing};
pub(crate) use program::Program;
pub use rates::Rates;
pub(crate) use representatives::work;
pub(crate) use unroll::unrolled;

use crate::profile::Profile;
use crate::report::Counters;

/// Parts of a clock of the SM.
pub(crate) type Ticks = u64;
pub(crate) const TICKS: Ticks = 8;

pub(crate) fn ticks(clocks: f64) -> Ticks {
    (clocks * TICKS as f64).round() as Ticks
}

/// Nanoseconds that an event takes of a stream's time. Between two events lies one of them with what was launched: chains of small launches
/// take so much less than the sum of their launches (`crates/timings/measured/h200.csv`, `chain` and `unfused` of the days).
pub const EVENT_NS: f64 = 1250.0;

/// What a launch looks like to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub blocks: u64,
    pub threads_per_block: u32,
    /// Blocks resident on one SM at a time, see [`crate::occupancy`].
    pub blocks_per_sm: u32,
}

/// Clocks from one instruction of a warp to its next, dependent one.
const DEPENDENT_ISSUE_CLOCKS: f64 = 4.0;
/// What one SM can take from L2, in bytes a clock.
const SM_BYTES_PER_CLOCK: f64 = 64.0;
const SECTOR_BYTES: f64 = 32.0;
/// What starting a copy costs beyond its bytes: a copy engine or a copy kernel is asked by the host.
const COPY_OVERHEAD_NS: f64 = 1500.0;

/// Predicted nanoseconds of one launch in a busy stream, its overhead included, which is also the least.
pub fn predict_ns(profile: &Profile, launch: &Shape, counters: &Counters) -> f64 {
    let times = Times::of(profile, launch, counters);
    let latency = if sectors(counters) > 0 { profile.dram_latency_ns } else { 0.0 };
    profile.launch_overhead_ns + latency + times.longest()
}

/// The four times of the model, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) dram: f64,
    pub(crate) l2: f64,
    pub(crate) issue: f64,
    pub(crate) shared: f64,
}

impl Times {
    pub(crate) fn longest(&self) -> f64 {
        self.dram.max(self.l2).max(self.issue).max(self.shared)
    }
}

/// Sectors that go through L2.
fn sectors(counters: &Counters) -> u64 {
    [counters.global_load, counters.global_store, counters.global_atomic, counters.local_load, counters.local_store]
        .iter()
        .map(|traffic| traffic.sectors)
        .sum()
}

impl Times {
    pub(crate) fn of(profile: &Profile, launch: &Shape, counters: &Counters) -> Self {
        let sectors = sectors(counters) as f64;
        let dram_bytes = (counters.dram_read_bytes + counters.dram_write_bytes) as f64;
        let wavefronts = (counters.shared_load.sectors + counters.shared_store.sectors) as f64;

        let sms = f64::from(profile.sms);
        let clock = f64::from(profile.sm_clock_khz) * 1e3;
        let blocks = launch.blocks.max(1) as f64;
        let active_sms = blocks.min(sms);
        let supply = active_sms * SM_BYTES_PER_CLOCK * clock;

        let dram = dram_bytes / profile.dram_bandwidth.min(supply);
        let l2 = sectors * SECTOR_BYTES / profile.l2_bandwidth.min(supply);
        // The share of all work that the busiest SM does.
        let blocks_on_busiest = (blocks / sms).ceil();
        let busiest = blocks_on_busiest / blocks;
        let resident_blocks = blocks_on_busiest.min(f64::from(launch.blocks_per_sm.max(1)));
        let resident_warps = resident_blocks * f64::from(launch.threads_per_block.div_ceil(Profile::WARP_SIZE).max(1));
        let issue_per_clock =
            f64::from(profile.lanes_per_sm / Profile::WARP_SIZE).min(resident_warps / DEPENDENT_ISSUE_CLOCKS);
        let issue = counters.warp_instructions as f64 * busiest / (issue_per_clock * clock);
        let shared = wavefronts * busiest / clock;

        Self { dram: 1e9 * dram, l2: 1e9 * l2, issue: 1e9 * issue, shared: 1e9 * shared }
    }
}

/// Predicted nanoseconds of a copy or fill that moves `bytes`: over the bus to or from the host, or
/// within the device's memory. A copy within the device reads and writes, so that each of its bytes
/// counts twice; count a fill's once by passing half of them.
pub fn copy_time_ns(profile: &Profile, bytes: u64, over_the_bus: bool) -> f64 {
    let bytes = bytes as f64;
    let seconds = if over_the_bus { bytes / profile.host_bandwidth } else { 2.0 * bytes / profile.dram_bandwidth };
    COPY_OVERHEAD_NS + 1e9 * seconds
}

/// The share of such a time in which memory is busy.
pub fn copy_share(nanoseconds: f64) -> f64 {
    1.0 - COPY_OVERHEAD_NS / nanoseconds.max(COPY_OVERHEAD_NS)
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    use super::*;
    use crate::report::Traffic;

    /// An elementwise kernel over `n` f32, one thread each, that loads and stores so many arrays.
    fn elementwise(n: u64, loads: u64, stores: u64, instructions: u64) -> (Shape, Counters) {
        let warps = n.div_ceil(32);
        let traffic =
            |arrays: u64| Traffic { requests: warps * arrays, sectors: warps * arrays * 4, bytes: n * arrays * 4 };
        let counters = Counters {
            warp_instructions: warps * instructions,
            thread_instructions: n * instructions,
            global_load: traffic(loads),
            global_store: traffic(stores),
            dram_read_bytes: n * loads * 4,
            dram_write_bytes: n * stores * 4,
            ..Counters::default()
        };
        (Shape { blocks: n.div_ceil(256), threads_per_block: 256, blocks_per_sm: 8 }, counters)
    }

    fn time(profile: &Profile, n: u64, loads: u64, stores: u64) -> f64 {
        let (shape, counters) = elementwise(n, loads, stores, 20);
        predict_ns(profile, &shape, &counters)
    }

    #[test]
    fn fusing_gains_the_byte_ratio_on_large_inputs() {
        for profile in Profile::all() {
            let n = 1 << 26;
            // add_mul_relu: 12 + 12 + 8 bytes per element against 12.
            let unfused = 2.0 * time(profile, n, 2, 1) + time(profile, n, 1, 1);
            let ratio = unfused / time(profile, n, 2, 1);
            assert!((2.6..2.75).contains(&ratio), "{}: {ratio}", profile.name);
        }
    }

    #[test]
    fn fusing_gains_launches_on_small_inputs() {
        let h200 = Profile::default();
        let ratio = 3.0 * time(&h200, 1000, 2, 1) / time(&h200, 1000, 2, 1);
        assert!(ratio > 2.9, "{ratio}");
        assert!(time(&h200, 1000, 2, 1) < 2.0 * h200.launch_overhead_ns);
    }

    #[test]
    fn more_work_never_takes_less_time() {
        for profile in Profile::all() {
            let times: Vec<f64> = (0..28).map(|log| time(profile, 1 << log, 2, 1)).collect();
            assert!(times.is_sorted(), "{}: {times:?}", profile.name);
        }
    }

    #[test]
    fn an_empty_kernel_takes_the_overhead() {
        let h200 = Profile::default();
        let shape = Shape { blocks: 1, threads_per_block: 32, blocks_per_sm: 32 };
        assert_eq!(predict_ns(&h200, &shape, &Counters::default()), h200.launch_overhead_ns);
    }

    #[test]
    fn one_block_is_slower_than_many() {
        let h200 = Profile::default();
        let (shape, counters) = elementwise(1 << 20, 2, 1, 20);
        let one = Shape { blocks: 1, threads_per_block: 1024, blocks_per_sm: 1 };
        assert!(predict_ns(&h200, &one, &counters) > 10.0 * predict_ns(&h200, &shape, &counters));
    }

    #[test]
    fn uncoalesced_access_is_bound_by_l2() {
        let h200 = Profile::default();
        let (shape, coalesced) = elementwise(1 << 24, 1, 1, 20);
        let mut strided = coalesced;
        strided.global_load.sectors *= 8;
        assert!(predict_ns(&h200, &shape, &strided) > 2.0 * predict_ns(&h200, &shape, &coalesced));
    }

    #[test]
    fn copies_reach_the_ceiling_when_large() {
        let h200 = Profile::default();
        let bytes = 2u64 << 30;
        let rate = 2.0 * bytes as f64 / copy_time_ns(&h200, bytes, false);
        assert_approx_eq!(rate, 4250.0, 10.0); // GB/s
        assert!(copy_time_ns(&h200, bytes, true) > 10.0 * copy_time_ns(&h200, bytes, false));
    }
}
