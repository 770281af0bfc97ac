//! How far a GPU may be from what the emulated device's clock predicts of it.

use fusion_course::Shapes;

use crate::judgement::Band;

/// A GPU that was timed, by the H200: of the launches and speedups of solutions, rungs and samples at problems of 2^24 elements and more,
/// nine of ten lie within (`cargo xtask validate --csv`).
const CALIBRATED: Band = Band {
    time: (0.86, 1.2),
    speedup: (0.82, 1.3),
    source: "launches that were timed on an H200: nine of ten lie within",
};

/// The same of products of matrices, rungs and samples of Day 27: the clock knows less of what the assembler makes of their loops.
const PRODUCTS: Band = Band {
    time: (0.75, 1.48),
    speedup: (0.63, 1.4),
    source: "products that were timed on an H200: nine of ten lie within",
};

/// And of attention, of Day 28.
const ATTENTION: Band = Band {
    time: (0.75, 1.48),
    speedup: (0.74, 1.1),
    source: "kernels of attention that were timed on an H200: nine of ten lie within",
};

/// A GPU of which no launch was timed: its rates are those of documents.
const DOCUMENTED: Band =
    Band { time: (0.6, 1.7), speedup: (0.7, 1.5), source: "a guess: no launch was timed on such a GPU" };

impl Band {
    /// That of an emulated device, by its name, and of an exercise, by its shapes.
    pub(crate) fn of(device: &str, shapes: Option<Shapes>) -> &'static Self {
        match shapes {
            _ if !device.contains("H200") => &DOCUMENTED,
            // Experts multiply by the same instructions, and none of their launches was timed.
            Some(Shapes::Product { .. } | Shapes::Routing { .. }) => &PRODUCTS,
            Some(Shapes::Attention { .. }) => &ATTENTION,
            _ => &CALIBRATED,
        }
    }
}
