//! Which 16 bytes of shared memory `wgmma` takes for which part of a row.

use fusion_chart::ideas::{Cell, Grid, Panel};
use fusion_lesson::{LessonError, new_table};

use crate::gpu::{Gpu, Launch};

/// Bytes of a row, and the number of the mode in a descriptor.
const MODES: [(usize, i32); 3] = [(32, 3), (64, 2), (128, 1)];
/// Chunks in 128 bytes, which is what all banks deliver together.
const CHUNKS: usize = 8;
const ROWS: usize = 8;

/// For each chunk of memory, the row and the chunk of it that are taken from there. It is an error if that is not
/// what the lesson says.
fn memory(gpu: &Gpu, width: usize, mode: i32) -> Result<Vec<(usize, usize)>, LessonError> {
    let kernels = gpu.load("swizzles")?;
    let chunks = width / 16;
    let numbers = [width as i32, mode];
    let launch = Launch { kernel: "chunks", blocks: 1, threads: 128, numbers: &numbers };
    let taken = gpu.run(&kernels, launch, &[], ROWS * chunks)?;
    gpu.launches()?;
    let mut memory = vec![None; ROWS * chunks];
    for (at, &chunk) in taken.iter().enumerate() {
        if let Some(place) = memory.get_mut(chunk as usize) {
            *place = Some((at / chunks, at % chunks));
        }
    }
    let by_line = |at: usize| Some(at ^ (at / CHUNKS % chunks)).map(|at| (at / chunks, at % chunks));
    match memory.iter().enumerate().all(|(at, place)| *place == by_line(at)) {
        true => Ok(memory.into_iter().flatten().collect()),
        false => Err(LessonError::Wrong(format!("`wgmma` has another order, with rows of {width} bytes: {memory:?}"))),
    }
}

/// Whether the device has `wgmma`.
pub(crate) fn there_are(gpu: &Gpu) -> bool {
    gpu.capability() == 90
}

pub(crate) fn show(gpu: &Gpu) -> Result<String, LessonError> {
    if !there_are(gpu) {
        return Ok("\nwgmma is an instruction of compute capability 9.0 alone, which this device has not.".to_owned());
    }
    let mut text = "\nWhat wgmma reads: eight rows of B, whose chunks of 16 bytes it takes in another order\n\n\
                    Asked of the device: each chunk of memory had its own number, and the sums say which was taken. A line is\n\
                    128 bytes of memory, and a place has the row and the chunk of that row which lie there.\n"
        .to_owned();
    for (width, mode) in MODES {
        let memory = memory(gpu, width, mode)?;
        let header: Vec<String> =
            ["byte".to_owned()].into_iter().chain((0..CHUNKS).map(|chunk| format!("+{}", 16 * chunk))).collect();
        let mut table = new_table(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for (line, places) in memory.chunks(CHUNKS).enumerate() {
            let cells = places.iter().map(|(row, chunk)| format!("{row} : {chunk}"));
            table.add_row([(128 * line).to_string()].into_iter().chain(cells));
        }
        text += &format!("\nRows of {width} bytes, mode {mode}:\n{table}\n");
    }
    text += "\nIn each mode the number of a chunk is changed by that of its line of 128 bytes, by xor: its lowest bit\n\
             for rows of 32 bytes, its lowest two for 64, and three for 128.";
    Ok(text)
}

/// A panel for each mode.
pub(crate) fn panels(gpu: &Gpu, source: &str) -> Result<Vec<Panel>, LessonError> {
    let panel = |(width, mode): (usize, i32)| {
        let memory = memory(gpu, width, mode)?;
        let cell = |&(row, chunk): &(usize, usize)| {
            let text = format!("{row}:{chunk}");
            if chunk == 0 { Cell::used(&text) } else { Cell::plain(&text) }
        };
        let rows = memory.chunks(CHUNKS).enumerate();
        Ok(Grid {
            name: format!("swizzle-{width}"),
            title: format!("Rows of {width} bytes, swizzled"),
            corner: "byte of memory".to_owned(),
            columns: (0..CHUNKS).map(|chunk| (16 * chunk).to_string()).collect(),
            rows: rows.map(|(line, places)| ((128 * line).to_string(), places.iter().map(cell).collect())).collect(),
            says: "Row and chunk of the row that lie there. In colour: chunk 0 of each row.".to_owned(),
            source: source.to_owned(),
        }
        .panel())
    };
    MODES.into_iter().map(panel).collect()
}
