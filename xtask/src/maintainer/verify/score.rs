//! How many mutants of the solutions the grader refuses.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::ser::SerializeStruct as _;

/// The share of mutants, of those that are not equivalent, that must be refused.
pub(crate) const BAR: f64 = 0.97;

/// What became of the mutants of one solution.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Score {
    pub(crate) exercise: String,
    pub(crate) made: usize,
    /// They are no programs, and count for nothing.
    pub(crate) not_compiled: usize,
    /// The compiler makes the solution's own code of them: equivalent without a doubt.
    pub(crate) same_code: usize,
    /// Equivalent, as the list beside the solution says.
    pub(crate) equivalent: Vec<Equivalent>,
    /// Refused, by reason.
    pub(crate) refused: BTreeMap<String, usize>,
    pub(crate) survived: Vec<Survivor>,
}

/// A mutant that is no mistake.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Equivalent {
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// A mutant that should have been refused.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Survivor {
    pub(crate) id: String,
    /// What its operator does.
    pub(crate) does: String,
    /// The line before and after.
    pub(crate) diff: String,
}

impl Score {
    pub(crate) fn refused(&self) -> usize {
        self.refused.values().sum()
    }

    /// Mutants that should be refused.
    pub(crate) fn counted(&self) -> usize {
        self.refused() + self.survived.len()
    }
}

/// The scores of all exercises.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    pub(crate) exercises: Vec<Score>,
}

impl Serialize for Scores {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut scores = serializer.serialize_struct("Scores", 3)?;
        scores.serialize_field("bar", &BAR)?;
        scores.serialize_field("share", &self.share())?;
        scores.serialize_field("exercises", &self.exercises)?;
        scores.end()
    }
}

impl Scores {
    /// Of the mutants that should be refused, the share that is; 1 where there are none.
    pub(crate) fn share(&self) -> f64 {
        let sum = |count: fn(&Score) -> usize| self.exercises.iter().map(count).sum::<usize>();
        share(sum(Score::refused), sum(Score::counted))
    }

    pub(crate) fn passes(&self) -> bool {
        self.share() >= BAR
    }
}

fn share(refused: usize, counted: usize) -> f64 {
    if counted == 0 { 1.0 } else { refused as f64 / counted as f64 }
}

/// A percentage that never says 100 where one survived.
fn percent(refused: usize, counted: usize) -> String {
    format!("{:.1}%", (share(refused, counted) * 1000.0).floor() / 10.0)
}

/// A column's title and its count.
type Column = (&'static str, fn(&Score) -> usize);

const COLUMNS: [Column; 6] = [
    ("mutants", |score| score.made),
    ("not compiled", |score| score.not_compiled),
    ("same code", |score| score.same_code),
    ("equivalent", |score| score.equivalent.len()),
    ("refused", Score::refused),
    ("survived", |score| score.survived.len()),
];

impl fmt::Display for Scores {
    /// Why mutants are equivalent, which survived, and a table with a row an exercise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exercises.is_empty() {
            return Ok(());
        }
        let equivalent = self.exercises.iter().flat_map(|score| &score.equivalent);
        for (reason, count) in tally(equivalent.map(|equivalent| (equivalent.reason.as_str(), 1))) {
            writeln!(f, "{count:>4} equivalent: {reason}")?;
        }
        for survivor in self.exercises.iter().flat_map(|score| &score.survived) {
            writeln!(f, "survived: {}: {}", survivor.id, survivor.does)?;
            for line in survivor.diff.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        let width = self.exercises.iter().map(|score| score.exercise.len()).max().unwrap_or(0).max("in all".len());
        let titles: Vec<&str> = COLUMNS.iter().map(|(title, _)| *title).collect();
        writeln!(f, "{:width$}  {}   score", "", titles.join("  "))?;
        for score in &self.exercises {
            row(f, width, &score.exercise, std::slice::from_ref(score))?;
        }
        row(f, width, "in all", &self.exercises)?;
        let refused = self.exercises.iter().flat_map(|score| &score.refused);
        let reasons = tally(refused.map(|(reason, count)| (reason.as_str(), *count)));
        let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        writeln!(f, "refused for: {}", reasons.join(", "))
    }
}

fn row(f: &mut fmt::Formatter<'_>, width: usize, name: &str, scores: &[Score]) -> fmt::Result {
    let sum = |count: fn(&Score) -> usize| scores.iter().map(count).sum::<usize>();
    write!(f, "{name:width$}")?;
    for (title, count) in COLUMNS {
        write!(f, "  {:>1$}", sum(count), title.len())?;
    }
    writeln!(f, "  {:>6}", percent(sum(Score::refused), sum(Score::counted)))
}

/// Counts summed by name.
fn tally<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> BTreeMap<&'a str, usize> {
    let mut sums = BTreeMap::new();
    for (name, count) in counts {
        *sums.entry(name).or_default() += count;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_an_exercise_and_names_survivors() {
        let equivalent = |reason: &str| Equivalent { id: "x/b@1:2".to_owned(), reason: reason.to_owned() };
        let survivor = Survivor { id: "x/a@1:2".to_owned(), does: "halves".to_owned(), diff: "- 1\n+ 2".to_owned() };
        let refused = BTreeMap::from([("values".to_owned(), 32), ("fault E-OOB-GLOBAL".to_owned(), 7)]);
        let one = Score {
            exercise: "x".to_owned(),
            made: 47,
            not_compiled: 3,
            same_code: 1,
            equivalent: vec![equivalent("one"), equivalent("two"), equivalent("one")],
            refused,
            survived: vec![survivor],
        };
        let scores = Scores { exercises: vec![one] };
        assert!(scores.passes());
        assert_eq!(
            scores.to_string(),
            "   2 equivalent: one
   1 equivalent: two
survived: x/a@1:2: halves
    - 1
    + 2
        mutants  not compiled  same code  equivalent  refused  survived   score
x            47             3          1           3       39         1   97.5%
in all       47             3          1           3       39         1   97.5%
refused for: fault E-OOB-GLOBAL 7, values 32
"
        );
    }

    #[test]
    fn a_share_is_never_rounded_up() {
        assert_eq!(
            (percent(9_999, 10_000), percent(0, 0), percent(1, 1)),
            ("99.9%".into(), "100.0%".into(), "100.0%".into())
        );
    }
}
