//! Launches of the lesson's own kernels.

#![allow(unsafe_code)]

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use fusion_lesson::{Lesson, LessonError};

/// Rows of scores, one for each thread, and a column of values for all of them.
pub(crate) struct Rows<'a> {
    pub(crate) scores: &'a [f32],
    pub(crate) values: &'a [f32],
}

/// Launches a kernel of `softmax.cu` with one block and returns what it wrote. The emulated device finds no fault in
/// it.
pub(crate) fn launch(
    lesson: &Lesson,
    kernel: &str,
    rows: &Rows<'_>,
    tile: usize,
    outputs: usize,
) -> Result<Vec<f32>, LessonError> {
    let found = start(lesson, kernel, rows, tile, outputs).map_err(LessonError::driver(kernel))?;
    lesson.check()?;
    Ok(found)
}

fn start(lesson: &Lesson, kernel: &str, rows: &Rows<'_>, tile: usize, outputs: usize) -> Result<Vec<f32>, DriverError> {
    let stream = &lesson.device.stream;
    let length = rows.values.len();
    let threads = rows.scores.len() / length.max(1);
    let (scores, values) = (stream.clone_htod(rows.scores)?, stream.clone_htod(rows.values)?);
    let mut out = stream.alloc_zeros::<f32>(outputs)?;
    let kernel = lesson.kernel(kernel)?;
    let (length, tile) = (length as i32, tile as i32);
    let mut builder = stream.launch_builder(&kernel);
    builder.arg(&scores).arg(&values).arg(&length).arg(&tile).arg(&mut out);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads as u32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: there is a row of scores for each thread, a value for each score of a row, and room for what is
    // written.
    unsafe { builder.launch(config) }?;
    stream.clone_dtoh(&out)
}
