//! How long one step of a chain takes in each memory.

use fusion_lesson::{LessonError, grouped, new_table};

use crate::bench::{Arg, Bench, Cache, Launch, expect};

/// Steps of the shorter of two chains of loads; the other has twice as many.
const LOADS: usize = 1024;
/// The same for additions, which are so short that a GPU's clock would not tell them from the launch.
const ADDITIONS: usize = 1 << 15;

/// 37 rows of 128 words and a line: odd but for the 32 words of a line.
const STRIDE: usize = 1037 * 32;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A chain of loads from global memory: which memory answers, what must be true for it, and over how many bytes it goes.
const GLOBAL: [(&str, &str, usize, Cache); 3] = [
    ("L1", "each line was loaded before", 16 * KIB, Cache::Warm),
    ("L2", "new lines, which L2 has", 16 * MIB, Cache::Warm),
    ("DRAM", "new lines, and L2 is empty", 64 * MIB, Cache::Cold),
];

pub(crate) fn show(bench: &mut Bench) -> Result<String, LessonError> {
    let mut rows = vec![
        ("registers", "a multiply-add", registers(bench)?),
        ("shared memory", "a load, a bank per lane", shared(bench)?),
    ];
    for (name, how, bytes, cache) in GLOBAL {
        rows.push((name, how, global(bench, bytes, cache)?));
    }
    let first = rows.first().map_or(f64::NAN, |row| row.2);
    let mut table = new_table(&["memory", "each step", "ns", "clocks", "÷ registers"]);
    for (name, how, ns) in rows {
        table.add_row([
            name.to_owned(),
            how.to_owned(),
            format!("{ns:.1}"),
            format!("{:.0}", ns * bench.ghz),
            format!("{:.0}x", ns / first),
        ]);
    }
    Ok(format!(
        "\n1. The latency ladder: chains in which each step needs the step before, times {}\n\n\
         A step is a load and the computation of its address. For registers, a step is a multiply-add.\n\
         Two chains are timed, the second twice as long. The difference of the two times is the time\n\
         of {} steps (for registers {} steps): the cost of a launch cancels.\n\
         The clocks are computed for {:.2} GHz.\n\n{table}\n",
        bench.lesson.times(),
        grouped(LOADS),
        grouped(ADDITIONS),
        bench.ghz
    ))
}

/// Nanoseconds of one step. `launch` makes a chain of so many.
fn step(bench: &mut Bench, steps: usize, cache: Cache, launch: impl Fn(usize) -> Launch) -> Result<f64, LessonError> {
    let short = bench.run(&launch(steps), cache)?.ns;
    let long = bench.run(&launch(2 * steps), cache)?.ns;
    Ok((long - short) / steps as f64)
}

fn registers(bench: &mut Bench) -> Result<f64, LessonError> {
    let last = bench.zeros::<f32>(1)?;
    let address = bench.address(&last);
    let launch = |steps: usize| Launch {
        kernel: "chain_registers",
        blocks: 1,
        threads: 1,
        arguments: vec![address, Arg::Float(0.5), Arg::Float(1.0), Arg::Int(steps as i32)],
    };
    let ns = step(bench, ADDITIONS, Cache::Warm, launch)?;
    // v / 2 + 1 goes to 2, and stays there.
    expect(bench.download(&last)? == [2.0], &launch(0))?;
    Ok(ns)
}

fn shared(bench: &mut Bench) -> Result<f64, LessonError> {
    let last = bench.zeros::<i32>(1)?;
    let address = bench.address(&last);
    let launch = |steps: usize| Launch {
        kernel: "chase_shared",
        blocks: 1,
        threads: 32,
        arguments: vec![address, Arg::Int(steps as i32)],
    };
    let ns = step(bench, LOADS, Cache::Warm, launch)?;
    expect(bench.download(&last)? == [(2 * LOADS * 32 % 1024) as i32], &launch(0))?;
    Ok(ns)
}

fn global(bench: &mut Bench, bytes: usize, cache: Cache) -> Result<f64, LessonError> {
    let words = bytes / size_of::<i32>();
    let (chain, last) = (bench.zeros::<i32>(words)?, bench.zeros::<i32>(1)?);
    // A chain that is shorter than its steps is closed: its last link leads to the first.
    let links = (words / 32).min(2 * LOADS);
    let (from, to) = (bench.address(&chain), bench.address(&last));
    let numbers = [STRIDE % words, words - 1, links].map(|number| Arg::Int(number as i32));
    bench.launch(&Launch {
        kernel: "link",
        blocks: links.div_ceil(256) as u32,
        threads: 256,
        arguments: [&[from], &numbers[..]].concat(),
    })?;
    let launch = |steps: usize| Launch {
        kernel: "chase_global",
        blocks: 1,
        threads: 1,
        arguments: vec![from, to, Arg::Int(steps as i32)],
    };
    let ns = step(bench, LOADS, cache, launch)?;
    expect(bench.download(&last)? == [(2 * LOADS * STRIDE % words) as i32], &launch(0))?;
    Ok(ns)
}
