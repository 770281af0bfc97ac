//! One kernel file: what its directives say.

use std::error::Error;
use std::fmt;

use fusion_suite::Launch;

use crate::record::Cache;
use crate::suite::named_sweep;
use crate::sweep::{Choice, choices, fill};

/// A CUDA C++ file with directives in its leading comment.
///
/// ```text
/// // What the kernels are, in a sentence.
/// // sweep: n = 2^14 2^20; block = 64 256       every choice of the variables; lines add up
/// // sweep: elements                            the lines of that name in `sweeps.txt`
/// // warm                                       timed with a warm cache as well
/// // races                                      threads write one value to one place on purpose
/// // calibration                                what rates are read off: no prediction is ever judged by it
/// // by others                                  written and timed without a look at the clock, by which it is judged apart
/// // launch: scale<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u64 = {n})
/// ```
///
/// Sweeps hold for the launches below them, up to a sweep that follows a launch. A launch is written as [`Launch`] reads it, with
/// expressions of the variables in braces.
#[derive(Clone, Debug)]
pub struct Case {
    /// `group/name`, without the extension.
    pub name: String,
    pub source: String,
    pub calibration: bool,
    pub by_others: bool,
    pub races: bool,
    pub points: Vec<Point>,
}

/// One launch at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// `n=16384 block=256`.
    pub at: String,
    pub cache: Cache,
    pub launch: Launch,
}

/// A directive that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub file: String,
    /// One-based.
    pub line: usize,
    pub message: String,
}

/// What holds for the launches that follow.
#[derive(Debug, Default)]
struct Scope {
    sweep: Vec<Choice>,
    warm: bool,
    launched: bool,
}

impl Case {
    /// # Errors
    /// The first directive that cannot be understood.
    pub fn parse(name: &str, source: &str) -> Result<Self, ParseError> {
        let mut case = Self {
            name: name.to_owned(),
            source: source.to_owned(),
            calibration: false,
            by_others: false,
            races: false,
            points: Vec::new(),
        };
        let mut scope = Scope::default();
        for (index, line) in source.lines().enumerate() {
            let Some(comment) = line.strip_prefix("//") else { break };
            let comment = comment.trim();
            let (word, rest) = comment.split_once(' ').unwrap_or((comment, ""));
            case.directive(&mut scope, word, rest.trim()).map_err(|message| ParseError {
                file: format!("{name}.cu"),
                line: index + 1,
                message,
            })?;
        }
        Ok(case)
    }

    fn directive(&mut self, scope: &mut Scope, word: &str, rest: &str) -> Result<(), String> {
        match (word, rest) {
            ("calibration", "") => self.calibration = true,
            ("by", "others") => self.by_others = true,
            ("races", "") => self.races = true,
            ("warm", "") => scope.warm = true,
            ("sweep:", _) => {
                if std::mem::take(&mut scope.launched) {
                    *scope = Scope::default();
                }
                let lines = if rest.contains('=') { vec![rest] } else { named_sweep(rest) };
                if lines.is_empty() {
                    return Err(format!("there is no sweep `{rest}` in sweeps.txt"));
                }
                for line in lines {
                    // A choice that two lines have is one.
                    for choice in choices(line)? {
                        if !scope.sweep.contains(&choice) {
                            scope.sweep.push(choice);
                        }
                    }
                }
            }
            ("launch:", _) => {
                scope.launched = true;
                let caches: &[Cache] = if scope.warm { &[Cache::Cold, Cache::Warm] } else { &[Cache::Cold] };
                for choice in &scope.sweep {
                    let launch = Launch::parse(&fill(rest, choice)?)?;
                    let at: Vec<String> = choice.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    let point = |&cache| Point { at: at.join(" "), cache, launch: launch.clone() };
                    self.points.extend(caches.iter().map(point));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_after_a_launch_begins_anew() {
        let text = "// Text.\n// sweep: n = 4 8\n// warm\n// launch: a<<<{n}, 32>>>(x: f32[{n}])\n\
                    // sweep: m = 2\n// launch: b<<<{m}, 32>>>(x: f32[{m}])\n";
        let case = Case::parse("g/c", text).unwrap();
        let points: Vec<_> = case.points.iter().map(|p| (p.launch.kernel.as_str(), p.at.as_str(), p.cache)).collect();
        let (cold, warm) = (Cache::Cold, Cache::Warm);
        assert_eq!(
            points,
            [("a", "n=4", cold), ("a", "n=4", warm), ("a", "n=8", cold), ("a", "n=8", warm), ("b", "m=2", cold)]
        );
    }

    #[test]
    fn mistakes_name_their_line() {
        let error = |text| Case::parse("g/c", text).unwrap_err().to_string();
        assert!(error("// sweep: nothing\n").starts_with("g/c.cu:1: there is no sweep"));
        assert!(error("// sweep: n = 1\n// launch: a<<<{m}, 32>>>()\n").starts_with("g/c.cu:2: there is no variable"));
    }

    #[test]
    fn no_kernel_is_in_two_files() {
        let cases = crate::cases().unwrap();
        let mut kernels: Vec<&str> = Vec::new();
        for case in &cases {
            let mut own: Vec<&str> = case.points.iter().map(|point| point.launch.kernel.as_str()).collect();
            own.dedup();
            assert!(!own.is_empty(), "{} launches nothing", case.name);
            for kernel in own {
                assert!(!kernels.contains(&kernel), "{}: {kernel} is in two files", case.name);
                kernels.push(kernel);
            }
        }
    }
}
