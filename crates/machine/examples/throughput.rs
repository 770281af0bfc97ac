//! How fast the machine executes, and what its checks cost: without any, with each, with all.
//!
//! `add_gelu` reads and writes global memory; `softmax` reduces rows through shuffles and shared memory. Their results are
//! compared with the host's. Arguments: the base-two logarithm of the number of elements; then, for one run only, the kernel
//! and the checks.

use std::time::Instant;

use fusion_machine::{AllocationKind, Checks, Launch, Machine, Options, Profile};

const ADD_GELU: &str = include_str!("../tests/ptx/add_gelu.ptx");
const SOFTMAX: &str = include_str!("../tests/ptx/softmax.ptx");
/// Elements of a row of `softmax`.
const COLUMNS: usize = 1024;
const RUNS: usize = 5;

type Failed = Box<dyn std::error::Error>;

/// The variants by name.
const VARIANTS: [(&str, Checks); 7] = [
    ("none", Checks::NONE),
    ("init", Checks { init: true, ..Checks::NONE }),
    ("arithmetic", Checks { arithmetic: true, ..Checks::NONE }),
    ("performance", Checks { performance: true, ..Checks::NONE }),
    ("races", Checks { races: true, ..Checks::NONE }),
    ("default", Checks { arithmetic: false, ..Checks::ALL }),
    ("all", Checks::ALL),
];
const KERNELS: [(&str, Kernel); 2] = [("add_gelu", add_gelu), ("softmax", softmax)];

fn main() -> Result<(), Failed> {
    let mut args = std::env::args().skip(1);
    let log = args.next().map_or(Ok(22), |n| n.parse::<u32>())?;
    if let (Some(kernel), Some(checks)) = (args.next(), args.next()) {
        return one(log, &kernel, &checks);
    }
    println!("{} elements; million thread-instructions a second, peak memory of the process", 1u64 << log);
    // A process for each, so that its peak memory is its own.
    for (kernel, _) in KERNELS {
        for (checks, _) in VARIANTS {
            let status = std::process::Command::new(std::env::current_exe()?)
                .args([&log.to_string(), kernel, checks])
                .status()?;
            if !status.success() {
                return Err(format!("{kernel} with {checks}: {status}").into());
            }
        }
    }
    Ok(())
}

/// Runs one kernel with one set of checks.
fn one(log: u32, kernel: &str, variant: &str) -> Result<(), Failed> {
    let n = (1usize << log).max(COLUMNS);
    let (_, run) = KERNELS.iter().find(|(name, _)| *name == kernel).ok_or("no such kernel")?;
    let (_, checks) = VARIANTS.iter().find(|(name, _)| *name == variant).ok_or("no such variant")?;
    let machine = Machine::new(Profile::default(), Options { checks: *checks, ..Options::default() });
    let Speed { rate, difference, findings } = run(&machine, n)?;
    println!(
        "{kernel:<9} {variant:<12} {:>6.0} M/s  {:>9}  (difference to the host {difference:e}, {findings} findings)",
        rate / 1e6,
        peak().map_or("?".into(), |kib| format!("{} MiB", kib / 1024)),
    );
    Ok(())
}

type Kernel = fn(&Machine, usize) -> Result<Speed, Failed>;

struct Speed {
    /// Thread-instructions a second, of the quickest run.
    rate: f64,
    /// The largest difference to the host's results.
    difference: f32,
    findings: usize,
}

/// Values that are not too alike.
fn values(n: usize, step: f32) -> Vec<f32> {
    (0..n).map(|i| ((i % 8191) as f32 - 4000.0) * step).collect()
}

fn upload(machine: &Machine, values: &[f32]) -> Result<u64, Failed> {
    let base = machine.memory().alloc(4 * values.len() as u64, AllocationKind::Device)?;
    machine.memory().write(base, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())?;
    Ok(base)
}

/// Launches a kernel whose last two parameters are its output and a number.
fn measure(
    machine: &Machine,
    (ptx, name): (&str, &str),
    launch: &Launch,
    pointers: &[u64],
    number: u32,
    expected: &[f32],
) -> Result<Speed, Failed> {
    let loaded = machine.load(fusion_ptx::parse(ptx).module, ptx)?;
    let kernel = loaded.kernel(name).ok_or("no such kernel")?;
    let mut params: Vec<u8> = pointers.iter().flat_map(|p| p.to_le_bytes()).collect();
    params.extend(number.to_le_bytes());
    let (mut rate, mut findings) = (0.0f64, 0);
    for _ in 0..RUNS {
        let start = Instant::now();
        let report = machine.launch(&loaded, kernel, launch, &params)?;
        rate = rate.max(report.counters.thread_instructions as f64 / start.elapsed().as_secs_f64());
        findings = report.findings.len();
    }
    let mut out = vec![0; 4 * expected.len()];
    machine.memory().read(*pointers.last().ok_or("no output")?, &mut out)?;
    let found = out.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    let difference = found.zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    Ok(Speed { rate, difference, findings })
}

fn add_gelu(machine: &Machine, n: usize) -> Result<Speed, Failed> {
    let (a, b) = (values(n, 0.001), values(n, -0.0003));
    let gelu = |t: f32| 0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh());
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| gelu(a + b)).collect();
    let out = machine.memory().alloc(4 * n as u64, AllocationKind::Device)?;
    let pointers = [upload(machine, &a)?, upload(machine, &b)?, out];
    let launch = Launch {
        grid: [n.div_ceil(256) as u32, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
    };
    measure(machine, (ADD_GELU, "add_gelu"), &launch, &pointers, n as u32, &expected)
}

fn softmax(machine: &Machine, n: usize) -> Result<Speed, Failed> {
    let x = values(n, 0.001);
    let row = |x: &[f32]| {
        let most = x.iter().copied().fold(f32::MIN, f32::max);
        let exponentials: Vec<f32> = x.iter().map(|x| (x - most).exp()).collect();
        let sum: f32 = exponentials.iter().sum();
        exponentials.into_iter().map(move |e| e / sum)
    };
    let expected: Vec<f32> = x.chunks_exact(COLUMNS).flat_map(row).collect();
    let out = machine.memory().alloc(4 * n as u64, AllocationKind::Device)?;
    let launch = Launch {
        grid: [(n / COLUMNS) as u32, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 4 * COLUMNS as u32,
        cooperative: false,
        cluster: None,
    };
    measure(machine, (SOFTMAX, "softmax"), &launch, &[upload(machine, &x)?, out], COLUMNS as u32, &expected)
}

/// The process's peak memory in KiB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}
