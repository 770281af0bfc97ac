//! One run of the submission and one of the unfused chain on the emulated device, with everything it counted.

use fusion_course::{Exercise, Extent, Shape};
use fusion_diagnostic::{Diagnostic, say};
use fusion_machine::report::kind::Speed;
use fusion_machine::report::{Kind, Severity, Traffic};
use fusion_machine::{Fault, Report};

use crate::judgement::CAUSE;
use crate::rig::{Rig, Who};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// How much more than needed is worth a word.
pub(crate) const MUCH: f64 = 1.25;

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// What both did at one shape.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) shape: Shape,
    pub(crate) submission: Report,
    pub(crate) unfused: Report,
}

impl Survey {
    /// Runs both at each shape that the scope keeps, or the submission alone, which leaves the other report empty.
    pub(crate) fn all(trial: &Trial<'_>) -> Result<Vec<Self>, Trouble> {
        trial.large().into_iter().map(|(_, shape)| Self::take(trial, shape)).collect()
    }

    fn take(trial: &Trial<'_>, shape: Shape) -> Result<Self, Trouble> {
        let mut rig = Rig::new(trial, shape)?;
        let submission = rig.count(Who::Submission)?;
        let unfused = if trial.scope.alone { Report::default() } else { rig.count_unfused()? };
        rig.check(0)?;
        Ok(Self { shape, submission, unfused })
    }

    /// How many times the bytes of the inputs the submission's threads ask for.
    pub(crate) fn read_again(&self, exercise: &Exercise) -> f64 {
        // What all rows share is asked for by each of them, and comes from a cache.
        let read = exercise.inputs.iter().chain(exercise.outputs.iter().filter(|output| output.updated));
        let once: usize = read
            .map(|param| match param.extent {
                Extent::Columns => self.shape.rows * param.bytes(self.shape),
                // A row of a table is that of one token, and each of its heads asks for it.
                Extent::Table(_) => {
                    self.shape.rows * (self.shape.columns + self.shape.key_columns()) * param.dtype.bytes()
                }
                _ => param.bytes(self.shape),
            })
            .sum();
        // What all lanes of a warp read together is asked for once: it is one sector.
        let asked = |load: &Traffic| load.bytes.min(load.sectors * SECTOR);
        let asked: u64 = self.submission.launches.iter().map(|launch| asked(&launch.counters.global_load)).sum();
        if once > 0 { asked as f64 / once as f64 } else { 0.0 }
    }

    /// What the launch function asks for in vain, where that is certain to be its mistake: the kernel uses a part of it, and reads
    /// nothing again that the rest could hold.
    pub(crate) fn unused_shared(&self, exercise: &Exercise) -> Option<Diagnostic> {
        let is_part =
            |fault: &&Fault| matches!(fault.kind, Kind::Speed(Speed::UnusedShared { touched, .. }) if touched > 0);
        let found = self.submission.advice.iter().find(is_part)?;
        let cause = || Diagnostic { code: CAUSE.to_owned(), severity: Severity::Error, ..say(found) };
        (self.read_again(exercise) <= MUCH).then(cause)
    }
}
