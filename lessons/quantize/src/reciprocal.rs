//! Division against multiplication by the reciprocal.

#![allow(unsafe_code)]

use cudarc::driver::{DriverError, LaunchConfig, PushKernelArg};
use fusion_lesson::{Lesson, LessonError};

/// The scale at which one of the course's sources saw the two disagree.
const SCALE: f32 = 0.02362205;

/// Quantizes `n` values, evenly spread over the range of an int8, both ways, and says how many differ.
///
/// # Errors
/// The device's.
pub(crate) fn compare(lesson: &Lesson, n: usize) -> Result<String, LessonError> {
    let x: Vec<f32> = (0..n).map(|i| ((i as f64 / n as f64) * 6.0 - 3.0) as f32).collect();
    let outputs = ["fake_quantize", "fake_quantize_reciprocal"].map(|kernel| quantize(lesson, kernel, &x));
    let [divided, multiplied] = outputs;
    let failed = |error| LessonError::Driver { error, doing: format!("quantizing {n} values") };
    let (divided, multiplied) = (divided.map_err(failed)?, multiplied.map_err(failed)?);
    lesson.check()?;
    let differing: Vec<usize> = (0..n).filter(|&i| divided[i] != multiplied[i]).collect();
    let mut text = format!(
        "\nx / scale is compared with x * (1 / scale), for {n} values of x from -3 to 3 and scale {SCALE}.\n\
         {} results differ, each by a whole step.\n",
        differing.len()
    );
    for &i in differing.iter().take(3) {
        let [by_division, by_product] = [&divided, &multiplied].map(|out| (out[i] / SCALE).round());
        text += &format!("  x = {:<12} divided: {by_division:>4} steps   multiplied: {by_product:>4} steps\n", x[i]);
    }
    Ok(text)
}

fn quantize(lesson: &Lesson, kernel: &str, x: &[f32]) -> Result<Vec<f32>, DriverError> {
    let stream = &lesson.device.stream;
    let kernel = lesson.kernel(kernel)?;
    let input = stream.clone_htod(x)?;
    let mut output = stream.alloc_zeros::<f32>(x.len())?;
    let n = x.len();
    let config = LaunchConfig { grid_dim: (n.div_ceil(256) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&input).arg(&mut output).arg(&SCALE).arg(&n);
    // SAFETY: these are the kernel's parameters in order, and both buffers hold `n` elements.
    unsafe { launch.launch(config) }?;
    stream.clone_dtoh(&output)
}
