//! What the kernels are to do: inputs, and what must come out.

use half::bf16;

/// A task that two kernels do, one of them with inline PTX.
pub(crate) struct Task {
    /// The plain kernel. The other one's name has `_inline` behind it.
    pub(crate) kernel: &'static str,
    pub(crate) what: &'static str,
    pub(crate) threads: u32,
    pub(crate) inputs: Vec<Vec<u32>>,
    pub(crate) expected: Vec<u32>,
}

/// All of them. Every result is exact, so that there is one right answer.
pub(crate) fn tasks() -> [Task; 5] {
    [convert(), widen(), scan(), stream(), multiply()]
}

fn convert() -> Task {
    // Numbers of either sign, and some that lie between two of bf16, one as near as the other.
    let number = |i: u32| if i.is_multiple_of(7) { 1.0 + (2 * i + 1) as f32 / 256.0 } else { i as f32 * 0.37 - 11.0 };
    let numbers: Vec<f32> = (0..64).map(number).collect();
    let expected = numbers.chunks_exact(2).map(|two| pair(two[0], two[1])).collect();
    task("convert", "two floats to two bf16", 32, vec![bits(&numbers)], expected)
}

fn widen() -> Task {
    // Each number of int8 once.
    let bytes = |i: u32| [2 * i as u8, 2 * i as u8 + 1];
    let words = (0..128).map(|i| u32::from_le_bytes([bytes(i)[0], bytes(i)[1], 0xa5, 0x5a])).collect();
    let expected = (0..128).map(|i| {
        let [low, high] = bytes(i).map(|byte| f32::from(byte as i8));
        pair(low, high)
    });
    let expected = expected.collect();
    task("widen", "two int8 to two bf16", 128, vec![words], expected)
}

fn scan() -> Task {
    let numbers: Vec<f32> = (0..32u16).map(|i| f32::from(i * 5 % 17) - 4.0).collect();
    let sums: Vec<f32> = numbers
        .iter()
        .scan(0.0, |sum, number| {
            *sum += number;
            Some(*sum)
        })
        .collect();
    task("scan", "sums of the lanes so far", 32, vec![bits(&numbers)], bits(&sums))
}

fn stream() -> Task {
    let numbers: Vec<f32> = (0..128u16).map(|i| f32::from(i) * 0.5 - 9.0).collect();
    let words = bits(&numbers);
    task("stream", "sixteen bytes, read once", 32, vec![words.clone()], words)
}

fn multiply() -> Task {
    let a: Vec<f32> = (0..256u16).map(|i| f32::from(i * 7 % 13) - 6.0).collect();
    let b: Vec<f32> = (0..128u16).map(|i| f32::from(i * 5 % 11) - 5.0).collect();
    let sum = |i: usize| (0..16).map(|l| a[i / 8 * 16 + l] * b[l * 8 + i % 8]).sum();
    let sums: Vec<f32> = (0..128).map(sum).collect();
    let packed = |numbers: &[f32]| numbers.chunks_exact(2).map(|two| pair(two[0], two[1])).collect();
    task("multiply", "16 x 8 sums of 16 terms", 32, vec![packed(&a), packed(&b)], bits(&sums))
}

fn task(kernel: &'static str, what: &'static str, threads: u32, inputs: Vec<Vec<u32>>, expected: Vec<u32>) -> Task {
    Task { kernel, what, threads, inputs, expected }
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Two bf16 in a word, the first in its lower half.
fn pair(low: f32, high: f32) -> u32 {
    let [low, high] = [low, high].map(|number| u32::from(bf16::from_f32(number).to_bits()));
    low | high << 16
}
