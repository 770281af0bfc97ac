//! What was measured, as lines of a file.

use std::fmt;
use std::str::FromStr;

use crate::case::Point;

/// What the L2 holds when a launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cache {
    /// Nothing of the launch's, and nothing to write back.
    Cold,
    /// What the same launch left there just before.
    Warm,
}

/// The time of one point: `group/file,kernel,n=16384 block=256,cold,5312,5280,5344`.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub case: String,
    pub kernel: String,
    pub at: String,
    pub cache: Cache,
    /// The median in nanoseconds, and the quartiles.
    pub ns: f64,
    pub low: f64,
    pub high: f64,
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        })
    }
}

impl Record {
    /// What the kernel is called in `held_out.txt`: steps of unfused chains by their kernel, which several exercises may have, and what
    /// else belongs to an exercise with that.
    pub fn key(&self) -> String {
        match self.case.strip_prefix("day").and_then(|case| case.split_once('/')) {
            Some((_, exercise)) if !self.kernel.starts_with("unfused ") => format!("{exercise} {}", self.kernel),
            _ => self.kernel.clone(),
        }
    }

    /// Whether it is the time of this point.
    pub fn is_of(&self, point: &Point) -> bool {
        (&self.kernel, &self.at, self.cache) == (&point.launch.kernel, &point.at, point.cache)
    }

    /// Lower quartile, median and upper quartile of times in ascending order, of which there is at least one.
    pub fn quartiles(times: &[f64]) -> [f64; 3] {
        [1, 2, 3].map(|part| times[part * (times.len() - 1) / 4])
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, kernel, at, cache, ns, low, high } = self;
        write!(f, "{case},{kernel},{at},{cache},{ns:.0},{low:.0},{high:.0}")
    }
}

impl FromStr for Record {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("`{line}` is no time of a point");
        let fields: Vec<&str> = line.split(',').collect();
        let [case, kernel, at, cache, times @ ..] = &fields[..] else { return Err(wrong()) };
        let times: Vec<f64> = times.iter().map(|time| time.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        // A prediction is one number.
        let (ns, low, high) = match times[..] {
            [ns] => (ns, ns, ns),
            [ns, low, high] => (ns, low, high),
            _ => return Err(wrong()),
        };
        let cache = match *cache {
            "cold" => Cache::Cold,
            "warm" => Cache::Warm,
            _ => return Err(wrong()),
        };
        let [case, kernel, at] = [case, kernel, at].map(|field| (*field).to_owned());
        Ok(Self { case, kernel, at, cache, ns, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = "rows/softmax,softmax_walks,rows=16 columns=64,warm,5312,5280,5344";
        assert_eq!(line.parse::<Record>().unwrap().to_string(), line);
        assert!("a,b,c,cold,1,2".parse::<Record>().is_err());
        assert!("a,b,c,hot,1,2,3".parse::<Record>().is_err());
    }
}
