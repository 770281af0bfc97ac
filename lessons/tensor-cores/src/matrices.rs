//! What `ldmatrix`, `movmatrix` and `stmatrix` do with matrices of 8 x 8 elements.

use fusion_lesson::{LessonError, new_table};

use crate::gpu::{Gpu, Launch};

/// Who holds an element: lane, register, and which half of it.
type Holder = (usize, usize, usize);

/// The holder of each element, where lane after lane has four registers with numbers of elements: eight of a row, eight
/// rows of a matrix, four matrices.
fn holders(words: &[[u32; 4]]) -> Option<Vec<Holder>> {
    let mut holders: Vec<Option<Holder>> = vec![None; 256];
    for (lane, registers) in words.iter().enumerate() {
        for (register, word) in registers.iter().enumerate() {
            for (half, number) in [word & 0xffff, word >> 16].into_iter().enumerate() {
                *holders.get_mut(number as usize)? = Some((lane, register, half));
            }
        }
    }
    holders.into_iter().collect()
}

pub(crate) fn show(gpu: &Gpu) -> Result<String, LessonError> {
    let kernels = gpu.load("matrices")?;
    let launch = Launch { kernel: "load", blocks: 1, threads: 32, numbers: &[] };
    let words = gpu.run(&kernels, launch, &[], 32 * 12)?;
    gpu.launches()?;
    let registers = |from: usize| -> Vec<[u32; 4]> {
        words.chunks_exact(12).filter_map(|lane| lane.get(from..from + 4)?.try_into().ok()).collect()
    };
    let lost = || LessonError::Wrong("`load` has lost an element".to_owned());
    let plain = holders(&registers(0)).ok_or_else(lost)?;
    let turned = holders(&registers(4)).ok_or_else(lost)?;
    let mut text =
        "\nFour matrices of 8 x 8 elements of 16 bits, by one ldmatrix.x4. Lane l names the address of row l % 8 of\n\
                    matrix l / 8. A place has the lane that holds the element, and the half of the register.\n"
            .to_owned();
    for (what, holders) in [("ldmatrix", &plain), ("ldmatrix.trans", &turned)] {
        text += &format!("\nMatrix 0 by {what}:\n{}\n", table(holders));
    }
    text += "\nWho names an address, and who gets what is there, by ldmatrix:\n";
    for lane in [0, 1, 9, 31] {
        let row = plain.get(8 * lane..8 * lane + 8).unwrap_or_default();
        let lanes: Vec<usize> = row.iter().map(|(lane, _, _)| *lane).collect();
        let (first, last) = (lanes.iter().min().copied().unwrap_or(0), lanes.iter().max().copied().unwrap_or(0));
        let register = row.first().map_or(0, |(_, register, _)| *register);
        text += &format!(
            "  the row that lane {lane} names: row {} of matrix {}, to register {register} of lanes {first} to {last}\n",
            lane % 8,
            lane / 8
        );
    }
    if registers(8) != registers(4) {
        return Err(LessonError::Wrong("`movmatrix` does not transpose".to_owned()));
    }
    text +=
        "\nmovmatrix.trans of the registers of ldmatrix gives those of ldmatrix.trans: all 128 registers are equal.\n";
    if gpu.capability() < 90 {
        return Ok(text + "stmatrix needs compute capability 9.0.");
    }
    let launch = Launch { kernel: "store", blocks: 1, threads: 32, numbers: &[] };
    let words = gpu.run(&kernels, launch, &[], 128)?;
    gpu.launches()?;
    if !words.iter().flat_map(|word| [word & 0xffff, word >> 16]).eq(0..256) {
        return Err(LessonError::Wrong("`stmatrix` stores elements elsewhere".to_owned()));
    }
    text += "stmatrix.x4 of the registers of ldmatrix.x4 is its reverse: all 256 elements are where they were.";
    Ok(text)
}

/// Who holds the elements of matrix 0.
fn table(holders: &[Holder]) -> String {
    let header = ["".to_owned()].into_iter().chain((0..8).map(|column| format!("column {column}")));
    let header: Vec<String> = header.collect();
    let mut table = new_table(&header.iter().map(String::as_str).collect::<Vec<_>>());
    for (row, holders) in holders.chunks_exact(8).take(8).enumerate() {
        let place = |(lane, _, half): &Holder| format!("{lane} {}", if *half == 0 { "low" } else { "high" });
        table.add_row([format!("row {row}")].into_iter().chain(holders.iter().map(place)));
    }
    table.to_string()
}
