//! The online softmax of one row, tile by tile.

use fusion_lesson::{Lesson, LessonError, new_table};

use crate::launch::{Rows, launch};

/// Four tiles of four. The largest score comes in the second tile, and again a larger one in the last.
const SCORES: [f32; 16] = [1.0, -0.5, 2.0, 0.5, 3.0, 4.5, -1.0, 2.5, 0.0, 4.0, 1.5, 3.5, 5.0, -2.0, 2.0, 4.5];
const VALUES: [f32; 16] = [10.0, -4.0, 6.0, 2.0, -8.0, 1.0, 3.0, -5.0, 7.0, 9.0, -1.0, 4.0, -6.0, 8.0, 5.0, -3.0];

/// What is known after a tile.
#[derive(Clone, Copy, Debug)]
struct Known {
    of_tile: f64,
    largest: f64,
    correction: f64,
    sum: f64,
    result: f64,
}

impl Known {
    fn numbers(self) -> [f64; 5] {
        [self.of_tile, self.largest, self.correction, self.sum, self.result]
    }
}

/// The same on the host, from the definition: relative to the largest score so far, everything so far is added up
/// anew.
fn on_host(tile: usize) -> Vec<Known> {
    let scores = SCORES.map(f64::from);
    let largest = |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let after = |end: usize| {
        let (first, end) = (end.saturating_sub(1) / tile * tile, end);
        let so_far = scores.get(..end).unwrap_or_default();
        let most = largest(so_far);
        let before = largest(scores.get(..first).unwrap_or_default());
        let weights = so_far.iter().map(|score| (score - most).exp());
        Known {
            of_tile: largest(scores.get(first..end).unwrap_or_default()),
            largest: most,
            correction: (before - most).exp(),
            sum: weights.clone().sum(),
            result: weights.zip(VALUES).map(|(weight, value)| weight * f64::from(value)).sum(),
        }
    };
    (0..SCORES.len()).step_by(tile).map(|first| after((first + tile).min(SCORES.len()))).collect()
}

pub(crate) fn show(lesson: &Lesson, tile: usize) -> Result<String, LessonError> {
    let rows = Rows { scores: &SCORES, values: &VALUES };
    let tiles = SCORES.len().div_ceil(tile);
    let found = launch(lesson, "trace", &rows, tile, 5 * tiles)?;
    let expected = on_host(tile);
    // Sixteen terms, each off by some units, and as many additions: relative to what could be added up at most.
    let room = 64.0 * f64::from(f32::EPSILON);
    let sizes = [1.0, 1.0, 1.0, 16.0, 16.0 * 10.0];
    for (found, expected) in found.chunks_exact(5).zip(&expected) {
        let numbers = found.iter().zip(expected.numbers()).zip(sizes);
        for ((found, expected), size) in numbers {
            let (found, room) = (f64::from(*found), room * size);
            if (found - expected).abs() > room || found.is_nan() {
                return Err(LessonError::Wrong(format!("`trace` has {found} where the host has {expected}")));
            }
        }
    }
    let mut table = new_table(&["tile", "scores", "its largest", "m", "correction", "l", "o", "o / l"]);
    for (number, (known, scores)) in found.chunks_exact(5).zip(SCORES.chunks(tile)).enumerate() {
        let [of_tile, largest, correction, sum, result] = known.try_into().unwrap_or([f32::NAN; 5]);
        let scores: Vec<String> = scores.iter().map(ToString::to_string).collect();
        table.add_row([
            (number + 1).to_string(),
            scores.join(" "),
            format!("{of_tile:.1}"),
            format!("{largest:.1}"),
            format!("{correction:.6}"),
            format!("{sum:.6}"),
            format!("{result:.6}"),
            format!("{:.6}", result / sum),
        ]);
    }
    let last = expected.last().map_or(f64::NAN, |known| known.result / known.sum);
    Ok(format!(
        "\n2. The online softmax of one row of {} scores, {tile} at a time, by a kernel\n\n\
         m is the largest score so far, l the sum of exp(score - m) so far, o that of exp(score - m) times the value.\n\
         The correction is exp(m before - m), and l and o are multiplied by it before the tile is added. Every number\n\
         is compared with f64 on the host, which adds up all scores so far anew.\n\n{table}\n\n\
         In two passes, in f64: {last:.6}. What is o / l before the last tile is the result of a shorter row.",
        SCORES.len()
    ))
}
