//! How long a kernel takes, and how that is known.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// A kernel's time, beside that of what it is compared with: the unfused chain, or a kernel to beat.
///
/// It is measured or it is predicted. There is no sum and no order of two timings, so that no code can add a
/// measurement to a prediction or compare the two. Tables show [`Figures`], which say what they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "basis", rename_all = "lowercase")]
pub enum Timing {
    /// On a GPU: medians with their intervals.
    Measured {
        time_ns: Interval,
        /// Of the other one; none where a kernel was timed by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other_ns: Option<Interval>,
        /// The other's time over this one's, from the same pairs of launches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speedup: Option<Interval>,
        /// Pairs of launches that count, and those dropped because the clock sagged.
        pairs: u32,
        dropped: u32,
    },
    /// By the emulated device's clock: what it says, and between what a GPU's lies.
    Predicted {
        time_ns: Interval,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other_ns: Option<Interval>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speedup: Option<Interval>,
        /// From what it is known how far off a prediction may be.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
}

/// How far a GPU may be from a prediction of it, as factors of what is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Of a time: the least and the most.
    pub time: (f64, f64),
    /// Of a ratio of two times. What is wrong in both of them is wrong in neither.
    pub speedup: (f64, f64),
    /// From what that is known.
    pub source: &'static str,
}

impl Band {
    /// No error at all.
    pub const EXACT: Self = Self { time: (1.0, 1.0), speedup: (1.0, 1.0), source: "" };
}

/// How a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    Measured,
    Predicted,
}

/// A timing as a table shows it, beside the word that says how it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub basis: Basis,
    pub time_ns: f64,
    /// Of a measurement the 95% interval, of a prediction the band.
    pub range_ns: (f64, f64),
    pub speedup: Option<f64>,
}

impl Timing {
    /// A prediction: a time, that of another, and how far off they may be.
    pub fn predicted(time_ns: f64, other_ns: f64, band: &Band) -> Self {
        let within =
            |value: f64, (low, high): (f64, f64)| Interval { median: value, low: low * value, high: high * value };
        let speedup = (time_ns > 0.0).then(|| within(other_ns / time_ns, band.speedup));
        Self::Predicted {
            time_ns: within(time_ns, band.time),
            other_ns: Some(within(other_ns, band.time)),
            speedup,
            source: band.source.to_owned(),
        }
    }

    /// A prediction of a time by itself.
    pub fn predicted_alone(time_ns: f64, band: &Band) -> Self {
        let (low, high) = band.time;
        Self::Predicted {
            time_ns: Interval { median: time_ns, low: low * time_ns, high: high * time_ns },
            other_ns: None,
            speedup: None,
            source: band.source.to_owned(),
        }
    }

    pub fn basis(&self) -> Basis {
        match self {
            Self::Measured { .. } => Basis::Measured,
            Self::Predicted { .. } => Basis::Predicted,
        }
    }

    /// How much faster it is than the other: within what bounds.
    pub fn speedup(&self) -> Option<Interval> {
        let (Self::Measured { speedup, .. } | Self::Predicted { speedup, .. }) = self;
        *speedup
    }

    /// Whether the speedup reaches a bar. A measurement that is too noisy to say is inconclusive, and so is a prediction whose band has
    /// the bar in it.
    pub fn verdict(&self, bar: f64) -> Verdict {
        self.speedup().map_or(Verdict::Inconclusive, |speedup| speedup.against(bar))
    }

    /// The least speedup that there may be.
    pub fn least_speedup(&self) -> Option<f64> {
        self.speedup().map(|speedup| speedup.low)
    }

    /// So many bytes over the time, in GB/s.
    pub fn gb_per_s(&self, bytes: u64) -> Option<f64> {
        let time = self.figures().time_ns;
        (time > 0.0).then(|| bytes as f64 / time)
    }

    pub fn figures(&self) -> Figures {
        let (Self::Measured { time_ns, speedup, .. } | Self::Predicted { time_ns, speedup, .. }) = self;
        Figures {
            basis: self.basis(),
            time_ns: time_ns.median,
            range_ns: (time_ns.low, time_ns.high),
            speedup: speedup.map(|speedup| speedup.median),
        }
    }
}

impl std::fmt::Display for Basis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Measured => "measured",
            Self::Predicted => "predicted",
        })
    }
}

/// The median of measurements and its 95% interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// An interval without width: what is so by definition.
    pub fn exact(value: f64) -> Self {
        Self { median: value, low: value, high: value }
    }

    /// Whether both ends lie within `part` of the median: 0.02 for 2%.
    pub fn within(&self, part: f64) -> bool {
        self.high <= self.median * (1.0 + part) && self.low >= self.median * (1.0 - part)
    }

    /// Pass when the whole interval reaches the bar, fail when none of it does.
    pub fn against(&self, bar: f64) -> Verdict {
        if self.low >= bar {
            Verdict::Pass
        } else if self.high < bar {
            Verdict::Fail
        } else {
            Verdict::Inconclusive
        }
    }
}

/// The multiprocessors' clock during the measurement, in MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    pub min: u32,
    pub median: u32,
    pub max: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(speedup: Option<Interval>) -> Timing {
        let time_ns = Interval { median: 10.0, low: 9.0, high: 12.0 };
        Timing::Measured { time_ns, other_ns: None, speedup, pairs: 31, dropped: 0 }
    }

    #[test]
    fn a_verdict_never_fails_on_noise() {
        let interval = Interval { median: 1.5, low: 1.4, high: 1.6 };
        for (bar, verdict) in
            [(1.4, Verdict::Pass), (1.5, Verdict::Inconclusive), (1.6, Verdict::Inconclusive), (1.61, Verdict::Fail)]
        {
            assert_eq!((interval.against(bar), measured(Some(interval)).verdict(bar)), (verdict, verdict));
        }
        assert_eq!(measured(None).verdict(0.0), Verdict::Inconclusive);
    }

    const BAND: Band = Band { time: (0.9, 1.5), speedup: (0.8, 1.2), source: "a test" };

    #[test]
    fn a_prediction_passes_where_all_of_its_band_does() {
        let timing = Timing::predicted(10.0, 15.0, &BAND);
        let verdicts = [1.2, 1.21, 1.5, 1.79, 1.81].map(|bar| timing.verdict(bar));
        assert_eq!(
            verdicts,
            [Verdict::Pass, Verdict::Inconclusive, Verdict::Inconclusive, Verdict::Inconclusive, Verdict::Fail]
        );
        assert_approx_eq::assert_approx_eq!(timing.least_speedup().unwrap(), 1.2, 1e-9);
        assert_eq!(Timing::predicted(0.0, 15.0, &BAND).verdict(0.0), Verdict::Inconclusive);
    }

    #[test]
    fn figures_and_json_say_what_they_are() {
        let predicted = Timing::predicted(10.0, 15.0, &BAND);
        assert_eq!((predicted.figures().basis, predicted.figures().range_ns), (Basis::Predicted, (9.0, 15.0)));
        for timing in [predicted, measured(Some(Interval::exact(2.0)))] {
            let json = serde_json::to_value(&timing).unwrap();
            assert_eq!(json["basis"], timing.basis().to_string());
            assert_eq!(serde_json::from_value::<Timing>(json).unwrap(), timing);
        }
    }
}
