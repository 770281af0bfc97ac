//! One run of the submission and one of the unfused chain on the emulated device, with everything it counted.

use fusion_course::{Entry, Shape};
use fusion_device::Program;
use fusion_machine::Report;
use kernels::Baseline;

use crate::rig::{Rig, Who};
use crate::right::Scope;
use crate::session::Session;
use crate::trouble::Trouble;

/// What both did at one shape.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) shape: Shape,
    pub(crate) submission: Report,
    pub(crate) unfused: Report,
}

impl Survey {
    /// Runs both at each shape that the scope keeps, or the submission alone, which leaves the other report empty.
    pub(crate) fn all(
        session: &Session,
        entry: &Entry,
        program: &Program,
        baseline: &Baseline,
        seed: u64,
        size: Option<usize>,
        scope: Scope<'_>,
    ) -> Result<Vec<Self>, Trouble> {
        let shapes = entry.exercise.large(size.unwrap_or(entry.exercise.surveyed));
        let take = |shape| Self::take(session, entry, program, baseline, seed, shape, scope.alone);
        shapes.into_iter().filter(|&shape| scope.keeps(shape)).map(take).collect()
    }

    fn take(
        session: &Session,
        entry: &Entry,
        program: &Program,
        baseline: &Baseline,
        seed: u64,
        shape: Shape,
        alone: bool,
    ) -> Result<Self, Trouble> {
        let mut rig = Rig::new(session, entry, program, baseline, shape, seed)?;
        let mut count = |who| {
            rig.reset(who, 0).map_err(Trouble::driver("preparing a launch"))?;
            rig.forget().map_err(Trouble::driver("preparing a launch"))?;
            rig.finish()?;
            session.take_report();
            rig.run(who, 0)?;
            rig.finish()?;
            let report = session.take_report();
            session.refuse_faults(&report, entry, shape)?;
            Ok::<Report, Trouble>(report)
        };
        let submission = count(Who::Submission)?;
        let unfused = if alone { Report::default() } else { count(Who::Unfused)? };
        rig.check(0)?;
        Ok(Self { shape, submission, unfused })
    }
}
