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
    /// By the emulated device's model.
    Predicted {
        time_ns: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        other_ns: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        speedup: Option<f64>,
        /// None where the model does not say how far off it may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        band: Option<Band>,
    },
}

/// How far a GPU's time may be from a prediction of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The measured time over the predicted one lies between these two.
    pub low: f64,
    pub high: f64,
    /// From what that is known: which launches were compared, on which machine, when.
    pub source: String,
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
    /// Of a measurement the 95% interval, of a prediction the band where there is one.
    pub range_ns: Option<(f64, f64)>,
    pub speedup: Option<f64>,
}

impl Timing {
    /// A prediction of a model that does not say how far off it may be.
    pub fn predicted(time_ns: f64, other_ns: f64) -> Self {
        let speedup = (time_ns > 0.0).then(|| other_ns / time_ns);
        Self::Predicted { time_ns, other_ns: Some(other_ns), speedup, band: None }
    }

    pub fn basis(&self) -> Basis {
        match self {
            Self::Measured { .. } => Basis::Measured,
            Self::Predicted { .. } => Basis::Predicted,
        }
    }

    /// Whether the speedup reaches a bar. A measurement that is too noisy to say is inconclusive.
    pub fn verdict(&self, bar: f64) -> Verdict {
        match *self {
            Self::Measured { speedup: Some(speedup), .. } => speedup.against(bar),
            Self::Measured { speedup: None, .. } => Verdict::Inconclusive,
            Self::Predicted { speedup, .. } => match speedup.is_some_and(|speedup| speedup >= bar) {
                true => Verdict::Pass,
                false => Verdict::Fail,
            },
        }
    }

    /// The least speedup that there may be.
    pub fn least_speedup(&self) -> Option<f64> {
        match *self {
            Self::Measured { speedup, .. } => speedup.map(|speedup| speedup.low),
            Self::Predicted { speedup, .. } => speedup,
        }
    }

    /// So many bytes over the time, in GB/s.
    pub fn gb_per_s(&self, bytes: u64) -> Option<f64> {
        let time = self.figures().time_ns;
        (time > 0.0).then(|| bytes as f64 / time)
    }

    pub fn figures(&self) -> Figures {
        match self {
            Self::Measured { time_ns, speedup, .. } => Figures {
                basis: Basis::Measured,
                time_ns: time_ns.median,
                range_ns: Some((time_ns.low, time_ns.high)),
                speedup: speedup.map(|speedup| speedup.median),
            },
            Self::Predicted { time_ns, speedup, band, .. } => Figures {
                basis: Basis::Predicted,
                time_ns: *time_ns,
                range_ns: band.as_ref().map(|band| (time_ns * band.low, time_ns * band.high)),
                speedup: *speedup,
            },
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

    #[test]
    fn a_prediction_passes_by_its_value() {
        let timing = Timing::predicted(10.0, 15.0);
        assert_eq!((timing.verdict(1.5), timing.verdict(1.51)), (Verdict::Pass, Verdict::Fail));
        assert_eq!(timing.least_speedup(), Some(1.5));
        assert_eq!(Timing::predicted(0.0, 15.0).verdict(0.0), Verdict::Fail);
    }

    #[test]
    fn figures_and_json_say_what_they_are() {
        let plain = Timing::predicted(10.0, 15.0);
        assert_eq!((plain.figures().basis, plain.figures().range_ns), (Basis::Predicted, None));
        let json = serde_json::to_value(&plain).unwrap();
        assert_eq!(json, serde_json::json!({"basis": "predicted", "time_ns": 10.0, "other_ns": 15.0, "speedup": 1.5}));
        let band = Some(Band { low: 0.9, high: 1.5, source: "a test".to_owned() });
        let banded = Timing::Predicted { time_ns: 10.0, other_ns: None, speedup: None, band };
        assert_eq!(banded.figures().range_ns, Some((9.0, 15.0)));
        for timing in [banded, plain, measured(Some(Interval::exact(2.0)))] {
            let json = serde_json::to_value(&timing).unwrap();
            assert_eq!(json["basis"], timing.basis().to_string());
            assert_eq!(serde_json::from_value::<Timing>(json).unwrap(), timing);
        }
    }
}
