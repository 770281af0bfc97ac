//! What follows from the attempts: how an exercise stands, which comes next, which attempt is the best.

use fusion_course::Exercise;
use fusion_grader::judgement::Verdict;

use super::{Attempt, exercises};

/// All that was tried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    /// From the first to the last.
    pub(crate) all: Vec<Attempt>,
    /// Fingerprints of the starters, by the exercise.
    pub(crate) starters: Vec<(&'static str, [String; 2])>,
}

/// How an exercise stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing but the starter was graded.
    New,
    Begun,
    /// Right and lean; no run could tell whether it is fast enough.
    Undecided,
    Passed,
}

impl Standing {
    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Undecided | Self::Passed)
    }
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::New => "new",
            Self::Begun => "begun",
            Self::Undecided => "right and lean",
            Self::Passed => "passed",
        })
    }
}

impl Attempts {
    /// Those at one exercise, from the first to the last, without those of the starter.
    pub(crate) fn of(&self, exercise: &Exercise) -> impl DoubleEndedIterator<Item = &Attempt> {
        let starter = self.starters.iter().find(|(name, _)| *name == exercise.name).map(|(_, files)| files);
        let name = exercise.name;
        let is_own = move |it: &&Attempt| starter.is_none() || it.files.as_ref() != starter;
        self.all.iter().filter(move |it| it.exercise == name).filter(is_own)
    }

    /// What passed once has passed.
    pub(crate) fn standing(&self, exercise: &Exercise) -> Standing {
        let of = |attempt: &Attempt| match attempt.verdict {
            Verdict::Pass => Standing::Passed,
            Verdict::Inconclusive => Standing::Undecided,
            Verdict::Fail | Verdict::Ungraded => Standing::Begun,
        };
        self.of(exercise).map(of).max_by_key(|&standing| standing as u8).unwrap_or(Standing::New)
    }

    /// The exercise that is next: of those that were graded last the first that is not done, else the first that follows.
    pub(crate) fn next(&self) -> Option<&'static Exercise> {
        let run = self.all.last().map(|last| &last.when);
        let graded = |exercise: &Exercise| {
            self.all.iter().rev().take_while(|it| Some(&it.when) == run).any(|it| it.exercise == exercise.name)
        };
        let of_run = || exercises().filter(|it| graded(it));
        let open = of_run().find(|exercise| !self.standing(exercise).is_done());
        open.or_else(|| match of_run().last() {
            Some(last) => self.after(last),
            None => exercises().next(),
        })
    }

    /// The first behind an exercise that is not done; after the last one comes the first.
    pub(crate) fn after(&self, exercise: &Exercise) -> Option<&'static Exercise> {
        let behind = exercises().cycle().skip_while(|it| it.name != exercise.name).skip(1).take(exercises().count());
        behind.into_iter().find(|exercise| !self.standing(exercise).is_done())
    }

    /// Of the attempts that are done the fastest. Only times that can be compared are: those that are known in the same way, on the same
    /// device, of the same problem, as of the last attempt that is done.
    pub(crate) fn best(&self, exercise: &Exercise) -> Option<&Attempt> {
        let passed = self.standing(exercise) == Standing::Passed;
        let counts = |attempt: &&Attempt| attempt.verdict == Verdict::Pass || (!passed && attempt.is_done());
        let last = self.of(exercise).rfind(counts)?;
        let contest = last.speed.as_ref().map(|speed| speed.contest());
        let alike =
            self.of(exercise).filter(counts).filter(|it| it.speed.as_ref().map(|speed| speed.contest()) == contest);
        let time = |attempt: &Attempt| attempt.speed.as_ref().map_or(0.0, |speed| speed.timing.figures().time_ns);
        alike.min_by(|one, other| time(one).total_cmp(&time(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::state::attempt::Speed;
    use fusion_grader::judgement::{Band, Judgement, Timing};

    fn attempt(when: u32, exercise: &str, verdict: Verdict) -> Attempt {
        let judgement = Judgement { name: exercise.to_owned(), verdict, ..Judgement::default() };
        Attempt::new(&when.to_string(), &judgement, None)
    }

    /// When, what and how it was judged.
    type Tried<'a> = (u32, &'a str, Verdict);

    fn of(attempts: &[Tried<'_>]) -> Attempts {
        let all = attempts.iter().map(|&(when, exercise, verdict)| attempt(when, exercise, verdict)).collect();
        Attempts { all, ..Attempts::default() }
    }

    #[test]
    fn the_next_exercise_is_where_the_learner_is() {
        use Verdict::{Fail, Inconclusive, Pass, Ungraded};
        let last = exercises().last().map_or("", |it| it.name);
        let cases: [(&[Tried<'_>], &str); 8] = [
            (&[], "average"),
            (&[(1, "average", Pass)], "mul_add"),
            (&[(1, "mul_add", Fail)], "mul_add"),
            (&[(1, "mul_add", Pass)], "add_mul_relu"),
            (&[(1, "mul_add", Inconclusive)], "add_mul_relu"),
            // Who goes to another day is there.
            (&[(1, "softmax", Ungraded)], "softmax"),
            // Of a whole day it is the first that is open, and after the last one comes the first.
            (
                &[(1, "mul_add", Pass), (2, "mul_add", Pass), (2, "add_mul_relu", Fail), (2, "add_gelu", Fail)],
                "add_mul_relu",
            ),
            (&[(1, last, Pass)], "average"),
        ];
        for (attempts, next) in cases {
            assert_eq!(of(attempts).next().map(|it| it.name), Some(next), "{attempts:?}");
        }
        let all: Vec<_> = exercises().map(|it| (1, it.name, Pass)).collect();
        assert!(of(&all).next().is_none());
    }

    #[test]
    fn what_passed_once_has_passed_and_a_starter_is_no_attempt() {
        let mul_add = fusion_course::find("mul_add").unwrap();
        let attempts = of(&[(1, "mul_add", Verdict::Pass), (2, "mul_add", Verdict::Fail)]);
        assert_eq!(attempts.standing(mul_add), Standing::Passed);
        let mut starter = of(&[(1, "mul_add", Verdict::Fail)]);
        starter.all[0].files = Some(["a".to_owned(), "b".to_owned()]);
        assert_eq!(starter.standing(mul_add), Standing::Begun);
        starter.starters.push(("mul_add", ["a".to_owned(), "b".to_owned()]));
        assert_eq!(starter.standing(mul_add), Standing::New);
    }

    #[test]
    fn the_best_is_the_fastest_of_what_can_be_compared() {
        let mul_add = fusion_course::find("mul_add").unwrap();
        let timed = |when: u32, verdict, device: &str, time: f64| {
            let timing = Timing::predicted(time, 2.0 * time, &Band::EXACT);
            let speed = Speed { device: device.to_owned(), shape: "N = 5".to_owned(), timing };
            Attempt { speed: Some(speed), ..attempt(when, "mul_add", verdict) }
        };
        let all = vec![
            timed(1, Verdict::Pass, "T4", 1.0),
            timed(2, Verdict::Pass, "H200", 10.0),
            timed(3, Verdict::Pass, "H200", 8.0),
            timed(4, Verdict::Fail, "H200", 2.0),
            timed(5, Verdict::Pass, "H200", 9.0),
            timed(6, Verdict::Inconclusive, "H200", 3.0),
        ];
        let attempts = Attempts { all, ..Attempts::default() };
        assert_eq!(attempts.best(mul_add).map(|it| it.when.as_str()), Some("3"));
        assert_eq!(of(&[(1, "mul_add", Verdict::Fail)]).best(mul_add), None);
    }
}
