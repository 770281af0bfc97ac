//! Launches that are refused.

use fusion_machine::report::kind::{Parameters, Refusal};

use super::Words;
use crate::counted;

pub(super) fn words(kind: &Refusal) -> Words {
    match kind {
        Refusal::EmptyGrid { grid } => Words::new(format!("a grid of {grid:?} blocks has no block")).note(
            "When there is nothing to do, return before the launch; otherwise round the number of blocks up: \
             n.div_ceil(256) for blocks of 256 threads.",
        ),
        Refusal::EmptyBlock { block } => Words::new(format!("a block of {block:?} threads has no thread"))
            .note("Every dimension must be 1 at least. When there is nothing to do, return before the launch."),
        Refusal::GridTooLarge { grid, most } => {
            Words::new(format!("a grid of {grid:?} blocks is too large: the device allows {most:?}"))
                .note(
                    "The grid counts blocks, not threads: n elements take n.div_ceil(256) blocks of 256 threads. Where that is still \
                     too many, let every thread do more than one element.",
                )
        }
        Refusal::TooManyThreads { threads, most } => {
            Words::new(format!("a block of {threads} threads is too large: the device allows {most}"))
                .note("Launch more blocks of fewer threads.")
        }
        Refusal::BlockTooLarge { block, most } => {
            Words::new(format!("a block of {block:?} threads is too large: the device allows {most:?}"))
        }
        Refusal::OtherBlock { block, required } => {
            Words::new(format!("the kernel must be launched with blocks of {required:?} threads, not {block:?}"))
                .note("It was compiled with .reqntid.")
        }
        Refusal::TooManyForKernel { threads, most, compiled_for, registers } => {
            let title = format!("a block of {threads} threads needs more than there is: this kernel allows {most}");
            Words::new(title).note(match registers {
                Some(registers) if most < compiled_for => format!(
                    "It uses {registers} registers per thread, and a block has 65536. Launch smaller blocks, or let the compiler use \
                     fewer: `__launch_bounds__({threads})`."
                ),
                _ => format!("It was compiled for blocks of up to {compiled_for} threads (__launch_bounds__)."),
            })
        }
        Refusal::Local { bytes, most } => {
            Words::new(format!("the kernel's arrays take {bytes} bytes per thread: the device allows {most}"))
                .note("Put them in global memory.")
        }
        Refusal::Shared { dynamic, most, fixed, room, optin } => {
            let title = format!("{dynamic} bytes of dynamic shared memory are too many: this kernel may have {most}");
            // Less than is there for the asking: it was set.
            Words::new(title).note(match *most < room.saturating_sub(*fixed) {
                true => format!(
                    "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES was set to {most} for this kernel: it counts bytes, and must be at least \
                     what the launch asks for."
                ),
                false => format!(
                    "A block has up to {room} bytes, static and dynamic ({fixed} are static here), or up to {optin} once \
                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is set for the kernel."
                ),
            })
        }
        Refusal::Parameters { problem, expected } => Words::new(parameters(problem)).note(format!(
            "The kernel takes {}. Does the launch pass as many, in the same order?",
            counted(*expected, "parameter")
        )),
        Refusal::TooManyBlocks { blocks, resident } => {
            let title =
                format!("{blocks} blocks are too many for a cooperative launch: {resident} fit on the device at once");
            Words::new(title).note(
                "The blocks of a cooperative launch wait for one another, so that all must run at once. Let every block do more \
                 than one piece of work, and ask cuOccupancyMaxActiveBlocksPerMultiprocessor how many fit.",
            )
        }
        Refusal::TooManyForHost { blocks, resident } => Words::new(format!(
            "{blocks} blocks are too many for a cooperative launch"
        ))
        .note(format!("{resident} of them can be there at once, and all of them must be: they wait for one another")),
        Refusal::ClusterGrid { cluster, grid } => {
            Words::new(format!("a grid of {grid:?} blocks cannot be divided into clusters of {cluster:?}"))
                .note("Each dimension of the grid must be a multiple of the cluster's: round the number of blocks up to it.")
        }
        Refusal::ClusterTooLarge { cluster, most, device } => {
            let title = format!("a cluster of {cluster:?} blocks is too large: this kernel may have {most}");
            Words::new(title).maybe((device > most).then(|| {
                format!(
                    "The device has room for {device} once CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED is set for the kernel. \
                     8 are what every device with clusters has room for."
                )
            }))
        }
        Refusal::OtherCluster { cluster, required } => {
            Words::new(format!("the kernel must be launched with clusters of {required:?} blocks, not {cluster:?}"))
                .note("It was compiled with `__cluster_dims__`.")
        }
        Refusal::NoCluster => Words::new("the kernel must be launched with clusters, and the launch names no size")
            .note("Pass CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION to cuLaunchKernelEx, or give the kernel its size: `__cluster_dims__(2)`."),
        Refusal::NoClusters { cluster } => {
            Words::new(format!("clusters of {cluster:?} blocks on a device that has no clusters"))
                .note("Clusters begin with compute capability 9.0. Emulate another GPU, or launch without clusters.")
        }
        Refusal::NoKernel => Words::new("this module has no such kernel"),
        Refusal::NoHeap { requested, free } => Words::new("no memory for the device heap")
            .note(format!("out of device memory: {requested} bytes requested, {free} free")),
        Refusal::NoBarrier { requested, free } => Words::new("no memory for the grid's barrier")
            .note(format!("out of device memory: {requested} bytes requested, {free} free")),
    }
}

fn parameters(problem: &Parameters) -> String {
    match problem {
        Parameters::Missing => "the launch passes no parameters".into(),
        Parameters::Short { bytes, expected } => {
            format!("the packed parameters have {}, and the kernel's {expected}", counted(*bytes, "byte"))
        }
        Parameters::UnreadableBuffer => "the packed parameters cannot be read".into(),
        Parameters::UnreadablePointers => "the array of pointers to the parameters cannot be read".into(),
        // What lies behind a pointer too few is null, or whatever else was there.
        Parameters::Pointer { index, name, bytes, .. } => {
            let name = name.as_ref().map_or(String::new(), |name| format!("`{name}`, "));
            format!("{} ({name}{}) was not passed", parameter(*index), counted((*bytes).into(), "byte"))
        }
    }
}

/// `the first parameter` for 0.
fn parameter(index: u32) -> String {
    const WORDS: [&str; 8] = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
    let word = WORDS.get(index as usize);
    word.map_or_else(|| format!("parameter number {}", u64::from(index) + 1), |word| format!("the {word} parameter"))
}
