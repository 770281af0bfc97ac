//! Copies of boxes by a tensor map, copies that outlive their block, and fences between proxies.

use fusion_machine::report::kind::{Missing, Proxy, Reader, Tensor, Unfinished};
use fusion_machine::report::{Fault, Kind, Related};

use super::Words;
use super::terms::{index, named};
use crate::counted;

pub(super) fn words(kind: &Tensor, fault: &Fault) -> Words {
    match kind {
        Tensor::NoMap => {
            let place = fault.buffer.as_ref().map_or_else(|| "the kernel's parameter".to_owned(), named);
            Words::new(format!("what the copy takes for a tensor map in {place} is none"))
                .note("a tensor map is the 128 bytes that `cuTensorMapEncodeTiled` makes, with none of them changed")
                .help(
                    "pass the map that the driver made, whole: as `const __grid_constant__ CUtensorMap`, or copied to \
                     `__constant__` or global memory",
                )
        }
        Tensor::Elsewhere { local } => {
            let place = if *local { "the thread's local memory" } else { "shared memory" };
            let words = Words::new(format!("the tensor map of this copy lies in {place}"))
                .note("a copy reads its map from a parameter, from constant memory or from global memory");
            match local {
                true => words.help(
                    "declare the parameter `const __grid_constant__`: without that the compiler copies it into local \
                     memory as soon as its address is taken",
                ),
                false => words,
            }
        }
        Tensor::Rank { coordinates, dimensions } => Words::new(format!(
            "a copy by {} from a tensor of {}",
            counted((*coordinates).into(), "coordinate"),
            counted((*dimensions).into(), "dimension")
        ))
        .help("use the instruction for as many dimensions as the map was made with: `.1d` to `.5d`"),
        Tensor::Start { coordinate, element } => {
            let bytes = i64::from(*coordinate) * i64::from(*element);
            let per_chunk = counted((16 / element).into(), "element");
            Words::new(format!("the box begins at byte {bytes} of a row, which is no multiple of 16"))
                .note(format!(
                    "its first coordinate is {coordinate}, and each element has {}",
                    counted((*element).into(), "byte")
                ))
                .help(format!(
                    "let the first coordinate be a multiple of {per_chunk}, and move what lies between two such \
                     places with ordinary loads and stores"
                ))
        }
        Tensor::Below { axis, coordinate } => Words::new(format!(
            "a box goes to a tensor from coordinate {coordinate} on, before the tensor begins"
        ))
        .label(format!("coordinate {} of the box is below 0", axis + 1))
        .note(
            "only copies into shared memory take boxes that begin before the tensor: they fill in zeros. On the \
                     other side, behind the tensor, both directions leave out what lies outside",
        )
        .help("write this part of the tensor with ordinary stores, or by a map whose boxes are smaller"),
        Tensor::NoReduction => Words::new("the tensor's elements have a type that this reduction does not exist for")
            .note(
                "`.inc` and `.dec` are for u32, `.and`, `.or` and `.xor` for integers of 32 and 64 bits, `.min` and \
                 `.max` for these and for f16 and bf16",
            ),
        Tensor::Unsupported(Missing::Interleave) => {
            Words::new("the emulator does not support copies of interleaved tensors")
        }
        Tensor::Unsupported(Missing::Rounding) => {
            Words::new("the emulator does not support copies that flush or round f32 on the way")
                .help("make the map with `CU_TENSOR_MAP_DATA_TYPE_FLOAT32`")
        }
    }
}

pub(super) fn unfinished(kind: &Unfinished, fault: &Fault) -> Words {
    let memory = fault.buffer.as_ref().map_or_else(|| "shared memory".to_owned(), named);
    let (way, then, help) = match kind.into {
        false => (
            "out of",
            "the copy may then read what the next block writes there",
            "let the thread that started the copy wait before it ends: `cp.async.bulk.commit_group`, then \
             `cp.async.bulk.wait_group.read 0`",
        ),
        true => (
            "into",
            "the copy may then write into the memory of the next block",
            "let a thread wait for the mbarrier that the copy completes on, `mbarrier.try_wait` in a loop, before the \
             block ends; or do not start a copy that nobody needs",
        ),
    };
    Words::new(format!("the block ends while a bulk copy {way} {memory} may be under way"))
        .label("the copy starts here, and nobody waits for it")
        .note(format!("a block's shared memory is gone when its last thread ends: {then}"))
        .help(help)
}

pub(super) fn unfenced(kind: &Proxy, fault: &Fault) -> Words {
    let memory = fault.buffer.as_ref().map_or_else(|| "shared memory".to_owned(), named);
    let (reader, all, short) = match kind.reader {
        Reader::Copy => ("a bulk copy", "bulk copies", "copy"),
        Reader::Product => ("`wgmma`", "products of warp groups", "product"),
    };
    let behind = match (kind.reader, kind.same_thread) {
        (Reader::Copy, true) => "put `fence.proxy.async.shared::cta` between the write and the copy".to_owned(),
        _ => format!(
            "let every thread that wrote execute `fence.proxy.async.shared::cta` after its writes; then comes the barrier, \
             then the {short}"
        ),
    };
    Words::new(format!("{reader} reads {memory}, and no proxy fence stands behind the write to it"))
        .label(format!("the {short} reads it here"))
        .note(format!(
            "{all} go through a proxy of their own, the asynchronous one: a barrier orders them behind the write, but \
             does not show them what was written"
        ))
        .help(behind)
}

/// The label of the write.
pub(super) fn wrote(other: &Related, fault: &Fault) -> String {
    match (&fault.kind, other.thread) {
        (Kind::Proxy(proxy), Some(thread)) => format!("thread {} writes it here", index(thread, proxy.block)),
        _ => "written here".to_owned(),
    }
}
