//! What operations cost, apart and fused: bytes, launches, operations, a roofline time, registers.

use std::collections::BTreeSet;

use fusion_machine::Profile;
use fusion_machine::occupancy::{Block, Limits, Occupancy};
use serde::Serialize;

use crate::graph::{Graph, Operation, Tensor};
use crate::operation::Kind;

/// Threads of the block that registers are counted for.
pub(crate) const THREADS: u32 = 256;
/// Registers of a thread that hold a row; what is longer is kept in shared memory.
const ROW_REGISTERS: u64 = 64;

/// Some operations as one kernel each, and as one kernel together.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Cost {
    pub(crate) unfused_bytes: u64,
    pub(crate) fused_bytes: u64,
    pub(crate) unfused_launches: u64,
    pub(crate) fused_launches: u64,
    pub(crate) flops: u64,
    /// Launch overhead and the longer of bytes over bandwidth and operations over throughput: predicted.
    pub(crate) predicted_unfused_ns: f64,
    pub(crate) predicted_fused_ns: f64,
}

impl Cost {
    pub(crate) fn of(graph: &Graph, profile: &Profile, operations: &[usize]) -> Cost {
        let members: Vec<&Operation> = operations.iter().filter_map(|&i| graph.operations.get(i)).collect();
        let unfused_bytes = members.iter().map(|operation| bytes(graph, operation)).sum();
        let (reads, writes) = boundary(graph, operations);
        let fused_bytes = graph.tensors_of(&reads).chain(graph.tensors_of(&writes)).map(Tensor::bytes).sum();
        let arithmetic = |operation: &Operation| operation.flops as f64 / peak(graph, profile, operation);
        let time = |bytes: u64, arithmetic: f64| {
            profile.launch_overhead_ns + 1e9 * arithmetic.max(bytes as f64 / profile.dram_bandwidth)
        };
        Cost {
            unfused_bytes,
            fused_bytes,
            unfused_launches: members.len() as u64,
            fused_launches: 1,
            // Of a single operation they may already be as many as 64 bits hold.
            flops: members.iter().fold(0, |sum, operation| sum.saturating_add(operation.flops)),
            predicted_unfused_ns: members.iter().map(|op| time(bytes(graph, op), arithmetic(op))).sum(),
            predicted_fused_ns: time(fused_bytes, members.iter().map(|op| arithmetic(op)).sum()),
        }
    }

    pub(crate) fn saved_bytes(&self) -> u64 {
        self.unfused_bytes.saturating_sub(self.fused_bytes)
    }

    /// 0 to 1.
    pub(crate) fn saved_share(&self) -> f64 {
        self.saved_bytes() as f64 / self.unfused_bytes.max(1) as f64
    }

    /// The part of the unfused time that the saved launches take, 0 to 1.
    pub(crate) fn launch_share(&self, profile: &Profile) -> f64 {
        let saved = self.unfused_launches.saturating_sub(self.fused_launches) as f64;
        saved * profile.launch_overhead_ns / self.predicted_unfused_ns
    }

    /// By the roofline: what memory and arithmetic allow, and nothing else is in the way.
    pub(crate) fn ideal_speedup(&self) -> f64 {
        self.predicted_unfused_ns / self.predicted_fused_ns
    }
}

/// One launch: every input once, every output once.
pub(crate) fn bytes(graph: &Graph, operation: &Operation) -> u64 {
    let distinct: BTreeSet<usize> = operation.inputs.iter().chain(&operation.outputs).copied().collect();
    distinct.into_iter().filter_map(|i| graph.tensors.get(i)).map(Tensor::bytes).sum()
}

/// Operations a byte.
pub(crate) fn intensity(graph: &Graph, operation: &Operation) -> f64 {
    operation.flops as f64 / bytes(graph, operation).max(1) as f64
}

/// Whether it waits for memory: its intensity is below what the device does while a byte arrives.
pub(crate) fn waits_for_memory(graph: &Graph, profile: &Profile, operation: &Operation) -> bool {
    intensity(graph, operation) < peak(graph, profile, operation) / profile.dram_bandwidth
}

/// Operations a second: of the tensor cores for a matmul or an attention on at most 16 bits, else of the f32 lanes.
fn peak(graph: &Graph, profile: &Profile, operation: &Operation) -> f64 {
    let narrow = graph.tensors_of(&operation.inputs).all(|tensor| tensor.dtype.bytes() <= 2);
    match operation.kind().is_heavy() && narrow {
        true => profile.tensor_flops,
        false => profile.flops(),
    }
}

/// What the fused kernel must read and write: tensors from outside, and those that somebody outside wants.
pub(crate) fn boundary(graph: &Graph, operations: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let inside = |index: &usize| operations.contains(index);
    let members = || operations.iter().filter_map(|&i| graph.operations.get(i));
    let reads: BTreeSet<usize> = members().flat_map(|operation| operation.inputs.iter().copied()).collect();
    let from_outside =
        |i: &usize| graph.tensors.get(*i).is_some_and(|tensor| !tensor.producer.as_ref().is_some_and(inside));
    let wanted = |i: &usize| {
        graph.tensors.get(*i).is_some_and(|tensor| tensor.is_output || tensor.consumers.iter().any(|c| !inside(c)))
    };
    let writes = members().flat_map(|operation| operation.outputs.iter().copied()).filter(wanted).collect();
    (reads.into_iter().filter(from_outside).collect(), writes)
}

/// What a block of the fused kernel needs: an estimate, for a compiler decides in the end.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Needs {
    pub(crate) registers: u32,
    /// Bytes of shared memory.
    pub(crate) shared: u64,
    /// Of the device's warps, 0 to 1; 0 where not even one block fits.
    pub(crate) occupancy: f64,
}

impl Needs {
    /// 12 registers for indices and sizes and 2 for each address; what the greediest operation needs while it runs; and
    /// the data: four elements of each large input, or a thread's part of a row.
    pub(crate) fn of(graph: &Graph, profile: &Profile, operations: &[usize]) -> Needs {
        let members: Vec<&Operation> = operations.iter().filter_map(|&i| graph.operations.get(i)).collect();
        let (reads, writes) = boundary(graph, operations);
        let addresses = 12 + 2 * (reads.len() + writes.len()) as u64;
        let transient = members.iter().map(|operation| u64::from(operation.operator.registers)).max().unwrap_or(0);
        let heavy = members.iter().any(|operation| operation.kind().is_heavy());
        let row = members.iter().filter(|operation| matches!(operation.kind(), Kind::Row | Kind::Reduce));
        let row = row.filter_map(|operation| graph.tensors_of(&operation.inputs).next()).map(Tensor::row).max();
        let is_heavy = |operation: &&Operation| operation.kind().is_heavy();
        let row_after_heavy =
            members.iter().skip_while(|operation| !is_heavy(operation)).any(|operation| operation.kind() == Kind::Row);
        let large = graph.tensors_of(&reads).map(Tensor::elements).max().unwrap_or(0);
        let streams = graph.tensors_of(&reads).filter(|tensor| tensor.elements() == large).count() as u64;
        let mut shared = 0;
        let data = match row {
            // A matmul whose rows are then normalised keeps 128 of them, in f32, until the last column is there.
            Some(row) if heavy => {
                shared = if row_after_heavy { 128 * 4 * row } else { 0 };
                0
            }
            Some(row) if row.div_ceil(u64::from(THREADS)) <= ROW_REGISTERS => row.div_ceil(u64::from(THREADS)),
            Some(row) => {
                shared = 4 * row;
                4
            }
            None => 4 * streams,
        };
        if heavy {
            // Two stages of a tile of each operand.
            shared += 2 * 2 * 128 * 64;
        }
        let registers = u32::try_from(addresses + transient + data).unwrap_or(u32::MAX);
        let block = Block { threads: THREADS, registers, shared: u32::try_from(shared).unwrap_or(u32::MAX) };
        let found: Occupancy = Limits::of(profile).occupancy(&block);
        Needs { registers, shared, occupancy: found.share() }
    }
}
