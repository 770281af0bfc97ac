//! What of a mutant is compiled and run, and in which order.
//!
//! Nearly all the time goes into compiling. A submission with a kernel for each of several row lengths takes as many times
//! as long as one with a single kernel, and no launch needs more than one of them. So each kernel is compiled by itself and
//! judged at the shapes for which it is enough. The first that is wrong decides; what has the submission's own text is not
//! compiled, and what has its own code not run.

use fusion_course::{Entry, Shape};
use fusion_mutants::{Mutant, instances};

use super::{Sessions, compile, instructions, judge};
use crate::judgement::{Evidence as _, Fate, Lean, RunError};
use crate::right::Scope;
use crate::worker::Options;

/// How the mutants of one submission are judged.
pub(super) struct Plan<'a> {
    sessions: &'a Sessions<'a>,
    entry: &'a Entry,
    scope: Scope<'static>,
    /// The problems for *lean*.
    large: Vec<Shape>,
    /// The instances of the source that are judged by themselves.
    parts: Vec<Stage>,
    /// Those that no shape needs: they only say whether the code is the same.
    spare: Vec<Stage>,
    whole: Stage,
    /// The shapes for which no single instance is enough.
    rest: Vec<Shape>,
}

/// A text that is compiled by itself.
struct Stage {
    /// Its place among the instances of the source.
    instance: usize,
    /// The submission's own text.
    text: String,
    shapes: Vec<Shape>,
    /// The submission's own instructions.
    code: Vec<String>,
}

impl<'a> Plan<'a> {
    /// Judges the submission itself, and finds out which of its instances are enough for which shapes. The inner error says
    /// why it does not pass.
    pub(super) fn new(
        sessions: &'a Sessions<'a>,
        scope: Scope<'static>,
        entry: &'a Entry,
    ) -> Result<Result<Self, String>, RunError> {
        let Options { seed, size, .. } = *sessions.options;
        let large = entry.exercise.large(size.unwrap_or(entry.exercise.surveyed));
        let mut shapes: Vec<Shape> = entry.exercise.problems(seed).into_iter().filter(|&it| scope.has(it)).collect();
        shapes.extend(large.iter().filter(|shape| !shapes.contains(shape)).copied().collect::<Vec<_>>());
        let rest = shapes.clone();
        let whole = Stage { instance: 0, text: entry.source.text.clone(), shapes, code: Vec::new() };
        let mut plan = Self { sessions, entry, scope, large, parts: Vec::new(), spare: Vec::new(), whole, rest };
        match plan.stage(&plan.whole, &plan.whole.shapes, entry.source.text.clone())? {
            (Fate::Survived, code) => plan.whole.code = code,
            (Fate::Refused { failure }, _) => return Ok(Err(failure.title)),
            (Fate::Unjudged { note }, _) => return Ok(Err(note)),
            (Fate::NotCompiled | Fate::SameCode, _) => return Ok(Err("it does not compile".to_owned())),
        }
        for (instance, text) in instances(&entry.source.text).into_iter().enumerate() {
            if !plan.add(instance, text)? {
                // One that is not known by itself: the source stays whole.
                (plan.parts, plan.spare, plan.rest) = (Vec::new(), Vec::new(), plan.whole.shapes.clone());
                break;
            }
        }
        Ok(Ok(plan))
    }

    /// Finds the shapes for which one instance is enough. Returns whether it compiles by itself.
    fn add(&mut self, instance: usize, text: String) -> Result<bool, RunError> {
        let session = self.sessions.again()?;
        let Ok((entry, program)) = compile(&session, self.entry, text.clone()) else { return Ok(false) };
        let passes = |shape: &Shape| {
            let (options, scope) = self.at(std::slice::from_ref(shape));
            !session.is_spent() && matches!(judge(&session, &options, scope, &entry, &program), Fate::Survived)
        };
        let (shapes, rest): (Vec<Shape>, Vec<Shape>) = self.rest.iter().partition(|shape| passes(shape));
        self.rest = rest;
        let stages = if shapes.is_empty() { &mut self.spare } else { &mut self.parts };
        stages.push(Stage { instance, text, shapes, code: instructions(&program) });
        Ok(true)
    }

    /// Judges a mutant.
    pub(super) fn judge(&self, mutant: &Mutant) -> Result<Fate, RunError> {
        let texts = instances(&mutant.text);
        if texts.len() != self.parts.len() + self.spare.len() || self.parts.is_empty() {
            return Ok(self.stage(&self.whole, &self.whole.shapes, mutant.text.clone())?.0);
        }
        let mut same = true;
        for part in self.parts.iter().chain(&self.spare) {
            let Some(text) = texts.get(part.instance) else { continue };
            // Code that differs already need not be looked for.
            if part.shapes.is_empty() && !same {
                break;
            }
            match self.stage(part, &part.shapes, text.clone())?.0 {
                Fate::SameCode => {}
                Fate::Survived => same = false,
                fate => return Ok(fate),
            }
        }
        match same {
            true => Ok(Fate::SameCode),
            false if self.rest.is_empty() => Ok(Fate::Survived),
            // Shapes for which no instance is enough by itself.
            false => Ok(self.stage(&self.whole, &self.rest, mutant.text.clone())?.0),
        }
    }

    /// Judges a text at some shapes, in a session of its own. Returns its instructions, too, where it compiles.
    fn stage(&self, stage: &Stage, shapes: &[Shape], text: String) -> Result<(Fate, Vec<String>), RunError> {
        // The submission itself has no code to compare with yet.
        if text == stage.text && !stage.code.is_empty() {
            return Ok((Fate::SameCode, stage.code.clone()));
        }
        let session = self.sessions.again()?;
        let (entry, program) = match compile(&session, self.entry, text) {
            Ok(compiled) => compiled,
            Err(fate) => return Ok((fate, Vec::new())),
        };
        let code = instructions(&program);
        if code == stage.code {
            return Ok((Fate::SameCode, code));
        }
        if shapes.is_empty() {
            return Ok((Fate::Survived, code));
        }
        let (options, scope) = self.at(shapes);
        let fate = judge(&session, &options, scope, &entry, &program);
        self.sessions.keep(&session);
        Ok((fate, code))
    }

    /// What is judged at some shapes.
    fn at<'s>(&self, shapes: &'s [Shape]) -> (Options, Scope<'s>) {
        let mut options = self.sessions.options.clone();
        if !shapes.iter().any(|shape| self.large.contains(shape)) {
            options.parts.retain(|part| part != Lean::NAME);
        }
        (options, Scope { only: Some(shapes), ..self.scope })
    }
}
