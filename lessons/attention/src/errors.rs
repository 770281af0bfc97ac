//! How exact the ways are, as scores grow.

use fusion_lesson::{Lesson, LessonError, new_table};

use crate::launch::{Rows, launch};

const ROWS: usize = 32;
const LENGTH: usize = 512;

/// Scores lie about the first number, within plus and minus the second.
const RANGES: [(&str, f64, f64); 5] = [
    ("+-1", 0.0, 1.0),
    ("+-100", 0.0, 1e2),
    ("+-10,000", 0.0, 1e4),
    ("about 10,000", 1e4, 1.0),
    ("about -10,000", -1e4, 1.0),
];

const WAYS: [(&str, &str); 7] = [
    ("two passes", "two_passes"),
    ("online, tiles of 32", "online_32"),
    ("online, tiles of 1", "online_1"),
    ("two passes, scores in bf16", "two_passes_rounded"),
    ("online, not corrected", "not_corrected"),
    ("online, m begins with 0", "from_zero"),
    ("exp of the scores as they are", "no_largest"),
];

/// Ways that must be right, whatever the scores.
const RIGHT: usize = 3;

/// Numbers from -1 to 1, spread evenly, which are easy to compute again.
fn spread(i: usize) -> f64 {
    // The fractional parts of the multiples of the golden ratio.
    2.0 * (i as f64 * 0.618_033_988_749_894_9).fract() - 1.0
}

/// Of values from -1 to 1: the largest error, and how many results are no numbers.
struct Error {
    largest: f64,
    no_numbers: usize,
}

impl Error {
    fn of(found: &[f32], expected: &[f64]) -> Error {
        let errors = || found.iter().zip(expected).map(|(found, expected)| (f64::from(*found) - expected).abs());
        let largest = errors().filter(|error| !error.is_nan()).fold(0.0, f64::max);
        Error { largest, no_numbers: errors().filter(|error| error.is_nan()).count() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.no_numbers {
            0 => write!(f, "{:.1e}", self.largest),
            all if all == ROWS => write!(f, "NaN"),
            some => write!(f, "NaN in {some}"),
        }
    }
}

pub(crate) fn show(lesson: &Lesson) -> Result<String, LessonError> {
    let header: Vec<&str> = ["scores"].into_iter().chain(RANGES.map(|(name, _, _)| name)).collect();
    let mut table = new_table(&header);
    let values: Vec<f32> = (0..LENGTH).map(|i| spread(3 * i + 1) as f32).collect();
    let cases = RANGES.map(|(_, middle, width)| {
        let score = |i: usize| (middle + width * spread(7 * i + i / LENGTH)) as f32;
        (0..ROWS * LENGTH).map(score).collect::<Vec<f32>>()
    });
    for (place, (name, kernel)) in WAYS.into_iter().enumerate() {
        let mut row = vec![name.to_owned()];
        for scores in &cases {
            let found = launch(lesson, kernel, &Rows { scores, values: &values }, 0, ROWS)?;
            let expected: Vec<f64> = scores.chunks_exact(LENGTH).map(|row| attention(row, &values)).collect();
            let error = Error::of(&found, &expected);
            // 512 terms, each off by some units of its weight, which add up to no more than the sum of weights, and
            // as many additions.
            if place < RIGHT && (error.no_numbers > 0 || error.largest > 600.0 * f64::from(f32::EPSILON)) {
                return Err(LessonError::Wrong(format!("`{kernel}` is off by {error}")));
            }
            row.push(error.to_string());
        }
        table.add_row(row);
    }
    Ok(format!(
        "\n3. The largest error of {ROWS} rows of {LENGTH} scores, with values from -1 to 1, against f64\n\n\
         The scores are given in f32, and f64 takes the same: what they are off by as sums of products is left out.\n\n{table}\n\n{}",
        overflow(lesson)?
    ))
}

/// What comes of exponentials of scores as they are: rows of four equal scores.
fn overflow(lesson: &Lesson) -> Result<String, LessonError> {
    let equal: [f32; 7] = [80.0, 87.0, 88.0, 89.0, -80.0, -100.0, -104.0];
    let scores: Vec<f32> = equal.iter().flat_map(|score| [*score; 4]).collect();
    let rows = Rows { scores: &scores, values: &[1.0, 2.0, 3.0, 4.0] };
    let sums = launch(lesson, "sums", &rows, 0, 2 * equal.len())?;
    let plain = launch(lesson, "no_largest", &rows, 0, equal.len())?;
    let online = launch(lesson, "online_32", &rows, 0, equal.len())?;
    let mut table = new_table(&["each score", "l", "o", "o / l", "online"]);
    for (((score, sums), plain), online) in equal.iter().zip(sums.chunks_exact(2)).zip(&plain).zip(&online) {
        let [sum, result] = sums.try_into().unwrap_or([f32::NAN; 2]);
        table.add_row([
            score.to_string(),
            format!("{sum:.3e}"),
            format!("{result:.3e}"),
            format!("{plain:.4}"),
            format!("{online:.4}"),
        ]);
    }
    Ok(format!(
        "Four equal scores with the values 1, 2, 3 and 4, by exp of the scores as they are, and online:\n\n{table}"
    ))
}

/// The result for a row in f64.
fn attention(scores: &[f32], values: &[f32]) -> f64 {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights = scores.iter().map(|score| (f64::from(*score) - f64::from(largest)).exp());
    let result: f64 = weights.clone().zip(values).map(|(weight, value)| weight * f64::from(*value)).sum();
    result / weights.sum::<f64>()
}
