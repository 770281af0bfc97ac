//! What was verified, and what did not hold.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) starters: usize,
    pub(crate) solutions: usize,
    /// Files that differ from their solution in TODO regions only.
    pub(crate) drift: usize,
    /// Wrong kernels refused, by reason.
    pub(crate) refused: BTreeMap<String, usize>,
    pub(crate) problems: Vec<String>,
}

impl Tally {
    pub(crate) fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "problem: {}\n", problem.trim_end())?;
        }
        writeln!(f, "{:>4} starters compile and fail", self.starters)?;
        writeln!(f, "{:>4} solutions pass", self.solutions)?;
        let reasons: Vec<String> = self.refused.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
        writeln!(f, "{:>4} wrong kernels are refused for their reason{reasons}", self.refused.values().sum::<usize>())?;
        writeln!(f, "{:>4} files differ from their solution in TODO regions only", self.drift)?;
        match self.problems.len() {
            0 => writeln!(f, "verified"),
            1 => writeln!(f, "1 problem"),
            count => writeln!(f, "{count} problems"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_first_then_counts_by_reason() {
        let mut tally = Tally { starters: 5, solutions: 4, drift: 10, ..Tally::default() };
        tally.refused.insert("values".to_owned(), 12);
        tally.refused.insert("fault E-OOB-GLOBAL".to_owned(), 3);
        tally.problem("the solution of x does not pass\n\n");
        let expected = "\
problem: the solution of x does not pass

   5 starters compile and fail
   4 solutions pass
  15 wrong kernels are refused for their reason: fault E-OOB-GLOBAL 3, values 12
  10 files differ from their solution in TODO regions only
1 problem
";
        assert_eq!(tally.to_string(), expected);
    }
}
