//! What bank conflicts cost.

use fusion_lesson::{LessonError, new_table};

use crate::bench::{Arg, Bench, Cache, Launch, expect};

const BANKS: usize = 32;
/// Of the one block: enough warps to keep shared memory at work.
const THREADS: usize = 512;
/// How often the tile is read in the shorter of two launches; the other reads it twice as often.
const ROUNDS: usize = 32;
/// What the banks deliver in a clock, in bytes.
const BYTES: f64 = 128.0;

/// Where the element that a lane wants at step k lies in shared memory.
type Place = fn(usize, usize) -> usize;

const VARIANTS: [(&str, &str, Place); 5] = [
    ("stride 1", "stride_1", |lane, k| lane + k),
    ("stride 2", "stride_2", |lane, k| 2 * lane + k),
    ("stride 32: a column", "stride_32", |lane, k| 32 * lane + k),
    ("stride 33: padded", "padded_33", |lane, k| 33 * lane + k),
    ("swizzled", "swizzled", |lane, k| 32 * lane + (k ^ lane)),
];

/// Passes through the banks for one load of a warp: as many as the busiest bank has different words to deliver.
fn passes(place: Place, k: usize) -> usize {
    let words: Vec<usize> = (0..32).map(|lane| place(lane, k)).collect();
    let of_bank = |bank| words.iter().filter(|word| **word % BANKS == bank).count();
    (0..BANKS).map(of_bank).max().unwrap_or(0)
}

pub(crate) fn show(bench: &mut Bench) -> Result<String, LessonError> {
    let emulated = bench.lesson.device.is_emulated();
    let mut header = vec!["access", "passes, computed"];
    header.extend(emulated.then_some("counted"));
    header.extend(["clocks", "bytes per clock", "of the banks"]);
    let mut table = new_table(&header);
    let sums = bench.zeros::<f32>(THREADS)?;
    let address = bench.address(&sums);
    for (name, kernel, place) in VARIANTS {
        let launch = |rounds: usize| Launch {
            kernel,
            blocks: 1,
            threads: THREADS as u32,
            arguments: vec![address, Arg::Int(rounds as i32)],
        };
        let short = bench.run(&launch(ROUNDS), Cache::Warm)?.ns;
        let long = bench.run(&launch(2 * ROUNDS), Cache::Warm)?;
        let expected: Vec<f32> = (0..THREADS)
            .map(|thread| {
                let row = (0..32).map(|k| (place(thread % 32, k) % 64) as f32).sum::<f32>();
                (2 * ROUNDS) as f32 * row
            })
            .collect();
        expect(bench.download(&sums)? == expected, &launch(0))?;

        let requests = (ROUNDS * 32 * THREADS / 32) as f64;
        let clocks = (long.ns - short) * bench.ghz / requests;
        let rate = 32.0 * size_of::<f32>() as f64 / clocks;
        let by_arithmetic = (0..32).map(|k| passes(place, k)).max().unwrap_or(0);
        let mut row = vec![name.to_owned(), by_arithmetic.to_string()];
        row.extend(long.report.map(|report| {
            let loads = report.counters.shared_load;
            format!("{:.2}", loads.sectors as f64 / loads.requests.max(1) as f64)
        }));
        row.extend([format!("{clocks:.2}"), format!("{rate:.0}"), format!("{:.0}%", 100.0 * rate / BYTES)]);
        table.add_row(row);
    }
    Ok(format!(
        "\n2. Banks: a block of {THREADS} threads reads a tile of shared memory, times {}\n\n\
         Passes and clocks are those of one load of a warp. The banks deliver at most {BYTES:.0} bytes per clock.\n\n{table}\n",
        bench.lesson.times()
    ))
}
