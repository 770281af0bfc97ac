//! The one exercise that a command is about.

use fusion_course::Exercise;

use super::state::{Attempts, NO_CHECKOUT, State};
use crate::command::program;
use crate::target;

/// What is known where the command runs: the checkout, and what was tried in it.
#[derive(Debug)]
pub(crate) struct Learner {
    pub(crate) state: State,
    pub(crate) attempts: Attempts,
}

impl Learner {
    pub(crate) fn find() -> Result<Self, String> {
        let state = State::find().ok_or(NO_CHECKOUT)?;
        let attempts =
            state.attempts().map_err(|error| format!("cannot read {}: {error}", state.journal().display()))?;
        Ok(Self { state, attempts })
    }

    /// The exercise that is meant: the one that is named, of a day the first that is not done, without a name the next one.
    pub(crate) fn choose(&self, target: Option<&str>) -> Result<&'static Exercise, String> {
        let Some(target) = target else {
            return self.attempts.next().ok_or_else(|| {
                format!("there is nothing left to do, so name the exercise that you mean: {} list", program())
            });
        };
        let named = exercises(target)?;
        let open = named.iter().find(|exercise| !self.attempts.standing(exercise).is_done());
        open.or(named.first()).copied().ok_or_else(|| format!("`{target}` has no exercises"))
    }

    /// The same for what looks back: without a name the exercise that was graded last.
    pub(crate) fn choose_last(&self, target: Option<&str>) -> Result<&'static Exercise, String> {
        let last = self.attempts.all.last().and_then(|attempt| fusion_course::find(&attempt.exercise));
        match (target, last) {
            (None, Some(last)) => Ok(last),
            _ => self.choose(target),
        }
    }
}

/// The exercise that is named, for what must not be about another one.
pub(crate) fn one(target: &str) -> Result<&'static Exercise, String> {
    match exercises(target)?[..] {
        [one] => Ok(one),
        _ => Err(format!("`{target}` is more than one exercise: name the one that you mean")),
    }
}

fn exercises(target: &str) -> Result<Vec<&'static Exercise>, String> {
    let found = target::resolve(&[target.to_owned()], fusion_course::days()).map_err(|error| error.to_string())?;
    Ok(found.into_iter().flat_map(|selection| selection.exercises).collect())
}

/// Prints what a command has to say, and returns the exit code.
pub(crate) fn tell(said: Result<String, String>) -> u8 {
    match said {
        Ok(text) if crate::output::print(&text) => 0,
        Ok(_) => 2,
        Err(why) => {
            crate::output::note(&format!("error: {why}"));
            2
        }
    }
}
