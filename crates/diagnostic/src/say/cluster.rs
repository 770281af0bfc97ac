//! Blocks of one cluster that reach for each other's shared memory, and their barrier.

use fusion_machine::report::Fault;
use fusion_machine::report::kind::{Access, Cluster};

use super::Words;
use super::terms::verb;
use crate::counted;

/// What keeps a block there while others need it.
const LAST_SYNC: &str = "let all blocks wait for each other before they end: `cluster.sync()` (`barrier.cluster.arrive` and `.wait`) behind \
                         the last access to another block's shared memory";

pub(super) fn words(kind: &Cluster, fault: &Fault) -> Words {
    match kind {
        Cluster::NoSuchRank { rank, blocks, access } => {
            let cluster = match blocks {
                1 => "the launch has no clusters: each block is alone, with rank 0".to_owned(),
                n => format!("a cluster of this launch has {n} blocks, with ranks 0 to {}", n - 1),
            };
            let words = Words::new(format!("{} in the shared memory of rank {rank}, and there is no such block", verb(access.write)))
                .label(of_size(access))
                .note(cluster);
            match blocks {
                1 => words.help(
                    "launch the kernel with clusters: `__cluster_dims__(x)` at the kernel, or \
                     CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION at the launch",
                ),
                _ => words.help("compare the rank with `cluster.num_blocks()` (`%cluster_nctarank`) before it is used"),
            }
        }
        Cluster::NotOwn { rank, own, access } => {
            let form = if access.write { "st.shared" } else { "ld.shared" };
            Words::new(format!("{} by `.shared` in the shared memory of another block", verb(access.write)))
                .label(format!("{} in the block of rank {rank}", of_size(access)))
                .note(format!("this block has rank {own}, and an instruction with `.shared` (`.shared::cta`) reaches its own shared memory only"))
                .note("bits 24 and above of a shared address are the rank of its block: without them it is one of rank 0")
                .help(format!("use `{form}::cluster` for another block's memory; for the own one keep the whole address that \
                               `__cvta_generic_to_shared` gives"))
        }
        Cluster::Outside { rank, access, size } => {
            Words::new(format!("{} outside of the shared memory of the block of rank {rank}", verb(access.write)))
                .label(format!("{} at offset {}", of_size(access), access.address))
                .note(format!("each block has {} of shared memory", counted(*size, "byte")))
                .help("compare the index with the length of the array: it is as long in the other block as in this one")
        }
        Cluster::Exited { rank, block, access } => {
            Words::new(format!("{} in the shared memory of a block that has exited", verb(access.write)))
                .label(format!("{} in block {block} of the grid, rank {rank} of the cluster", of_size(access)))
                .note("a block's shared memory is gone when its last thread ends: another block may have it by then")
                .help(LAST_SYNC)
        }
        Cluster::MayHaveExited { rank, block, access } => {
            Words::new(format!("{} in the shared memory of a block that may have exited by then", verb(access.write)))
                .label(format!("{} in block {block} of the grid, rank {rank} of the cluster", of_size(access)))
                .note(format!("nothing lets block {block} wait for this access before it ends"))
                .note("here the access came first; on a GPU it may come when that memory is gone")
                .help(LAST_SYNC)
        }
        Cluster::ArrivesTwice => Words::new("a thread arrives at the barrier of the cluster twice in a row")
            .label(format!("{} here once more", arrives(fault.lanes, "arrives", "arrive")))
            .note("each arrival (`barrier.cluster.arrive`) is followed by a wait (`barrier.cluster.wait`) of the same thread")
            .help("wait before the next arrival, or use `cluster.sync()`, which does both"),
        Cluster::WaitsFirst => Words::new("a thread waits at the barrier of the cluster without having arrived")
            .label(format!("{} here", arrives(fault.lanes, "waits", "wait")))
            .note("`barrier.cluster.wait` waits for the threads that have arrived with `barrier.cluster.arrive`, the waiting one too")
            .help("let each thread arrive before it waits, or use `cluster.sync()`, which does both"),
    }
}

fn arrives(threads: u32, one: &str, more: &str) -> String {
    let verb = if threads == 1 { one } else { more };
    format!("{} of the warp {verb}", counted(threads.into(), "thread"))
}

fn of_size(access: &Access) -> String {
    format!("{} of {}", verb(access.write), counted(access.bytes, "byte"))
}
