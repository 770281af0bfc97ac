//! When the device did what, by the modelled clock: predicted, never measured.

use serde::{Deserialize, Serialize};

use super::Report;
use crate::timing::EVENT_NS;

/// A copy or a memset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    pub what: Moved,
    pub bytes: u64,
    pub when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    ToDevice,
    ToHost,
    WithinDevice,
    WithinHost,
    Memset,
}

/// Where the modelled clock has a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct When {
    /// The stream: 0 for a default one, the others in the order in which they were made.
    pub stream: u32,
    /// In nanoseconds since the driver began.
    pub from: f64,
    pub to: f64,
}

impl Report {
    /// Nanoseconds from an event before its launches, copies and memsets to one behind them, by the machine's model. None where that of
    /// a launch is not known.
    pub fn predicted_ns(&self) -> Option<f64> {
        let launches = self.launches.iter().map(|launch| &launch.when);
        let times = launches.chain(self.moves.iter().map(|moved| &moved.when));
        let (from, to) = times.fold((f64::INFINITY, 0.0), |(from, to), when| (when.from.min(from), when.to.max(to)));
        let known = self.launches.iter().all(|launch| launch.predicted_ns > 0.0);
        // To the thousandth: what was before must not show.
        let took = (1e3 * (to - from).max(0.0)).round() / 1e3;
        known.then_some(took + EVENT_NS)
    }

    /// Gives a launch another time than its instructions'. What came behind it comes so much later or sooner.
    pub fn retime(&mut self, launch: usize, ns: f64) {
        let Some(timed) = self.launches.get_mut(launch) else { return };
        (timed.predicted_ns, timed.account) = (ns, None);
        let before = timed.when.to;
        let end = timed.when.from + (ns - EVENT_NS).max(0.0);
        timed.when.to = end;
        let later = self.launches.iter_mut().skip(launch + 1).map(|launch| &mut launch.when);
        for when in later.chain(self.moves.iter_mut().map(|moved| &mut moved.when)) {
            if when.from >= before {
                when.from += end - before;
                when.to += end - before;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::LaunchReport;

    fn at(stream: u32, from: f64, to: f64) -> When {
        When { stream, from, to }
    }

    fn launch(when: When) -> LaunchReport {
        LaunchReport { predicted_ns: when.to - when.from + EVENT_NS, when, ..LaunchReport::default() }
    }

    #[test]
    fn a_run_is_from_its_first_work_to_its_last() {
        let memset = Move { what: Moved::Memset, bytes: 4, when: at(1, 100.0, 200.0) };
        let launches = vec![launch(at(1, 200.0, 300.0)), launch(at(2, 150.0, 250.0))];
        let mut report = Report { launches, moves: vec![memset], ..Report::default() };
        assert_eq!(report.predicted_ns(), Some(200.0 + EVENT_NS));
        report.launches[0].predicted_ns = 0.0;
        assert_eq!(report.predicted_ns(), None);
        assert_eq!(Report::default().predicted_ns(), Some(EVENT_NS));
    }

    #[test]
    fn what_is_behind_a_launch_of_another_time_moves() {
        let launches = vec![launch(at(1, 0.0, 100.0)), launch(at(1, 100.0, 300.0)), launch(at(1, 300.0, 310.0))];
        let mut report = Report { launches, ..Report::default() };
        report.retime(1, EVENT_NS + 50.0);
        let whens: Vec<_> = report.launches.iter().map(|launch| (launch.when.from, launch.when.to)).collect();
        assert_eq!(whens, [(0.0, 100.0), (100.0, 150.0), (150.0, 160.0)]);
        assert_eq!(report.predicted_ns(), Some(160.0 + EVENT_NS));
        report.retime(7, 1.0);
    }
}
