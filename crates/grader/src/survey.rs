//! One run of the submission and one of the unfused chain on the emulated device, with everything it counted.

use fusion_course::Shape;
use fusion_machine::Report;

use crate::rig::{Rig, Who};
use crate::trial::Trial;
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
    pub(crate) fn all(trial: &Trial<'_>) -> Result<Vec<Self>, Trouble> {
        let exercise = trial.exercise();
        let shapes = exercise.large(trial.size.unwrap_or(exercise.surveyed)).into_iter();
        shapes.filter(|&shape| trial.scope.keeps(shape)).map(|shape| Self::take(trial, shape)).collect()
    }

    fn take(trial: &Trial<'_>, shape: Shape) -> Result<Self, Trouble> {
        let mut rig = Rig::new(trial, shape)?;
        let submission = rig.count(Who::Submission)?;
        let unfused = if trial.scope.alone { Report::default() } else { rig.count(Who::Unfused)? };
        rig.check(0)?;
        Ok(Self { shape, submission, unfused })
    }
}
