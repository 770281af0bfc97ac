//! Writes down what `grade` finds out, attempt by attempt.

use std::collections::BTreeMap;

use fusion_grader::judgement::{Judgement, Kind};

use super::{Attempt, State};
use crate::learner::files::{self, EXTENSIONS, Folder, Texts};
use crate::target::Selection;
use crate::{date, output};

/// What one run of `grade` writes into.
#[derive(Debug)]
pub(crate) struct Recorder {
    state: Option<State>,
    when: String,
    /// The files as they were before they were built.
    texts: BTreeMap<&'static str, Texts>,
}

impl Recorder {
    /// Outside of a checkout nothing is written, and answers of others are nobody's attempts.
    pub(crate) fn begin(kind: Kind, selections: &[Selection]) -> Self {
        let state = State::find().filter(|_| kind == Kind::Exercise);
        let exercises = selections.iter().flat_map(|selection| &selection.exercises);
        let texts = |state: &State| {
            exercises.filter_map(|it| Some((it.name, Folder::Answer.read(&state.root, it).ok()?))).collect()
        };
        Self { texts: state.as_ref().map(texts).unwrap_or_default(), state, when: date::now() }
    }

    /// Writes down what came of an exercise. Where that cannot be, it says so once.
    pub(crate) fn add(&mut self, judgement: &Judgement) {
        let Some(state) = &self.state else { return };
        if let Err(error) = self.write(state, judgement) {
            output::note(&format!(
                "note: this attempt is not in your history, for {} cannot be written: {error}",
                state.folder().display()
            ));
            self.state = None;
        }
    }

    fn write(&self, state: &State, judgement: &Judgement) -> std::io::Result<()> {
        let texts = self.texts.get(judgement.name.as_str());
        let attempt = Attempt::new(&self.when, judgement, texts.map(Texts::fingerprints));
        state.add(&attempt)?;
        let (Some(exercise), Some(texts)) = (fusion_course::find(&judgement.name), texts) else { return Ok(()) };
        let is_best = || Ok::<_, std::io::Error>(state.attempts()?.best(exercise) == Some(&attempt));
        if attempt.files.is_some() && attempt.is_done() && is_best()? {
            for (extension, text) in EXTENSIONS.iter().zip(&texts.0) {
                let name = format!("{}.{extension}", exercise.name);
                files::write(&state.root.join(state.best(exercise)).join(name), text)?;
            }
        }
        Ok(())
    }
}
