//! Pairs of timed launches, and what they say.

use crate::judgement::{Interval, Timing};
use crate::statistics;

/// One launch of each of two sides, timed next to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    /// Nanoseconds of the side whose time is above the fraction line, and below it.
    pub(super) above: f64,
    pub(super) below: f64,
    /// The multiprocessors' clock while it ran, in MHz.
    pub(super) clock: Option<u32>,
}

/// Pairs without those whose clock sagged.
#[derive(Clone, Debug, Default)]
pub(super) struct Steady {
    pub(super) pairs: Vec<Pair>,
    pub(super) dropped: usize,
}

impl Steady {
    pub(super) fn of(all: &[Pair]) -> Self {
        let clocks: Vec<Option<u32>> = all.iter().map(|pair| pair.clock).collect();
        let keep = statistics::steady_clocks(&clocks);
        let sound = |pair: &Pair| pair.above > 0.0 && pair.below > 0.0;
        let pairs: Vec<Pair> =
            all.iter().zip(keep).filter(|(pair, keep)| *keep && sound(pair)).map(|(pair, _)| *pair).collect();
        Self { dropped: all.len() - pairs.len(), pairs }
    }

    /// The median ratio with its interval.
    pub(super) fn ratio(&self, seed: u64) -> Option<Interval> {
        let logs: Vec<f64> = self.pairs.iter().map(|pair| (pair.above / pair.below).ln()).collect();
        statistics::ratio_interval(&logs, seed)
    }

    /// The time of the side below the line beside that above it; none where no pair is left.
    pub(super) fn timing(&self, seed: u64) -> Option<Timing> {
        let times =
            |of: fn(&Pair) -> f64| statistics::median_interval(&self.pairs.iter().map(of).collect::<Vec<_>>(), seed);
        Some(Timing::Measured {
            time_ns: times(|pair| pair.below)?,
            other_ns: times(|pair| pair.above),
            speedup: self.ratio(seed),
            pairs: self.pairs.len() as u32,
            dropped: self.dropped as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    use super::*;

    #[test]
    fn sagging_and_senseless_pairs_are_dropped() {
        let pair = |above, clock| Pair { above, below: 1.0, clock: Some(clock) };
        let mut all = vec![pair(2.0, 1980); 9];
        all.push(pair(9.0, 1200));
        all.push(pair(0.0, 1980));
        let steady = Steady::of(&all);
        assert_eq!((steady.pairs.len(), steady.dropped), (9, 2));
        let ratio = steady.ratio(1).unwrap();
        assert_approx_eq!(ratio.median, 2.0, 1e-12);
        assert!(ratio.within(1e-9));
        let Some(Timing::Measured { time_ns, other_ns: Some(other_ns), pairs, dropped, .. }) = steady.timing(1) else {
            panic!("no time")
        };
        assert_eq!((time_ns.median, pairs, dropped), (1.0, 9, 2));
        assert_approx_eq!(other_ns.median, 2.0, 1e-12);
        assert_eq!(Steady::of(&[]).timing(1), None);
    }
}
