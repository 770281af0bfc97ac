//! What `ldmatrix` costs by the distance of a tile's rows.

use fusion_lesson::{LessonError, new_table};

use crate::gpu::{Gpu, Launch};

const BANKS: usize = 32;
/// Bytes of a row that a padded tile has more.
const PADDING: usize = 16;
const PITCHES: [usize; 5] = [32, 64, 128, 256, 512];

/// By what the number of a chunk is changed, as the kernel `walk` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Swizzle {
    None,
    /// By the number of its line of 128 bytes, which is what the hardware's patterns do.
    Line,
    /// By the number of its row.
    Row,
}

/// A tile's pitch and swizzle.
const VARIANTS: [(&str, usize, Swizzle); 4] = [
    ("plain", 0, Swizzle::None),
    ("16 bytes more", PADDING, Swizzle::None),
    ("swizzled by line", 0, Swizzle::Line),
    ("swizzled by row", 0, Swizzle::Row),
];

/// Where a chunk of a row begins.
fn place(pitch: usize, swizzle: Swizzle, row: usize, chunk: usize) -> usize {
    let at = row * pitch + 16 * chunk;
    let chunks = if pitch.is_multiple_of(32) { pitch.min(128) / 16 } else { 1 };
    match swizzle {
        Swizzle::None => at,
        Swizzle::Line => at ^ (at / 128 % chunks * 16),
        Swizzle::Row => at ^ (row % chunks * 16),
    }
}

/// Passes through the banks for a fragment of 16 x 16 elements. The eight rows of a matrix are read together, and
/// take as many passes as the busiest bank has words to deliver.
fn passes(pitch: usize, swizzle: Swizzle) -> usize {
    let of_matrix = |matrix: usize| {
        let words = (0..8).flat_map(move |row| {
            let at = place(pitch, swizzle, matrix % 2 * 8 + row, matrix / 2) / 4;
            at..at + 4
        });
        let mut needed = [0; BANKS];
        for word in words {
            if let Some(bank) = needed.get_mut(word % BANKS) {
                *bank += 1;
            }
        }
        needed.into_iter().max().unwrap_or(0)
    };
    (0..4).map(of_matrix).sum()
}

pub(crate) fn show(gpu: &Gpu) -> Result<String, LessonError> {
    let kernels = gpu.load("matrices")?;
    let emulated = gpu.device.is_emulated();
    let mut header = vec!["rows apart"];
    header.extend(VARIANTS.map(|(name, _, _)| name));
    let mut table = new_table(&header);
    for pitch in PITCHES {
        let mut row = vec![format!("{pitch} bytes")];
        for (_, more, swizzle) in VARIANTS {
            let pitch = pitch + more;
            let numbers = [pitch as i32, swizzle as i32];
            let launch = Launch { kernel: "walk", blocks: 1, threads: 32, numbers: &numbers };
            let words = gpu.run(&kernels, launch, &[], 128)?;
            check(&words)?;
            let computed = passes(pitch, swizzle);
            // The kernel's only loads from shared memory are those of `ldmatrix`.
            if let Some(report) = gpu.launches()?.pop() {
                let counted = report.counters.shared_load.sectors;
                if counted != computed as u64 {
                    return Err(LessonError::Wrong(format!(
                        "at {pitch} bytes {counted} passes are counted, and {computed} are computed"
                    )));
                }
            }
            row.push(computed.to_string());
        }
        table.add_row(row);
    }
    let from = match emulated {
        true => "Counted by the emulated device, and the same by arithmetic",
        false => "By arithmetic: a GPU's counters are Nsight Compute's to read",
    };
    Ok(format!(
        "\nPasses through the banks for one ldmatrix.x4, a fragment of 16 x 16 elements of 16 bits\n\n\
         The fragment has 512 bytes, and the banks deliver 128 in a pass: 4 passes are the fewest.\n{from}.\n\n{table}"
    ))
}

/// Each matrix has a chunk of eight rows, whose first element is the chunk's number.
fn check(words: &[u32]) -> Result<(), LessonError> {
    let right = words.chunks_exact(4).enumerate().all(|(lane, registers)| {
        registers.iter().enumerate().all(|(matrix, &word)| {
            let row = matrix % 2 * 8 + lane / 4;
            let first = if lane % 4 == 0 { row * 2 + matrix / 2 + 1 } else { 0 };
            word == first as u32
        })
    });
    match right {
        true => Ok(()),
        false => Err(LessonError::Wrong("`walk` has loaded another fragment".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swizzle_suits_rows_of_some_lengths() {
        let of = |swizzle| PITCHES.map(|pitch| passes(pitch, swizzle));
        assert_eq!(of(Swizzle::Line), [4, 4, 4, 8, 16]);
        assert_eq!(of(Swizzle::Row), [8, 8, 4, 4, 4]);
    }

    #[test]
    fn rows_of_128_bytes_collide_and_padding_parts_them() {
        assert_eq!([32, 64, 128, 256].map(|pitch| passes(pitch, Swizzle::None)), [8, 16, 32, 32]);
        assert!(PITCHES.iter().all(|&pitch| passes(pitch + PADDING, Swizzle::None) == 4));
    }
}
