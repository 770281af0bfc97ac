//! How long a launch takes, from a few of its blocks.

use super::residency::Residency;
use super::{Checks, Kernel, Launch, Loaded, Machine, Tracing, blame};
use crate::exec::{Path, Recording};
use crate::report::Fault;
use crate::report::kind::Refusal;
use crate::timing::{self, Estimate, Grid, Model, Program, Rates};

/// Warp instructions that one of the blocks may execute.
const BUDGET: u64 = 1 << 28;

/// Of blocks that execute more than so many, two are enough.
const LONG: u64 = 1 << 20;

impl Machine {
    /// Predicts how long a launch takes. A few blocks of it are executed, as if the others had not begun yet: what they write stays
    /// written. `warm`: L2 holds what the launch reads, as far as it has room. None for a launch of no blocks.
    ///
    /// How a block goes on must not depend on what others write.
    ///
    /// # Errors
    /// As [`Machine::launch_block`]'s.
    pub fn estimate(
        &self,
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        warm: bool,
    ) -> Result<Option<Estimate>, Box<Fault>> {
        let info = loaded.info(kernel);
        let Some(code) = loaded.code(kernel) else { return Err(blame::refused(&info.name, Refusal::NoKernel)) };
        if launch.blocks() == 0 {
            return Err(blame::refused(&info.name, Refusal::EmptyGrid { grid: launch.grid }));
        }
        let model = Model::new(Rates::of(&self.profile), self.options.without);
        let (rates, blocks) = (&model.rates, launch.blocks());
        let mut recordings: Vec<Recording> = Vec::new();
        // The first, one that runs beside it, one of later, and the last, which may be cut off.
        let mut wanted = vec![0, u64::from(rates.sms).min(blocks - 1), blocks / 2, blocks - 1];
        wanted.sort_unstable();
        wanted.dedup();
        for block in wanted {
            let executed = |recording: &Recording| recording.warps.iter().map(Path::executed).sum::<u64>();
            let long = recordings.first().is_some_and(|first| executed(first) > LONG);
            if recordings.is_empty() || block == blocks - 1 || !long {
                recordings.push(self.record_block(loaded, kernel, launch, params, (block, BUDGET))?);
            }
        }
        let shared = (code.dynamic_shared_offset + launch.dynamic_shared).saturating_sub(code.reserved_shared);
        let threads = launch.threads() as u32;
        let residency = Residency { profile: &self.profile, loaded, kernel, blocks, threads, shared };
        let grid = Grid {
            blocks,
            resident: u64::from(residency.per_sm()),
            shared: u64::from(shared + self.profile.shared_reserved),
            regions: self.memory.snapshot().iter().map(|it| (it.allocation.base, it.allocation.end())).collect(),
            warm,
        };
        let text = |pc: u32| loaded.place(kernel, pc).1.map(|place| place.text).unwrap_or_default();
        let program = Program::new(code, &self.profile.units, &model, text);
        Ok(Some(timing::estimate(&program, &model, &grid, recordings, &|pc| timing::unrolled(code, pc))))
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
        let how = (Tracing::Steps, Checks::NONE, Some(alone));
        let executed = self.execute(loaded, kernel, launch, params, how)?;
        Ok(executed.recording.map(|recording| *recording).unwrap_or_default())
    }
}
