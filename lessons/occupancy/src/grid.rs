//! Occupancy over block sizes and registers.

use fusion_lesson::new_table;
use fusion_machine::occupancy::{Block, Limiter, Occupancy};

use crate::gpu::Gpu;

const THREADS: [u32; 9] = [32, 64, 96, 128, 192, 256, 512, 768, 1024];
const REGISTERS: [u32; 9] = [24, 32, 40, 48, 64, 80, 96, 128, 255];

/// One row a block size, one column a number of registers; `shared` bytes of shared memory a block.
pub(crate) fn table(gpu: &Gpu, shared: u32) -> String {
    let header: Vec<String> = REGISTERS.iter().map(|registers| format!("{registers} regs")).collect();
    let header: Vec<&str> = ["block"].into_iter().chain(header.iter().map(String::as_str)).collect();
    let mut table = new_table(&header);
    for threads in THREADS {
        let cells = REGISTERS.map(|registers| cell(&gpu.limits.occupancy(&Block { threads, registers, shared })));
        table.add_row([threads.to_string()].into_iter().chain(cells));
    }
    let (major, minor) = gpu.compute;
    format!(
        "Occupancy on {} (compute capability {major}.{minor}), {shared} bytes of shared memory per block.\n\
         The letters say what limits the number of blocks: T threads, R registers, S shared memory, B blocks.\n{table}\n",
        gpu.name
    )
}

/// `75% R`, or a dash when no block fits.
fn cell(found: &Occupancy) -> String {
    match found.blocks {
        0 => format!("- {}", letters(found)),
        _ => format!("{:.0}% {}", 100.0 * found.share(), letters(found)),
    }
}

/// A letter for each limiter.
pub(crate) fn letters(found: &Occupancy) -> String {
    found
        .limiters()
        .map(|limiter| match limiter {
            Limiter::Threads => 'T',
            Limiter::Registers => 'R',
            Limiter::SharedMemory => 'S',
            Limiter::Blocks => 'B',
        })
        .collect()
}
