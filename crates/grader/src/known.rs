//! What the emulated device has said of the course's own kernels: it depends on no submission, and a process that judges
//! many of them need not ask again.

use std::cell::RefCell;
use std::collections::HashMap;

use fusion_course::Shape;
use fusion_machine::Report;

use crate::profile::Predicted;
use crate::rig::Who;
use crate::trouble::Trouble;

/// One run of a large problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) exercise: &'static str,
    pub(crate) shape: Shape,
    pub(crate) seed: u64,
    pub(crate) who: Who,
}

impl Run {
    /// Whether it is the same beside every submission.
    fn is_known(&self) -> bool {
        matches!(self.who, Who::Unfused | Who::Rival)
    }
}

/// Counts and times of the runs so far.
#[derive(Debug, Default)]
pub(crate) struct Known {
    counts: RefCell<HashMap<Run, Report>>,
    times: RefCell<HashMap<Run, Option<Predicted>>>,
}

impl Known {
    /// What was counted of a run before, else what `ask` counts now.
    pub(crate) fn count(&self, run: Run, ask: impl FnOnce() -> Result<Report, Trouble>) -> Result<Report, Trouble> {
        remember(&self.counts, run, ask)
    }

    /// What was predicted for a run before, else what `ask` predicts now; none where no time follows from single blocks.
    pub(crate) fn time(
        &self,
        run: Run,
        ask: impl FnOnce() -> Result<Option<Predicted>, Trouble>,
    ) -> Result<Option<Predicted>, Trouble> {
        remember(&self.times, run, ask)
    }
}

fn remember<T: Clone>(
    known: &RefCell<HashMap<Run, T>>,
    run: Run,
    ask: impl FnOnce() -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    if let Some(found) = known.borrow().get(&run) {
        return Ok(found.clone());
    }
    let made = ask()?;
    if run.is_known() {
        known.borrow_mut().insert(run, made.clone());
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_courses_own_kernels_are_asked_once() {
        let known = Known::default();
        let ask = |run: Run, ns: f64| {
            let predicted = Predicted { ns, ..Predicted::default() };
            known.time(run, || Ok(Some(predicted))).unwrap().unwrap().ns
        };
        let run = |who, elements| Run { exercise: "average", shape: Shape::flat(elements), seed: 1, who };
        assert_eq!(ask(run(Who::Unfused, 8), 1.0), 1.0);
        assert_eq!(ask(run(Who::Unfused, 8), 2.0), 1.0);
        assert_eq!(ask(run(Who::Unfused, 9), 3.0), 3.0);
        assert_eq!(ask(run(Who::Rival, 8), 4.0), 4.0);
        assert_eq!(ask(run(Who::Submission, 8), 5.0), 5.0);
        assert_eq!(ask(run(Who::Submission, 8), 6.0), 6.0);
        assert_eq!(ask(Run { seed: 2, ..run(Who::Unfused, 8) }, 7.0), 7.0);
    }
}
