//! When it pays to ask for the next tile early.

use fusion_lesson::{LessonError, duration, grouped, new_table};
use fusion_machine::report::account::Cause;

use crate::bench::{Arg, Bench, Cache, Launch, compare, values};

const THREADS: usize = 128;
const TILE: usize = 1024;
const STEPS: usize = 16;

/// Name, kernel, and tiles that a block has in flight while it waits for one.
const VARIANTS: [(&str, &str, usize); 4] = [
    ("loads, no prefetch", "tiles_loads", 1),
    ("cp.async, one buffer", "tiles_1_buffer", 1),
    ("cp.async, two buffers", "tiles_2_buffers", 2),
    ("cp.async, four buffers", "tiles_4_buffers", 4),
];

/// Blocks of each multiprocessor.
const CASES: [(u32, &str); 2] = [(1, "few warps"), (12, "many warps")];

pub(crate) fn show(bench: &mut Bench, elements: usize) -> Result<String, LessonError> {
    let tiles = elements.div_ceil(TILE).max(1);
    // None is larger than a half, so that no step of the polynomial is larger than 1.
    let input: Vec<f32> = values(tiles * TILE).iter().map(|value| 0.5 * value).collect();
    let x = bench.upload(&input)?;
    let emulated = bench.lesson.device.is_emulated();
    let mut text = format!(
        "\n4. Prefetch: a loop over {} tiles of 4 KiB, {STEPS} multiply-adds per element, times {}\n\n\
         KiB in flight are those that the blocks of a multiprocessor have asked for while they wait.\n",
        grouped(tiles),
        bench.lesson.times()
    );
    for (blocks, name) in CASES {
        let mut header = vec!["variant", "KiB in flight"];
        header.extend(emulated.then_some("waiting for memory"));
        header.extend(["time", "of a copy's rate", "speedup"]);
        let mut table = new_table(&header);
        let grid = (blocks * bench.sms) as usize;
        let expected: Vec<f64> =
            (0..grid * THREADS).map(|at| sum(&input, tiles, at / THREADS, grid, at % THREADS)).collect();
        // A sum of so many values of at most 1 is no larger than their number, and each addition errs by half a unit in its last place.
        // The error of a value is that of its last steps, as each step halves what was there: less than one such unit.
        let terms = (tiles.div_ceil(grid) * TILE / THREADS) as f64;
        let tolerance = terms * (terms / 2.0 + 1.0) * f64::from(f32::EPSILON);
        let mut plain = None;
        for (name, kernel, in_flight) in VARIANTS {
            let sums = bench.zeros::<f32>(grid * THREADS)?;
            let launch = Launch {
                kernel,
                blocks: grid as u32,
                threads: THREADS as u32,
                arguments: vec![bench.address(&x), bench.address(&sums), Arg::Int(tiles as i32)],
            };
            let run = bench.run(&launch, Cache::Cold)?;
            compare(&bench.download(&sums)?, expected.iter().copied(), tolerance, &launch)?;

            let plain = *plain.get_or_insert(run.ns);
            let mut row = vec![name.to_owned(), (blocks as usize * in_flight * TILE * 4 / 1024).to_string()];
            if let Some(report) = run.report {
                let account = report.account.unwrap_or_default();
                let waits = account.states.iter().filter(|(state, _)| state.cause() == Cause::Memory);
                row.push(format!("{:.0}%", 100.0 * waits.map(|(_, share)| share).sum::<f64>()));
            }
            // What is read; next to nothing is written.
            let rate = (4 * tiles * TILE) as f64 / (run.ns * 1e-9);
            row.extend([
                duration(run.ns),
                format!("{:.0}%", 100.0 * rate / bench.ceiling),
                format!("{:.2}x", plain / run.ns),
            ]);
            table.add_row(row);
        }
        let warps = blocks as usize * THREADS / 32;
        text += &format!("\n{name}: {warps} on each multiprocessor\n{table}\n");
    }
    Ok(text)
}

/// What a thread of a block adds up: see `work_on` of `prefetch.cu`.
fn sum(input: &[f32], tiles: usize, block: usize, grid: usize, thread: usize) -> f64 {
    let other = THREADS - 1 - thread;
    let packs =
        (block..tiles).step_by(grid).flat_map(|tile| [other, THREADS + other].map(|pack| tile * TILE + 4 * pack));
    let elements = packs.flat_map(|at| input.get(at..at + 4).unwrap_or_default());
    elements.map(|v| f64::from(*v)).map(|v| (0..STEPS).fold(v, |p, _| p * v + 0.5)).sum()
}
