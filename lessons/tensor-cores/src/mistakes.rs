//! Fragments that are wrong, and what comes out.

use clap::ValueEnum;
use fusion_lesson::LessonError;

use crate::gpu::{Gpu, Launch};

/// A mistake of the kernel `product`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mistake {
    /// B is loaded without `.trans`: rows and columns are exchanged
    Exchanged,
    /// The second and third matrix of A's fragment are exchanged
    Quarters,
    /// Rows of A are read 16 elements apart, and lie 24 apart
    Pitch,
    /// Lanes are counted down the columns of the sums, and not along their rows
    Lanes,
    /// The second and third sum of a lane are exchanged
    Registers,
}

const M: usize = 16;
const N: usize = 8;
const K: usize = 16;

impl Mistake {
    fn kernel(self) -> &'static str {
        match self {
            Mistake::Exchanged => "exchanged",
            Mistake::Quarters => "quarters",
            Mistake::Pitch => "pitch",
            Mistake::Lanes => "lanes",
            Mistake::Registers => "registers",
        }
    }

    /// What the kernel computes instead.
    fn instead(self, a: &[i64], b: &[i64]) -> Vec<i64> {
        let at = |matrix: &[i64], i: usize| matrix.get(i).copied().unwrap_or(0);
        let element_a = |row: usize, k: usize| at(a, row * K + k);
        let element_b = |k: usize, column: usize| at(b, k * N + column);
        let product = |a: &dyn Fn(usize, usize) -> i64, b: &dyn Fn(usize, usize) -> i64| -> Vec<i64> {
            (0..M * N).map(|i| (0..K).map(|k| a(i / N, k) * b(k, i % N)).sum()).collect()
        };
        let right = || product(&element_a, &element_b);
        // Sums that are right, each at another place.
        let moved = |from: &dyn Fn(usize, usize) -> (usize, usize)| -> Vec<i64> {
            let sums = right();
            (0..M * N).map(|i| from(i / N, i % N)).map(|(row, column)| at(&sums, row * N + column)).collect()
        };
        match self {
            Mistake::Exchanged => product(&element_a, &|k, column| element_b(k / 8 * 8 + column, k % 8)),
            Mistake::Quarters => product(&|row, k| element_a(row % 8 + k / 8 * 8, k % 8 + row / 8 * 8), &element_b),
            Mistake::Pitch => product(
                &|row, k| {
                    let (row, k) = ((16 * row + k) / 24, (16 * row + k) % 24);
                    if k < K { element_a(row, k) } else { 0 }
                },
                &element_b,
            ),
            Mistake::Lanes => moved(&|row, column| {
                let lane = row % 8 + column / 2 * 8;
                (lane / 4 + row / 8 * 8, lane % 4 * 2 + column % 2)
            }),
            Mistake::Registers => moved(&|row, column| (row % 8 + column % 2 * 8, column / 2 * 2 + row / 8)),
        }
    }

    fn says(self) -> &'static str {
        match self {
            Mistake::Exchanged => {
                "A times a B whose two halves of 8 x 8 are turned over. A test with a B of equal elements, or one\n\
                 whose halves are symmetric, passes."
            }
            Mistake::Quarters => {
                "an A whose upper right and lower left quarters have changed places, times B. A test with an A of equal\n\
                 elements passes."
            }
            Mistake::Pitch => {
                "an A whose rows begin 16 elements after each other, padding and all, times B. Row 0 is right: a test that\n\
                 looks at the first row alone passes."
            }
            Mistake::Lanes => {
                "A times B, with each sum right and at another place. A test that compares the sum of all elements passes."
            }
            Mistake::Registers => {
                "A times B with c1 and c2 of each lane exchanged. Half of the sums are right: c0 and c3 are where they\n\
                 belong."
            }
        }
    }
}

/// Small integers, of which bf16 has each, and so has f32 their sums. The test below looks whether rows and columns
/// differ.
fn factors() -> [Vec<i64>; 2] {
    let mixed = |i: usize, most: i64| (i as i64 * i as i64 * 31 + i as i64 * 17) % 251 % (2 * most + 1) - most;
    [(0..M * K).map(|i| mixed(i, 6)).collect(), (0..K * N).map(|i| mixed(i + 7, 5)).collect()]
}

/// A times B.
fn multiply(a: &[i64], b: &[i64]) -> Vec<i64> {
    let sum = |i: usize| {
        let row = a.chunks_exact(K).nth(i / N).unwrap_or_default();
        row.iter().zip(b.iter().skip(i % N).step_by(N)).map(|(a, b)| a * b).sum()
    };
    (0..M * N).map(sum).collect()
}

fn product(gpu: &Gpu, kernel: &str) -> Result<Vec<i64>, LessonError> {
    let kernels = gpu.load("mistakes")?;
    let inputs = factors().map(|factor| factor.into_iter().map(|number| number as i32 as u32).collect::<Vec<_>>());
    let launch = Launch { kernel, blocks: 1, threads: 32, numbers: &[] };
    let words = gpu.run(&kernels, launch, &inputs, M * N)?;
    Ok(words.into_iter().map(|word| f32::from_bits(word) as i64).collect())
}

pub(crate) fn show(gpu: &Gpu, mistake: Mistake) -> Result<String, LessonError> {
    let [a, b] = factors();
    let right = product(gpu, "right")?;
    let expected = multiply(&a, &b);
    if right != expected {
        return Err(LessonError::Wrong("the product without a mistake is wrong".to_owned()));
    }
    let found = product(gpu, mistake.kernel())?;
    // The emulated device refuses none of these: addresses, lanes and registers are such as there are.
    gpu.launches()?;
    let wrong = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
    if found != mistake.instead(&a, &b) {
        return Err(LessonError::Wrong(format!("`{}` computes something else", mistake.kernel())));
    }
    let mut text = format!(
        "\n{}: {wrong} of {} sums are wrong. No access is outside of a buffer{}.\n\n\
         The sums, those that are wrong in brackets:\n",
        mistake.kernel(),
        M * N,
        if gpu.device.is_emulated() { ", and no check finds anything" } else { "" }
    );
    for (row, sums) in found.chunks_exact(N).enumerate() {
        let cells = sums.iter().zip(expected.iter().skip(row * N)).map(|(found, expected)| match found == expected {
            true => format!(" {found:>4} "),
            false => format!("[{found:>4}]"),
        });
        text += &format!("  row {row:>2} {}\n", cells.collect::<Vec<_>>().join(" ").trim_end());
    }
    text += &format!("\nAll {} are what the host computes for this:\n{}", M * N, mistake.says());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Else a mistake that exchanges them would not show.
    #[test]
    fn no_row_or_column_is_like_another() {
        let [a, b] = factors();
        for (matrix, rows, columns) in [(&a, M, K), (&b, K, N)] {
            let different: BTreeSet<&[i64]> = matrix.chunks_exact(columns).collect();
            assert_eq!(different.len(), rows);
            let column = |at: usize| matrix.iter().skip(at).step_by(columns).collect::<Vec<_>>();
            assert_eq!((0..columns).map(column).collect::<BTreeSet<_>>().len(), columns);
        }
    }

    /// What the lesson says of tests that would not show a mistake, and that the lesson's own factors do.
    #[test]
    fn each_mistake_hides_from_some_test() {
        let [a, b] = factors();
        let right = multiply(&a, &b);
        let instead = |mistake: Mistake| mistake.instead(&a, &b);
        assert!(Mistake::value_variants().iter().all(|mistake| instead(*mistake) != right));

        let symmetric: Vec<i64> = (0..K * N).map(|i| (i / 8 % 8 * (i % 8) + i / 64) as i64).collect();
        assert_eq!(Mistake::Exchanged.instead(&a, &symmetric), multiply(&a, &symmetric));
        let equal = vec![3; M * K];
        assert_eq!(Mistake::Quarters.instead(&equal, &b), multiply(&equal, &b));
        assert_eq!(instead(Mistake::Pitch)[..N], right[..N]);
        assert_eq!(instead(Mistake::Lanes).iter().sum::<i64>(), right.iter().sum::<i64>());
        let rows: Vec<i64> = (0..M * K).map(|i| (i % K) as i64).collect();
        let columns: Vec<i64> = (0..K * N).map(|i| (i / N) as i64).collect();
        assert_eq!(Mistake::Registers.instead(&rows, &columns), multiply(&rows, &columns));
    }
}
