//! How far a GPU may be from what the emulated device's clock predicts of it.

use crate::judgement::Band;

/// A GPU that was timed, by the H200: of the launches and speedups of solutions, rungs and samples at problems of 2^24 elements and more,
/// nine of ten lie within (`cargo xtask validate --csv`).
const CALIBRATED: Band = Band {
    time: (0.86, 1.2),
    speedup: (0.82, 1.3),
    source: "launches that were timed on an H200: nine of ten lie within",
};

/// A GPU of which no launch was timed: its rates are those of documents.
const DOCUMENTED: Band =
    Band { time: (0.6, 1.7), speedup: (0.7, 1.5), source: "a guess: no launch was timed on such a GPU" };

impl Band {
    /// That of an emulated device, by its name.
    pub(crate) fn of(device: &str) -> &'static Self {
        if device.contains("H200") { &CALIBRATED } else { &DOCUMENTED }
    }
}
