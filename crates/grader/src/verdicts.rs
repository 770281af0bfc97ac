//! Verdicts *fast* as lines of a file, and whether those with and without a GPU agree.

use std::fmt;
use std::str::FromStr;

use crate::judgement::{Interval, Verdict};

/// What a file of verdicts says its columns are.
pub const COLUMNS: &str =
    "exercise,kind,name,at,speedup,low,high,bar,speedup over the kernel to beat,low,high,bar,verdict";

/// The verdict *fast* on one answer at one size: `average,natural,doubles,n=67108864,1.633,1.630,1.636,1.417,,,,,pass`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    pub exercise: String,
    /// `solution`, `top`, `rung`, `unusual`, `natural` or `wrong`.
    pub kind: String,
    /// Empty for the solution and the top rung.
    pub name: String,
    pub at: String,
    /// Beside the unfused chain.
    pub chain: Option<Ratio>,
    /// Beside the kernel that is to be beaten, too, where there is one.
    pub rival: Option<Ratio>,
    pub verdict: Verdict,
}

/// A speedup, between what bounds it lies, and what passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub speedup: Interval,
    pub bar: f64,
}

/// How a verdict without a GPU stands to the same with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Same,
    /// Without a GPU there is no verdict.
    Open,
    /// With a GPU there is none, or it was not asked.
    Unknown,
    /// One passes and the other fails.
    Contrary,
}

impl Ruling {
    /// What it is about.
    pub fn key(&self) -> [&str; 4] {
        [&self.exercise, &self.kind, &self.name, &self.at]
    }

    /// How this one, predicted, stands to what was measured.
    pub fn agreement(&self, measured: Option<&Self>) -> Agreement {
        use Verdict::{Fail, Inconclusive, Pass, Ungraded};
        match (self.verdict, measured.map_or(Ungraded, |measured| measured.verdict)) {
            (_, Inconclusive | Ungraded) => Agreement::Unknown,
            (Inconclusive | Ungraded, _) => Agreement::Open,
            (Pass, Pass) | (Fail, Fail) => Agreement::Same,
            (Pass, Fail) | (Fail, Pass) => Agreement::Contrary,
        }
    }
}

/// What `cargo xtask measure --verdicts` found on an H200.
///
/// # Errors
/// The first line that is no verdict.
pub fn h200() -> Result<Vec<Ruling>, String> {
    read(fusion_timings::H200_VERDICTS)
}

/// What `cargo xtask validate --verdicts --store` predicted for an H200.
///
/// # Errors
/// The first line that is no verdict.
pub fn predicted() -> Result<Vec<Ruling>, String> {
    read(fusion_timings::H200_PREDICTED_VERDICTS)
}

/// The verdicts of a file.
///
/// # Errors
/// The first line that is none.
pub fn read(text: &str) -> Result<Vec<Ruling>, String> {
    text.lines().filter(|line| !line.starts_with('#')).map(str::parse).collect()
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key().join(","))?;
        for ratio in [self.chain, self.rival] {
            match ratio {
                None => f.write_str(",,,,")?,
                Some(Ratio { speedup: Interval { median, low, high }, bar }) => {
                    write!(f, ",{median:.3},{low:.3},{high:.3},{bar:.3}")?;
                }
            }
        }
        write!(f, ",{}", self.verdict)
    }
}

impl FromStr for Ruling {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("`{line}` is no verdict");
        let fields: Vec<&str> = line.split(',').collect();
        let [exercise, kind, name, at, numbers @ .., verdict] = &fields[..] else { return Err(wrong()) };
        let ratio = |fields: &[&str]| match fields {
            ["", "", "", ""] => Ok(None),
            numbers => {
                let numbers: Result<Vec<f64>, _> = numbers.iter().map(|number| number.parse()).collect();
                let &[median, low, high, bar] = &numbers.map_err(|_| wrong())?[..] else { return Err(wrong()) };
                Ok(Some(Ratio { speedup: Interval { median, low, high }, bar }))
            }
        };
        let (Some(chain), Some(rival)) = (numbers.get(..4), numbers.get(4..)) else { return Err(wrong()) };
        let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::Ungraded];
        let verdict = verdicts.into_iter().find(|known| known.to_string() == **verdict).ok_or_else(wrong)?;
        let [exercise, kind, name, at] = [exercise, kind, name, at].map(|field| (*field).to_owned());
        Ok(Self { exercise, kind, name, at, chain: ratio(chain)?, rival: ratio(rival)?, verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for line in [
            "softmax,solution,,rows=16384 columns=4096,2.100,1.722,2.730,1.800,,,,,inconclusive",
            "add_gelu_vec,natural,tanhf,n=67108864,1.650,1.640,1.660,1.417,1.200,1.190,1.210,1.050,pass",
            "average,wrong,halves,n=67108864,,,,,,,,,ungraded",
        ] {
            assert_eq!(line.parse::<Ruling>().unwrap().to_string(), line);
        }
        for line in ["average,top,,n=1,pass", "average,top,,n=1,1,1,1,1,,,,,won", "average,top,,n=1,1,1,1,,,,,,pass"] {
            assert!(line.parse::<Ruling>().is_err(), "{line}");
        }
    }

    #[test]
    fn only_a_pass_beside_a_failure_is_contrary() {
        let ruling = |verdict| Ruling { verdict, ..",,,,,,,,,,,,pass".parse().unwrap() };
        let agreement = |one, other| ruling(one).agreement(Some(&ruling(other)));
        for (one, other, expected) in [
            (Verdict::Pass, Verdict::Pass, Agreement::Same),
            (Verdict::Fail, Verdict::Pass, Agreement::Contrary),
            (Verdict::Pass, Verdict::Fail, Agreement::Contrary),
            (Verdict::Inconclusive, Verdict::Fail, Agreement::Open),
            (Verdict::Inconclusive, Verdict::Inconclusive, Agreement::Unknown),
            (Verdict::Fail, Verdict::Inconclusive, Agreement::Unknown),
        ] {
            assert_eq!(agreement(one, other), expected, "{one} {other}");
        }
        assert_eq!(ruling(Verdict::Pass).agreement(None), Agreement::Unknown);
    }
}
