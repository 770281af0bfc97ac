//! What each check costs: thread-instructions a second for `add_gelu`, on one core, with no checks, each and all.

use std::time::Instant;

use fusion_machine::{AllocationKind, Checks, Launch, Machine, Options, Profile};

const PTX: &str = include_str!("../tests/ptx/add_gelu.ptx");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = std::env::args().nth(1).map_or(Ok(20), |n| n.parse::<u32>())?;
    let n = 1usize << log;
    let none = Checks::NONE;
    let modes = [
        ("none", none),
        ("init", Checks { init: true, ..none }),
        ("races", Checks { races: true, ..none }),
        ("arithmetic", Checks { arithmetic: true, ..none }),
        ("performance", Checks { performance: true, ..none }),
        ("default", Checks::default()),
        ("all", Checks::ALL),
    ];
    let mut best = [f64::INFINITY; 7];
    let mut executed = 0;
    // In turns, so that whatever else the machine does falls on all of them alike.
    for _ in 0..9 {
        for ((_, checks), best) in modes.iter().zip(&mut best) {
            let machine =
                Machine::new(Profile::default(), Options { checks: *checks, workers: 1, ..Options::default() });
            let loaded = machine.load(fusion_ptx::parse(PTX).module, PTX)?;
            let kernel = loaded.kernel("add_gelu").ok_or("no kernel add_gelu")?;
            let mut params = Vec::new();
            for _ in 0..3 {
                let buffer = machine.memory().alloc(4 * n as u64, AllocationKind::Device)?;
                machine.memory().fill(buffer, &[0], 4 * n as u64)?;
                params.extend(buffer.to_le_bytes());
            }
            params.extend((n as u32).to_le_bytes());
            let launch = Launch {
                grid: [n.div_ceil(256) as u32, 1, 1],
                block: [256, 1, 1],
                dynamic_shared: 0,
                cooperative: false,
            };
            let start = Instant::now();
            let report = machine.launch(&loaded, kernel, &launch, &params)?;
            *best = best.min(start.elapsed().as_secs_f64());
            executed = report.counters.thread_instructions;
        }
    }
    for ((name, _), time) in modes.iter().zip(best) {
        println!("{name:12} {:6.0} million a second, {:.2} of unchecked", executed as f64 / time / 1e6, best[0] / time);
    }
    Ok(())
}
