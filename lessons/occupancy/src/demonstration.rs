//! One operation at many occupancies: `gelu(a + b)` with 1 to 8 loads of each input under way in a thread, and with
//! unused shared memory that keeps blocks off the SM.

#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC_SHARED;
use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use fusion_baseline::Problem;
use fusion_course::day22::add_gelu::EXERCISE;
use fusion_course::{NoGemm, Shape};
use fusion_lesson::{Clock, Lesson, LessonError, Size, check, duration, grouped, new_table};
use fusion_machine::occupancy::{Block, Occupancy};

use crate::gpu::Gpu;
use crate::grid::letters;

const THREADS: u32 = 256;
/// What the fused operation must move: two floats read and one written, an element.
const BYTES_OF_ELEMENT: u64 = 12;

/// The lesson's kernels, with the elements that a thread takes.
const KERNELS: [(&str, u32); 5] =
    [("add_gelu_x1", 1), ("add_gelu_x2", 2), ("add_gelu_x4", 4), ("add_gelu_x8", 8), ("add_gelu_x8_bounded", 8)];

/// A kernel at one occupancy.
struct Variant {
    name: &'static str,
    kernel: CudaFunction,
    elements: u32,
    registers: u32,
    /// Dynamic shared memory that it asks for and leaves alone.
    shared: u32,
    found: Occupancy,
    /// The driver's answer to the same question.
    blocks_by_driver: u32,
}

impl Variant {
    /// Two loads of four bytes per element.
    fn in_flight(&self) -> u64 {
        self.found.bytes_in_flight(8 * self.elements)
    }
}

pub(crate) fn run(lesson: &Lesson, gpu: &Gpu) -> Result<String, LessonError> {
    let variants = variants(lesson, gpu).map_err(LessonError::driver("asking about the kernels"))?;
    let mut clock = lesson.clock().map_err(LessonError::driver("preparing the timer"))?;
    let ceiling = clock.ceiling().map_err(LessonError::driver("measuring a copy"))?;

    let mut points = Vec::new();
    for n in lesson.sizes().iter().map(Size::elements) {
        let mut work = Work::new(lesson, n)?;
        let unfused = work.unfused(lesson, &mut clock)?;
        // The largest size is looked at with all variants, the others with the extremes.
        let all = n == lesson.largest().elements();
        let times = variants.iter().map(|variant| match all || extreme(&variants, variant) {
            true => work.variant(lesson, &mut clock, variant).map(Some),
            false => Ok(None),
        });
        points.push((n, unfused, times.collect::<Result<Vec<_>, _>>()?));
    }
    lesson.check()?;

    let mut text = format!("{}: {}\n", EXERCISE.name, EXERCISE.definition);
    if let Some((n, unfused, times)) = points.last() {
        text += &format!("\nAt {} elements, blocks of {THREADS} threads, times {}:\n", grouped(*n), lesson.times());
        text += "`blocks` is the number of resident blocks per SM that the calculator computes, and `driver` is the number that the\n\
                 driver gives. `B/thread` is the bytes in flight per thread, and `KiB/SM` the KiB in flight per SM. Some rows\n\
                 reserve shared memory, so that fewer blocks fit.\n";
        text += &table(lesson, gpu, &variants, *n, *unfused, times, ceiling);
        text += "\nLeft: the bytes in flight in each SM, calculated. Right: the speed as a share of a copy's speed, ";
        text += &format!("{}:\n{}", lesson.times(), picture(gpu, &variants, *n, times, ceiling));
        text += &format!("\n{}\n", gpu.source_of_need());
    }
    text += &format!("\nOver sizes, times {}:\n{}", lesson.times(), sweep(&variants, &points));
    if lesson.device.is_emulated() {
        text += "\nThe times come from a simulation of one SM. As on a real GPU, a few warps cannot keep the memory busy. The\n\
                 bytes in flight are calculated. The numbers of registers come from NVIDIA's assembler.\n";
    }
    Ok(text)
}

/// Every kernel at full occupancy, and all but the bounded one with fewer and fewer blocks.
fn variants(lesson: &Lesson, gpu: &Gpu) -> Result<Vec<Variant>, DriverError> {
    let mut variants = Vec::new();
    for (name, elements) in KERNELS {
        let registers = lesson.kernel(name)?.num_regs()?.unsigned_abs();
        let of = |shared| gpu.limits.occupancy(&Block { threads: THREADS, registers, shared });
        let most = of(0).blocks;
        let mut blocks = vec![most];
        if name != "add_gelu_x8_bounded" {
            blocks.extend([most / 2, most / 4, 1]);
            blocks.retain(|&blocks| blocks > 0);
            blocks.dedup();
        }
        for blocks in blocks {
            let shared = if blocks == most { 0 } else { gpu.limits.shared_for(blocks) };
            // A function's attributes are its own: another handle for each variant.
            let kernel = lesson.kernel(name)?;
            kernel.set_attribute(MAX_DYNAMIC_SHARED, gpu.limits.shared_per_block as i32)?;
            let blocks_by_driver =
                kernel.occupancy_max_active_blocks_per_multiprocessor(THREADS, shared as usize, None)?;
            variants.push(Variant { name, kernel, elements, registers, shared, found: of(shared), blocks_by_driver });
        }
    }
    Ok(variants)
}

/// The kernels with the fewest and the most loads, at their highest and lowest occupancy.
fn extreme(variants: &[Variant], variant: &Variant) -> bool {
    let of_kernel = || variants.iter().filter(|other| other.name == variant.name).map(|other| other.found.blocks);
    let outer = of_kernel().max() == Some(variant.found.blocks) || of_kernel().min() == Some(variant.found.blocks);
    outer && ["add_gelu_x1", "add_gelu_x8"].contains(&variant.name)
}

/// One size.
struct Work {
    stream: Arc<CudaStream>,
    problem: Problem,
}

impl Work {
    fn new(lesson: &Lesson, n: usize) -> Result<Work, LessonError> {
        let stream = lesson.device.stream.clone();
        let problem = Problem::new(&stream, &EXERCISE, Shape::flat(n), 26)
            .map_err(LessonError::driver(format!("allocating for {n} elements")))?;
        Ok(Work { stream, problem })
    }

    /// The time of the chain, in nanoseconds.
    fn unfused(&mut self, lesson: &Lesson, clock: &mut Clock) -> Result<f64, LessonError> {
        let Work { stream, problem } = self;
        let (arguments, intermediates) = problem.arguments(&NoGemm);
        let launch = |step| lesson.unfused().run_step(stream, &EXERCISE, step, intermediates, &arguments);
        let time = clock.median(|| EXERCISE.unfused.iter().try_for_each(launch));
        let time = time.map_err(LessonError::driver("the unfused chain"))?;
        self.check("unfused")?;
        Ok(time)
    }

    /// The time of one variant, in nanoseconds. Its result is checked.
    fn variant(&mut self, lesson: &Lesson, clock: &mut Clock, variant: &Variant) -> Result<f64, LessonError> {
        let failed = || LessonError::driver(format!("{} with {} bytes of shared memory", variant.name, variant.shared));
        // A kernel that writes nothing must not pass with another's results.
        self.problem.reset(&self.stream).map_err(failed())?;
        let n = self.problem.shape.elements();
        let Problem { place, outputs, .. } = &self.problem;
        let addresses: Vec<u64> =
            place.inputs.iter().chain(outputs).map(|buffer| buffer.address(&self.stream)).collect();
        let config = LaunchConfig {
            grid_dim: (n.div_ceil((THREADS * variant.elements) as usize) as u32, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: variant.shared,
        };
        let time = clock.median(|| {
            let mut launch = lesson.device.stream.launch_builder(&variant.kernel);
            for address in &addresses {
                launch.arg(address);
            }
            launch.arg(&n);
            // SAFETY: the parameters are the two inputs, the output and `n`; all three buffers hold `n` floats and live
            // as long as `self`.
            unsafe { launch.launch(config) }.map(drop)
        });
        let time = time.map_err(failed())?;
        self.check(variant.name)?;
        Ok(time)
    }

    fn check(&self, who: &str) -> Result<(), LessonError> {
        check(&self.problem, &self.stream, who, |_| true)
    }
}

fn table(
    lesson: &Lesson,
    gpu: &Gpu,
    variants: &[Variant],
    n: usize,
    unfused: f64,
    times: &[Option<f64>],
    ceiling: f64,
) -> String {
    let mut table = new_table(&[
        "kernel",
        "regs",
        "shared",
        "blocks",
        "driver",
        "occupancy",
        "limit",
        "B/thread",
        "KiB/SM",
        "of need",
        "MB",
        lesson.times(),
        "of a copy",
        "speedup",
    ]);
    let shape = Shape::flat(n);
    let share = |bytes: u64, ns: f64| format!("{:.0}%", 100.0 * bytes as f64 / (ns * 1e-9) / ceiling);
    let unfused_bytes = EXERCISE.unfused_bytes(shape);
    let blank = || String::new();
    let mut row = vec![format!("unfused: {} launches", EXERCISE.unfused.len())];
    row.extend(std::iter::repeat_with(blank).take(9));
    row.extend([
        format!("{:.1}", unfused_bytes as f64 / 1e6),
        duration(unfused),
        share(unfused_bytes, unfused),
        blank(),
    ]);
    table.add_row(row);
    for (variant, ns) in variants.iter().zip(times) {
        let Some(ns) = *ns else { continue };
        let bytes = BYTES_OF_ELEMENT * n as u64;
        let need =
            gpu.bytes_needed().map_or_else(blank, |need| format!("{:.0}%", 100.0 * variant.in_flight() as f64 / need));
        table.add_row([
            variant.name.to_owned(),
            variant.registers.to_string(),
            grouped(variant.shared as usize),
            variant.found.blocks.to_string(),
            variant.blocks_by_driver.to_string(),
            format!("{:.0}%", 100.0 * variant.found.share()),
            letters(&variant.found),
            (8 * variant.elements).to_string(),
            format!("{:.0}", variant.in_flight() as f64 / 1024.0),
            need,
            format!("{:.1}", bytes as f64 / 1e6),
            duration(ns),
            share(bytes, ns),
            format!("{:.2}x", unfused / ns),
        ]);
    }
    format!("{table}\n")
}

/// Two bars a variant: bytes in flight on a scale of 4 KiB a character with a mark at what is needed, and speed.
fn picture(gpu: &Gpu, variants: &[Variant], n: usize, times: &[Option<f64>], ceiling: f64) -> String {
    const KIB_OF_MARK: f64 = 4.0;
    const WIDTH: usize = 32;
    let need = gpu.bytes_needed().map(|need| (need / 1024.0 / KIB_OF_MARK).round() as usize);
    let mut text = String::new();
    for (variant, ns) in variants.iter().zip(times) {
        let Some(ns) = ns else { continue };
        let filled = ((variant.in_flight() as f64 / 1024.0 / KIB_OF_MARK).round() as usize).min(WIDTH);
        let bytes: String = (1..=WIDTH)
            .map(|column| match column {
                column if Some(column) == need => '|',
                column if column <= filled => '#',
                _ => ' ',
            })
            .collect();
        let share = (BYTES_OF_ELEMENT * n as u64) as f64 / (ns * 1e-9) / ceiling;
        let speed = "=".repeat((20.0 * share).round().clamp(0.0, 24.0) as usize);
        text +=
            &format!("  {:<19} {:>2}/SM {bytes} {:>3.0}% {speed}\n", variant.name, variant.found.blocks, 100.0 * share);
    }
    text + "  Each `#` stands for 4 KiB, and `|` marks what is needed. Each `=` stands for 5% of a copy's speed.\n"
}

fn sweep(variants: &[Variant], points: &[(usize, f64, Vec<Option<f64>>)]) -> String {
    let shown: Vec<usize> =
        (0..variants.len()).filter(|&i| variants.get(i).is_some_and(|variant| extreme(variants, variant))).collect();
    let labels: Vec<String> = (shown.iter().filter_map(|&i| variants.get(i)))
        .map(|variant| format!("{}, {}/SM", variant.name, variant.found.blocks))
        .collect();
    let header: Vec<&str> = ["elements", "unfused"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    let mut table = new_table(&header);
    for (n, unfused, times) in points {
        let mut row = vec![grouped(*n), duration(*unfused)];
        for &i in &shown {
            row.push(
                times
                    .get(i)
                    .copied()
                    .flatten()
                    .map_or_else(String::new, |ns| format!("{} ({:.2}x)", duration(ns), unfused / ns)),
            );
        }
        table.add_row(row);
    }
    format!("{table}\n")
}
