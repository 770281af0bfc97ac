//! One part of a judgement: the same shape whatever is judged.

use fusion_diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

use super::{Code, Failure, Side, Verdict};
use crate::explain;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// What one judgement of a submission found: at one shape, or of several at the worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct Part<T> {
    pub verdict: Verdict,
    /// The counts and times behind the verdict; none where nothing was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<T>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What the emulated device found that is no error, or not necessarily.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Diagnostic>,
    /// Why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The same at the other shapes, which are no worse.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<Part<T>>,
}

/// Where a GPU is there beside the emulated device: whose word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    Both,
    Emulated,
    Gpu,
}

/// What is judged: everything that tells one judgement from another.
///
/// To add one, write a module with an implementation, and name it in [`super::Parts`].
pub(crate) trait Evidence: Sized {
    /// The part's field in the report, and its column in the table.
    const NAME: &'static str;
    const WITNESS: Witness;

    fn judge(trial: &Trial<'_>) -> Result<Part<Self>, Trouble>;

    /// What the table shows; none where the failure or the verdict says it all.
    fn cell(&self, part: &Part<Self>) -> Option<String>;

    /// What both devices found, where both are asked.
    fn join(self, _gpu: Self) -> Self {
        self
    }

    /// Of shapes that pass, the one with the least decides.
    fn margin(&self) -> f64 {
        f64::INFINITY
    }

    /// Whether the advice may explain a failure with this code.
    fn explains(_code: Code) -> bool {
        false
    }

    /// What was found here that a failure of any part comes from, and the file that is to be changed.
    fn blames(&self, _failure: &Failure) -> Option<(Side, &Diagnostic)> {
        None
    }

    /// What bounds the submission's speed: told where advice is asked for.
    fn bound(&self) -> Option<String> {
        None
    }

    /// What is to be said beside the verdict, whatever that is.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A part without its evidence: what is alike in all of them.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub name: &'static str,
    pub verdict: Verdict,
    pub failure: Option<&'a Failure>,
    pub advice: &'a [Diagnostic],
    pub note: Option<&'a str>,
    pub remarks: Vec<String>,
    pub bound: Option<String>,
    /// What the table shows.
    pub cell: String,
    explains: fn(Code) -> bool,
}

impl View<'_> {
    /// Whether the advice may explain a failure.
    pub fn explains(&self, failure: &Failure) -> bool {
        (self.explains)(failure.code)
    }
}

impl<T> Default for Part<T> {
    fn default() -> Self {
        let (failure, advice, note, shapes) = Default::default();
        Self { verdict: Verdict::Ungraded, evidence: None, failure, advice, note, shapes }
    }
}

impl<T> Part<T> {
    pub fn pass() -> Self {
        Self { verdict: Verdict::Pass, ..Self::default() }
    }

    pub fn refused(failure: Failure) -> Self {
        Self { verdict: Verdict::Fail, failure: Some(failure), ..Self::default() }
    }

    /// Too noisy to say.
    pub fn open(note: impl Into<String>) -> Self {
        Self { verdict: Verdict::Inconclusive, ..Self::ungraded(note) }
    }

    /// Nothing was judged, for this reason.
    pub fn ungraded(note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..Self::default() }
    }
}

impl Part<()> {
    /// A conclusion with what it comes from.
    pub fn with<T>(self, evidence: T) -> Part<T> {
        let Self { verdict, failure, advice, note, .. } = self;
        Part { verdict, evidence: Some(evidence), failure, advice, note, shapes: Vec::new() }
    }
}

#[expect(private_bounds, reason = "what judges is no part of the report's types")]
impl<T: Evidence> Part<T> {
    /// The judgement at the shape that decides; all others in [`Part::shapes`], in their order.
    ///
    /// That is the first that fails; else the first without a verdict; else the first that is inconclusive; of those
    /// that pass, the one with the least margin. Advice is about places in the source, whatever the shape: the worst
    /// has all of it.
    pub(crate) fn worst(mut shapes: Vec<Self>) -> Self {
        let decides = Verdict::combine(shapes.iter().map(|part| part.verdict));
        let candidates = shapes.iter().enumerate().filter(|(_, part)| part.verdict == decides);
        let margin = |part: &Self| part.evidence.as_ref().map_or(f64::INFINITY, T::margin);
        let worst = match decides {
            Verdict::Pass => candidates.min_by(|a, b| margin(a.1).total_cmp(&margin(b.1))),
            _ => candidates.into_iter().next(),
        };
        let Some(index) = worst.map(|(index, _)| index) else { return Self::default() };
        let mut worst = shapes.remove(index);
        for part in &mut shapes {
            explain::gather(&mut worst.advice, std::mem::take(&mut part.advice));
        }
        Self { shapes, ..worst }
    }

    /// The same part as the emulated device judged it and as a GPU did, as one.
    pub(crate) fn merge(self, gpu: Self) -> Self {
        match T::WITNESS {
            Witness::Emulated => self,
            Witness::Gpu => gpu,
            Witness::Both => Self {
                verdict: Verdict::combine([self.verdict, gpu.verdict]),
                evidence: match (self.evidence, gpu.evidence) {
                    (Some(emulated), Some(gpu)) => Some(emulated.join(gpu)),
                    (emulated, gpu) => emulated.or(gpu),
                },
                failure: self.failure.or(gpu.failure),
                advice: [self.advice, gpu.advice].concat(),
                note: self.note.or(gpu.note),
                shapes: self.shapes,
            },
        }
    }

    pub(crate) fn blames(&self, failure: &Failure) -> Option<(Side, &Diagnostic)> {
        let shapes = std::iter::once(self).chain(&self.shapes);
        shapes.filter_map(|part| part.evidence.as_ref()).find_map(|evidence| evidence.blames(failure))
    }

    pub(crate) fn view(&self) -> View<'_> {
        let told = self.evidence.as_ref().and_then(|evidence| evidence.cell(self));
        let cell = told.unwrap_or_else(|| match (&self.failure, self.verdict) {
            (Some(failure), _) => failure.reason(),
            (None, Verdict::Ungraded) => "-".to_owned(),
            (None, verdict) => verdict.to_string(),
        });
        View {
            name: T::NAME,
            verdict: self.verdict,
            failure: self.failure.as_ref(),
            advice: &self.advice,
            note: self.note.as_deref(),
            remarks: self.evidence.as_ref().map(T::remarks).unwrap_or_default(),
            bound: self.evidence.as_ref().and_then(T::bound),
            cell,
            explains: T::explains,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judgement that is made of nothing but its margin.
    #[derive(Clone, Debug, PartialEq)]
    struct Made(f64);

    impl Evidence for Made {
        const NAME: &'static str = "made";
        const WITNESS: Witness = Witness::Both;

        fn judge(_trial: &Trial<'_>) -> Result<Part<Self>, Trouble> {
            Ok(Part::pass().with(Self(0.0)))
        }

        fn cell(&self, part: &Part<Self>) -> Option<String> {
            (part.verdict == Verdict::Pass).then(|| format!("{} made", self.0))
        }

        fn join(self, gpu: Self) -> Self {
            Self(self.0 + gpu.0)
        }

        fn margin(&self) -> f64 {
            self.0
        }
    }

    fn part(verdict: Verdict, margin: f64) -> Part<Made> {
        Part { verdict, ..Part::pass().with(Made(margin)) }
    }

    #[test]
    fn the_worst_decides_and_the_others_stay() {
        use Verdict::{Fail, Inconclusive, Pass};
        for (shapes, worst) in [
            (vec![(Pass, 1.5), (Pass, 1.2), (Pass, 1.3)], (Pass, 1.2)),
            (vec![(Pass, 1.5), (Inconclusive, 1.0), (Pass, 1.1)], (Inconclusive, 1.0)),
            (vec![(Inconclusive, 1.0), (Fail, 0.9), (Fail, 0.1)], (Fail, 0.9)),
        ] {
            let judged = Part::worst(shapes.into_iter().map(|(verdict, margin)| part(verdict, margin)).collect());
            assert_eq!((judged.verdict, judged.evidence.unwrap().0, judged.shapes.len()), (worst.0, worst.1, 2));
        }
        assert_eq!(Part::<Made>::worst(Vec::new()), Part::default());
    }

    #[test]
    fn advice_of_all_shapes_is_told_once() {
        let advised = |code: &str| Part { advice: vec![Diagnostic::new(code, "slow")], ..part(Verdict::Pass, 1.0) };
        let judged = Part::worst(vec![advised("P-A"), advised("P-A"), advised("P-B")]);
        assert_eq!(judged.advice.iter().map(|told| told.code.as_str()).collect::<Vec<_>>(), ["P-A", "P-B"]);
        assert!(judged.shapes.iter().all(|shape| shape.advice.is_empty()));
    }

    #[test]
    fn both_devices_must_agree_where_both_are_asked() {
        let both = part(Verdict::Pass, 1.0).merge(part(Verdict::Pass, 2.0));
        assert_eq!(
            (both.verdict, &both.evidence, both.view().cell.as_str()),
            (Verdict::Pass, &Some(Made(3.0)), "3 made")
        );
        let failure = Failure::new(Code::Values, "no");
        let refused = part(Verdict::Pass, 1.0).merge(Part::refused(failure));
        assert_eq!((refused.verdict, refused.view().cell.as_str()), (Verdict::Fail, "values"));
        assert_eq!(Part::<Made>::ungraded("because").view().cell, "-");
    }
}
