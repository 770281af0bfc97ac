//! How fast the machine executes: `add_gelu` over 2^24 elements, checked against the host.
//!
//! Prints thread-instructions a second, and the time against a plain loop over the same data.

use std::time::Instant;

use fusion_machine::{AllocationKind, Launch, Machine, Options, Profile};

const PTX: &str = include_str!("../tests/ptx/add_gelu.ptx");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = std::env::args().nth(1).map_or(Ok(24), |n| n.parse::<u32>())?;
    let n = 1usize << log;
    let machine = Machine::new(Profile::default(), Options::default());
    let loaded = machine.load(fusion_ptx::parse(PTX).module, PTX)?;
    let kernel = loaded.kernel("add_gelu").ok_or("no kernel add_gelu")?;

    let value = |i: usize, step: f32| ((i % 8191) as f32 - 4000.0) * step;
    let a: Vec<f32> = (0..n).map(|i| value(i, 0.001)).collect();
    let b: Vec<f32> = (0..n).map(|i| value(i, -0.0003)).collect();
    let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let size = 4 * n as u64;
    let memory = machine.memory();
    let buffers = [(); 3].map(|()| memory.alloc(size, AllocationKind::Device));
    let [pa, pb, pout] = [buffers[0]?, buffers[1]?, buffers[2]?];
    memory.write(pa, &bytes(&a))?;
    memory.write(pb, &bytes(&b))?;

    let mut params = Vec::new();
    for pointer in [pa, pb, pout] {
        params.extend(pointer.to_le_bytes());
    }
    params.extend((n as u32).to_le_bytes());
    let launch =
        Launch { grid: [n.div_ceil(256) as u32, 1, 1], block: [256, 1, 1], dynamic_shared: 0, cooperative: false };

    let mut best = f64::INFINITY;
    let mut executed = 0;
    for run in 1..=3 {
        let start = Instant::now();
        let report = machine.launch(&loaded, kernel, &launch, &params)?;
        best = best.min(start.elapsed().as_secs_f64());
        executed = report.counters.thread_instructions;
        println!("run {run}: {:.3} s, {executed} thread-instructions", start.elapsed().as_secs_f64());
    }

    let start = Instant::now();
    let gelu = |t: f32| 0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh());
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| gelu(a + b)).collect();
    let host = start.elapsed().as_secs_f64();

    let mut out = vec![0; 4 * n];
    memory.read(pout, &mut out)?;
    let worst = out
        .chunks_exact(4)
        .map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .zip(&expected)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, f32::max);
    println!("largest difference to the host: {worst:e}");
    println!(
        "{:.0} million thread-instructions a second; {:.1} times the host's {:.3} s",
        executed as f64 / best / 1e6,
        best / host,
        host
    );
    Ok(())
}
