//! What was verified, and what did not hold.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::score::{self, Scores};

/// The JSON of `verify --json` too.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) starters: usize,
    pub(crate) solutions: usize,
    /// Top rungs of ladders that pass as solutions do.
    pub(crate) tops: usize,
    /// Rungs below them that are right and lean.
    pub(crate) rungs: usize,
    /// Unusual answers that are right and lean.
    pub(crate) unusual: usize,
    pub(crate) natural: usize,
    /// Files that differ from their solution in TODO regions only.
    pub(crate) drift: usize,
    /// Wrong kernels refused, by reason.
    pub(crate) refused: BTreeMap<String, usize>,
    /// Whether nothing but mutants was to be judged.
    #[serde(skip)]
    pub(crate) only_mutants: bool,
    /// Whether something kept the rest from being judged.
    #[serde(skip)]
    pub(crate) is_cut_short: bool,
    /// What became of mutants of the solutions.
    #[serde(rename = "mutants")]
    pub(crate) scores: Scores,
    pub(crate) problems: Vec<String>,
}

impl Tally {
    /// Whether the grader refuses too few mutants, as a problem.
    pub(crate) fn check_score(&mut self) {
        if !self.scores.passes() {
            let (share, bar) = (100.0 * self.scores.share(), 100.0 * score::BAR);
            self.problem(format!(
                "{share:.1}% of the mutants that are wrong are refused, and {bar}% should be: the survivors are named \
                 below. A test that tells one from the solution belongs in the exercise's inputs; one that no test can \
                 tell belongs in solutions/dayNN/mutants/, with the reason"
            ));
        }
    }

    /// Adds what was found out about other submissions.
    pub(crate) fn add(&mut self, other: Tally) {
        self.starters += other.starters;
        self.solutions += other.solutions;
        self.tops += other.tops;
        self.rungs += other.rungs;
        self.unusual += other.unusual;
        self.natural += other.natural;
        self.drift += other.drift;
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
        self.scores.exercises.extend(other.scores.exercises);
        self.problems.extend(other.problems);
    }

    /// The mutants, and the verdict.
    fn close(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scores)?;
        match self.problems.len() {
            0 if self.is_cut_short => writeln!(f, "not verified: it came to no end"),
            0 => writeln!(f, "verified"),
            1 => writeln!(f, "1 problem"),
            count => writeln!(f, "{count} problems"),
        }
    }

    pub(crate) fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "problem: {}\n", problem.trim_end())?;
        }
        if self.only_mutants {
            return self.close(f);
        }
        writeln!(f, "{:>4} starters compile and fail", self.starters)?;
        writeln!(f, "{:>4} solutions pass", self.solutions)?;
        writeln!(f, "{:>4} top rungs of ladders pass, and {} below them", self.tops, self.rungs)?;
        writeln!(f, "{:>4} unusual answers are right and lean", self.unusual)?;
        writeln!(f, "{:>4} answers as beginners write them are right", self.natural)?;
        let refused = self.refused.iter().filter(|(_, count)| **count > 0);
        let reasons: Vec<String> = refused.map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
        writeln!(f, "{:>4} wrong kernels are refused for their reason{reasons}", self.refused.values().sum::<usize>())?;
        writeln!(f, "{:>4} files differ from their solution in TODO regions only", self.drift)?;
        self.close(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_first_then_counts_by_reason() {
        let mut tally = Tally {
            starters: 5,
            solutions: 4,
            tops: 2,
            rungs: 5,
            unusual: 3,
            natural: 6,
            drift: 10,
            ..Tally::default()
        };
        tally.refused.insert("values".to_owned(), 12);
        tally.refused.insert("fault E-OOB-GLOBAL".to_owned(), 3);
        tally.problem("the solution of x does not pass\n\n");
        let expected = "\
problem: the solution of x does not pass

   5 starters compile and fail
   4 solutions pass
   2 top rungs of ladders pass, and 5 below them
   3 unusual answers are right and lean
   6 answers as beginners write them are right
  15 wrong kernels are refused for their reason: fault E-OOB-GLOBAL 3, values 12
  10 files differ from their solution in TODO regions only
1 problem
";
        assert_eq!(tally.to_string(), expected);
    }
}
