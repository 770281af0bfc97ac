//! What each check costs, on one core: the processor's time of each kernel with no checks, and how many times that with each and all.
//!
//! The kernels are those whose accesses differ most: rows of global memory, and tiles of shared memory that are read in rows, in
//! columns and all over. Arguments: the names of kernels, for those alone.

use std::time::Instant;

use fusion_machine::{AllocationKind, Checks, Launch, Machine, Options, Profile, Severity};

const ADD_GELU: &str = include_str!("../tests/ptx/add_gelu.ptx");
const SOFTMAX: &str = include_str!("../tests/ptx/softmax.ptx");
const TILES: &str = include_str!("../tests/ptx/tiles.ptx");

/// The variants by name, the one without checks first.
const MODES: [(&str, Checks); 7] = [
    ("none", Checks::NONE),
    ("init", Checks { init: true, ..Checks::NONE }),
    ("races", Checks { races: true, ..Checks::NONE }),
    ("arithmetic", Checks { arithmetic: true, ..Checks::NONE }),
    ("performance", Checks { performance: true, ..Checks::NONE }),
    ("default", Checks { arithmetic: false, ..Checks::ALL }),
    ("all", Checks::ALL),
];
const RUNS: usize = 5;

/// A kernel whose parameters are some buffers and a number.
struct Case {
    name: &'static str,
    ptx: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    /// The buffers and the elements of each.
    buffers: usize,
    elements: usize,
    number: u32,
}

impl Case {
    const fn new(name: &'static str, ptx: &'static str, grid: [u32; 2], block: [u32; 2]) -> Self {
        let (grid, block) = ([grid[0], grid[1], 1], [block[0], block[1], 1]);
        Self { name, ptx, grid, block, dynamic_shared: 0, buffers: 0, elements: 0, number: 0 }
    }

    const fn on(self, buffers: usize, elements: usize, number: u32) -> Self {
        Self { buffers, elements, number, ..self }
    }
}

const CASES: [Case; 10] = [
    Case::new("add_gelu", ADD_GELU, [4096, 1], [256, 1]).on(3, 1 << 20, 1 << 20),
    Case { dynamic_shared: 4096, ..Case::new("softmax", SOFTMAX, [512, 1], [256, 1]).on(2, 1 << 19, 1024) },
    Case::new("matmul", TILES, [6, 6], [32, 8]).on(3, 192 * 192, 192),
    Case::new("matmul_blocked", TILES, [3, 3], [256, 1]).on(3, 192 * 192, 192),
    Case::new("attention", TILES, [3, 1], [32, 8]).on(4, 192 * 64, 192),
    Case::new("attention_rows", TILES, [6, 1], [64, 1]).on(4, 384 * 32, 384),
    Case::new("transpose", TILES, [24, 24], [32, 8]).on(2, 768 * 768, 768),
    Case::new("transpose_padded", TILES, [24, 24], [32, 8]).on(2, 768 * 768, 768),
    Case::new("transpose_plain", TILES, [24, 24], [32, 8]).on(2, 768 * 768, 768),
    Case::new("histogram", TILES, [8, 1], [256, 1]).on(2, 1 << 16, 1 << 16),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    print!("{:18}{:>10}", "kernel", "none");
    for (name, _) in &MODES[1..] {
        print!("{name:>12}");
    }
    println!();
    for case in CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|name| name == case.name)) {
        let mut best = [f64::INFINITY; MODES.len()];
        // In turns, so that whatever else the machine does falls on all of them alike.
        for _ in 0..RUNS {
            for ((_, checks), best) in MODES.iter().zip(&mut best) {
                *best = best.min(run(case, *checks)?);
            }
        }
        print!("{:18}{:>7.1} ms", case.name, 1e3 * best[0]);
        for time in &best[1..] {
            print!("{:>11.2}x", time / best[0]);
        }
        println!();
    }
    Ok(())
}

/// Seconds that a launch takes.
fn run(case: &Case, checks: Checks) -> Result<f64, Box<dyn std::error::Error>> {
    let machine = Machine::new(Profile::default(), Options { checks, workers: 1, ..Options::default() });
    let loaded = machine.load(fusion_ptx::parse(case.ptx).module, case.ptx)?;
    let kernel = loaded.kernel(case.name).ok_or("no such kernel")?;
    let mut params = Vec::new();
    // Values that are not too alike.
    let values: Vec<u8> = (0..case.elements).flat_map(|i| ((i % 8191) as f32 * 1e-3 - 4.0).to_le_bytes()).collect();
    for _ in 0..case.buffers {
        let buffer = machine.memory().alloc(4 * case.elements as u64, AllocationKind::Device)?;
        machine.memory().write(buffer, &values)?;
        params.extend(buffer.to_le_bytes());
    }
    params.extend(case.number.to_le_bytes());
    let launch = Launch {
        grid: case.grid,
        block: case.block,
        dynamic_shared: case.dynamic_shared,
        cooperative: false,
        cluster: None,
    };
    let start = (Instant::now(), busy());
    let report = machine.launch(&loaded, kernel, &launch, &params)?;
    let time = match (start.1, busy()) {
        (Some(before), Some(after)) => after - before,
        _ => start.0.elapsed().as_secs_f64(),
    };
    match report.findings.into_iter().find(|fault| fault.severity() == Severity::Error) {
        Some(fault) => Err(format!("{}: {}", case.name, fusion_diagnostic::say(&fault)).into()),
        None => Ok(time),
    }
}

/// Seconds that this thread has run, where the system tells: others on the same machine do not count.
fn busy() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}
