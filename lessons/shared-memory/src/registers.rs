//! What it costs when an array of a thread does not stay in registers.

use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES as LOCAL_SIZE;
use fusion_lesson::{LessonError, duration, grouped, new_table};

use crate::bench::{Arg, Bench, Cache, Launch, compare, values};

const THREADS: usize = 256;
/// Elements of a thread that rotates, and the places by which.
const EACH: usize = 16;
const SHIFT: usize = 5;
/// Elements of a lane that centres a row of its warp.
const HELD: usize = 64;

/// A row of the table: name, kernel, elements of a thread.
const VARIANTS: [(&str, &str, usize); 6] = [
    ("rotate: constant index", "rotate_constant", EACH),
    ("rotate: run-time index", "rotate_runtime", EACH),
    ("rotate: by bits", "rotate_by_bits", EACH),
    ("rotate: in shared memory", "rotate_shared", EACH),
    ("centre: free", "centre_free", HELD),
    ("centre: bounded", "centre_bounded", HELD),
];

pub(crate) fn show(bench: &mut Bench, elements: usize) -> Result<String, LessonError> {
    // Whole blocks of either kind.
    let elements = elements.next_multiple_of(THREADS * HELD);
    let input = values(elements);
    let x = bench.upload(&input)?;
    let emulated = bench.lesson.device.is_emulated();
    let mut header = vec!["kernel", "registers", "local bytes", "blocks"];
    header.extend(emulated.then_some("array MB, counted"));
    header.extend(["time", "of a copy"]);
    let mut table = new_table(&header);
    for (name, kernel, each) in VARIANTS {
        let out = bench.zeros::<f32>(elements)?;
        let launch = Launch {
            kernel,
            blocks: (elements / (THREADS * each)) as u32,
            threads: THREADS as u32,
            arguments: vec![bench.address(&x), bench.address(&out), Arg::Int(SHIFT as i32)],
        };
        let run = bench.run(&launch, Cache::Cold)?;
        let found = bench.download(&out)?;
        match each {
            EACH => compare(&found, (0..elements).map(|i| rotated(&input, i)), 0.0, &launch)?,
            _ => {
                let rows = input.chunks(HELD * 32).flat_map(|row| {
                    let mean = row.iter().map(|v| f64::from(*v)).sum::<f64>() / row.len() as f64;
                    row.iter().map(move |v| f64::from(*v) - mean)
                });
                // The sums of a lane have 64 terms of at most 1, and go through five more additions; the mean divides by 2,048.
                compare(&found, rows, 5.0 * f64::from(f32::EPSILON), &launch)?;
            }
        }

        let of_driver = LessonError::driver(format!("asking about {kernel}"));
        let facts = bench.lesson.kernel(kernel).and_then(|function| {
            let blocks = function.occupancy_max_active_blocks_per_multiprocessor(THREADS as u32, 0, None)?;
            Ok((function.num_regs()?, function.get_attribute(LOCAL_SIZE)?, blocks))
        });
        let (registers, local, blocks) = facts.map_err(of_driver)?;
        let mut row = vec![name.to_owned(), registers.to_string(), local.to_string(), blocks.to_string()];
        row.extend(run.report.map(|report| {
            let counters = report.counters;
            format!("{:.1}", (counters.local_load.bytes + counters.local_store.bytes) as f64 / 1e6)
        }));
        let rate = (2 * size_of::<f32>() * elements) as f64 / (run.ns * 1e-9);
        row.extend([duration(run.ns), format!("{:.0}%", 100.0 * rate / bench.ceiling)]);
        table.add_row(row);
    }
    Ok(format!(
        "\n5. Registers and local memory: {} floats, blocks of {THREADS} threads, times {}\n\n\
         Registers and local bytes are per thread: the assembler reports them. Blocks are those\n\
         that a multiprocessor holds.\n\n{table}\n",
        grouped(elements),
        bench.lesson.times()
    ))
}

/// What a thread that rotates writes to place i.
fn rotated(input: &[f32], i: usize) -> f64 {
    let (block, j, thread) = (i / (THREADS * EACH), i / THREADS % EACH, i % THREADS);
    let at = block * THREADS * EACH + (j + SHIFT) % EACH * THREADS + thread;
    input.get(at).copied().map_or(f64::NAN, f64::from)
}
