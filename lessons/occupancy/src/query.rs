//! One kernel's occupancy, with each resource's part in it.

use std::fmt::Write as _;

use fusion_lesson::{grouped, new_table};
use fusion_machine::Profile;
use fusion_machine::occupancy::{Block, Limiter, Limits, Occupancy};

use crate::gpu::Gpu;

/// Everything about one block; `bytes` is what each of its threads waits for at once.
pub(crate) fn answer(gpu: &Gpu, block: &Block, bytes: u32) -> String {
    let (major, minor) = gpu.compute;
    let found = gpu.limits.occupancy(block);
    let mut text = format!(
        "{}, compute capability {major}.{minor}: blocks of {} threads, {} registers per thread, {} bytes of shared memory\n\n",
        gpu.name,
        block.threads,
        block.registers,
        grouped(block.shared as usize)
    );
    text += &resources(gpu, block, &found);
    let _ = writeln!(
        text,
        "\nBlocks at a time on an SM: {}; warps: {} of {}; occupancy {:.0}%. Limited by {}.",
        found.blocks,
        found.warps,
        found.max_warps,
        100.0 * found.share(),
        names(&found)
    );
    text += &one_more(&gpu.limits, block, &found);
    let _ = writeln!(
        text,
        "\nIn flight: {} threads x {bytes} bytes = {:.1} KiB per SM{}",
        found.warps * Profile::WARP_SIZE,
        found.bytes_in_flight(bytes) as f64 / 1024.0,
        match gpu.bytes_needed() {
            Some(needed) =>
                format!(", {:.0}% of what is needed.", 100.0 * found.bytes_in_flight(bytes) as f64 / needed),
            None => ".".to_owned(),
        }
    );
    text + &gpu.source_of_need()
}

/// `registers and shared memory`.
fn names(found: &Occupancy) -> String {
    found.limiters().map(|limiter| limiter.to_string()).collect::<Vec<_>>().join(" and ")
}

fn resources(gpu: &Gpu, block: &Block, found: &Occupancy) -> String {
    let Limits { threads, blocks, registers, shared, .. } = gpu.limits;
    let warps = block.threads.div_ceil(Profile::WARP_SIZE);
    let mut table = new_table(&["resource", "a block takes", "an SM has", "blocks"]);
    for (limiter, room) in found.room {
        let (takes, has) = match limiter {
            Limiter::Threads => (format!("{warps} warps"), format!("{}", threads / Profile::WARP_SIZE)),
            Limiter::Registers => (grouped(found.registers_taken as usize), grouped(registers as usize)),
            Limiter::SharedMemory => (format!("{} B", grouped(found.shared_taken as usize)), grouped(shared as usize)),
            Limiter::Blocks => ("1".to_owned(), blocks.to_string()),
        };
        let room = if room == u32::MAX { "any".to_owned() } else { room.to_string() };
        table.add_row([limiter.to_string(), takes, has, room]);
    }
    format!("{table}\n")
}

/// What each limiter would have to become for one more block.
fn one_more(limits: &Limits, block: &Block, found: &Occupancy) -> String {
    let wanted = found.blocks + 1;
    let room = |block: &Block, limiter| {
        limits.occupancy(block).room.iter().any(|(other, room)| *other == limiter && *room >= wanted)
    };
    let advice = found.limiters().map(|limiter| match limiter {
        Limiter::Threads => {
            let most = (1..block.threads).rev().find(|&threads| room(&Block { threads, ..*block }, limiter));
            most.map(|threads| format!("blocks have at most {threads} threads"))
        }
        Limiter::Registers => {
            let most = (1..block.registers).rev().find(|&registers| room(&Block { registers, ..*block }, limiter));
            most.map(|registers| format!("each thread has at most {registers} registers"))
        }
        Limiter::SharedMemory => {
            let shared = limits.shared_for(wanted);
            room(&Block { shared, ..*block }, limiter)
                .then(|| format!("each block has at most {} bytes of shared memory", grouped(shared as usize)))
        }
        Limiter::Blocks => None,
    });
    match advice.collect::<Option<Vec<_>>>() {
        Some(advice) => format!("One more block fits if {}.\n", advice.join(" and ")),
        None => "One more block does not fit, whatever it asks for: use larger blocks.\n".to_owned(),
    }
}
