//! How many of a launch's blocks an SM holds at once.
//!
//! That takes the registers of a thread, and to know them exactly takes the assembler's time, so that it is seen first whether
//! they matter: most launches are bound by memory however many of their blocks run at once.

use super::{Kernel, Loaded};
use crate::occupancy::{Block, Limits, Occupancy};
use crate::profile::Profile;
use crate::report::Counters;
use crate::timing::{self, Shape, Times};

pub(super) struct Residency<'a> {
    pub(super) profile: &'a Profile,
    pub(super) loaded: &'a Loaded,
    pub(super) kernel: Kernel,
    /// Blocks of the grid, threads and bytes of shared memory of a block.
    pub(super) blocks: u64,
    pub(super) threads: u32,
    pub(super) shared: u32,
}

impl Residency<'_> {
    /// By the kernel's registers: exact or estimated.
    pub(super) fn occupancy(&self) -> Occupancy {
        self.loaded.resources(self.kernel).occupancy(self.profile, self.threads, self.shared)
    }

    /// What an SM holds, by the kernel's registers: exact or estimated.
    pub(super) fn per_sm(&self) -> u32 {
        self.occupancy().blocks.max(1)
    }

    /// What an SM holds at least, whatever the registers are.
    pub(super) fn least_per_sm(&self) -> u32 {
        self.with(self.loaded.most_registers(self.kernel))
    }

    /// What an SM can hold for all that is known.
    pub(super) fn most_per_sm(&self) -> u32 {
        let resources = self.loaded.resources(self.kernel);
        resources.most_occupancy(self.profile, self.threads, self.shared).blocks.max(1)
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape_with(self.per_sm())
    }

    pub(super) fn times(&self, counters: &Counters) -> Times {
        Times::of(self.profile, &self.shape(), counters)
    }

    /// Predicted nanoseconds of the launch.
    pub(super) fn predict_ns(&self, counters: &Counters) -> f64 {
        let predict = |per_sm| timing::predict_ns(self.profile, &self.shape_with(per_sm), counters);
        let (slowest, fastest) = (predict(self.least_per_sm()), predict(self.with(1)));
        if slowest == fastest { slowest } else { predict(self.per_sm()) }
    }

    fn with(&self, registers: u32) -> u32 {
        let block = Block { threads: self.threads, registers, shared: self.shared };
        Limits::of(self.profile).occupancy(&block).blocks.max(1)
    }

    fn shape_with(&self, blocks_per_sm: u32) -> Shape {
        Shape { blocks: self.blocks, threads_per_block: self.threads, blocks_per_sm }
    }
}
