//! A submission on trial: what everything that judges it or times it needs.

use std::cell::OnceCell;

use fusion_baseline::Baseline;
use fusion_course::{Entry, Exercise, Shape};
use fusion_device::Program;

use crate::right::Scope;
use crate::session::Session;
use crate::survey::Survey;
use crate::trouble::Trouble;

/// A compiled submission, the device that it is on, and at what it is judged.
pub(crate) struct Trial<'a> {
    pub(crate) session: &'a Session,
    pub(crate) entry: &'a Entry,
    pub(crate) program: &'a Program,
    /// The top rung of the exercise's ladder, where it is timed beside the submission.
    pub(crate) top: Option<(&'a Entry, &'a Program)>,
    pub(crate) seed: u64,
    pub(crate) scope: Scope<'a>,
    /// Elements of large problems, where they are not to be as many as usual.
    pub(crate) size: Option<usize>,
    /// Hears what is being done.
    tell: &'a dyn Fn(String),
    /// Made when they are first asked for.
    ladder: OnceCell<Baseline>,
    surveys: OnceCell<Vec<Survey>>,
    /// Where it was first seen that the launch function allocates device memory, and how often.
    allocations: OnceCell<(Shape, u64)>,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(
        session: &'a Session,
        entry: &'a Entry,
        program: &'a Program,
        seed: u64,
        tell: &'a dyn Fn(String),
    ) -> Self {
        let (ladder, surveys, allocations) = Default::default();
        let (scope, size, top) = (Scope::EXERCISE, None, None);
        Self { session, entry, program, top, seed, scope, size, tell, ladder, surveys, allocations }
    }

    /// The same beside the top rung of the exercise's ladder.
    pub(crate) fn beside(self, top: Option<(&'a Entry, &'a Program)>) -> Self {
        Self { top, ..self }
    }

    /// The same at other problems than a submission is usually judged at.
    pub(crate) fn within(self, scope: Scope<'a>, size: Option<usize>) -> Self {
        Self { scope, size, ..self }
    }

    pub(crate) fn exercise(&self) -> &'static Exercise {
        self.entry.exercise
    }

    /// The large shapes in scope, as large as bytes are counted at, each with its place among all of the exercise's.
    pub(crate) fn large(&self) -> Vec<(usize, Shape)> {
        let exercise = self.exercise();
        let mut shapes: Vec<_> =
            exercise.large(self.size.unwrap_or(exercise.surveyed)).into_iter().enumerate().collect();
        shapes.retain(|(_, shape)| self.scope.keeps(*shape));
        shapes
    }

    pub(crate) fn tell(&self, text: impl Into<String>) {
        (self.tell)(text.into());
    }

    /// What a shape of this exercise is called in what a learner reads.
    pub(crate) fn name(&self, shape: Shape) -> String {
        self.exercise().shapes.describe(shape)
    }

    /// Remembers for *lean*, which looks at large problems only, that the launch function allocated device memory at a shape.
    pub(crate) fn note_allocations(&self, shape: Shape, count: u64) {
        let _known = self.allocations.set((shape, count));
    }

    /// The first of those shapes, with the allocations.
    pub(crate) fn allocations(&self) -> Option<(Shape, u64)> {
        self.allocations.get().copied()
    }

    /// The kernels of the exercise's ladder.
    pub(crate) fn ladder(&self) -> Result<&Baseline, Trouble> {
        if let Some(ladder) = self.ladder.get() {
            return Ok(ladder);
        }
        let module = fusion_baseline::load(&self.session.device, &fusion_baseline::ladder(self.exercise().name));
        let module = module.map_err(|error| Trouble::Unable(error.to_string()))?;
        Ok(self.ladder.get_or_init(|| Baseline::from_modules(vec![module])))
    }

    /// What the emulated device counts at each large shape.
    pub(crate) fn surveys(&self) -> Result<&[Survey], Trouble> {
        if let Some(surveys) = self.surveys.get() {
            return Ok(surveys);
        }
        self.tell("counting bytes");
        let made = Survey::all(self)?;
        Ok(self.surveys.get_or_init(|| made))
    }
}
