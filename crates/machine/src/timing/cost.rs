//! What instructions cost: the unit that executes them, for how long it is taken, and when the result is there.
//!
//! Costs go by the text of the PTX. An instruction of PTX is none of the machine's: `cvta` is nothing, an addition of 64 bits is two, a
//! division is a dozen. They are those of compute capability 9.0 (*CUDA C++ Programming Guide*, "Arithmetic Instructions"; what expands was
//! timed: `crates/timings/kernels/calibration/arithmetic.cu`), and go by the units of a profile.

mod tensor;

use crate::profile::Units;

/// Clocks until the shared memory of another block of the cluster answers: 201 measured on an H200. Luo et al. found 180
/// ("Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024).
pub(crate) const CLUSTER_LATENCY: f64 = 200.0;

/// Clocks that one pass takes on the way to the other blocks' shared memory, where the own banks take one: between 4.5,
/// where all lanes read one word, and 7.5, where they read 16 bytes each. An H200's, timed with 1 to 32 warps in each of
/// eight blocks.
pub(crate) const CLUSTER_PASS: f64 = 6.0;

/// Clocks from the last arrival at a cluster's barrier until warps go on, beyond those of a block's barrier: 62 to 88 on
/// an H200.
pub(crate) const CLUSTER_BARRIER: f64 = 75.0;

/// Clocks that a fence takes on its way to L2 and back, once L2 has all that was written before, and clocks between two of
/// them. An H200's barriers of clusters, released and relaxed: 263 more for one warp, 532 more for 32.
pub(crate) const FENCE: f64 = 263.0;
pub(crate) const FENCES_APART: f64 = 8.7;

/// Clocks between two clusters that begin, on the whole device: an H200 takes 35.9 us for 16,384 of two blocks, and
/// 84.9 us for 32,768 of one.
pub(crate) const CLUSTERS_APART: f64 = 4.5;

/// Clocks that a fence takes which no other SM need know of: for the block, or between a block's own accesses and its
/// bulk copies. And clocks for which it has the unit for loads and stores. From here on down, what an H200 needed for
/// the loops of `crates/timings/kernels/calibration/mbarriers.cu`.
pub(crate) const NEAR_FENCE: f64 = 9.0;
pub(crate) const NEAR_FENCE_PASS: f64 = 3.3;

/// Clocks for which the unit for loads and stores is taken by a warp's arrival at an mbarrier, and by its question
/// whether a phase has ended.
pub(crate) const MBARRIER_PASS: f64 = 2.0;
pub(crate) const MBARRIER_WAIT_PASS: f64 = 4.0;

/// Clocks from the question to the answer, where a phase has ended; from an arrival until it counts; from the last one
/// until the first of those goes on that wait; and from one of those to the next.
pub(crate) const MBARRIER_WAIT: f64 = 28.0;
pub(crate) const MBARRIER_ARRIVE: f64 = 10.0;
pub(crate) const MBARRIER_WAKE: f64 = 18.0;
pub(crate) const MBARRIER_WAKES_APART: f64 = 1.5;

/// Clocks after which a thread goes on that has begun a bulk copy to shared memory, and one out of it.
pub(crate) const BULK_LOAD_ISSUE: f64 = 45.0;
pub(crate) const BULK_STORE_ISSUE: f64 = 12.0;

/// Clocks that L2's answer to a bulk copy takes longer than that to a load.
pub(crate) const BULK_LATENCY: f64 = 68.0;

/// Clocks that the engine of bulk copies takes for what it brings of one line, and bytes per clock that an SM gets of
/// L2 that way: 256 rows of a tensor take 245 clocks more than 8 where they have 16 bytes, and 300 where they have 128.
pub(crate) const BULK_ROW: f64 = 1.0;
pub(crate) const BULK_BYTES_PER_CLOCK: f64 = 105.0;

/// Bytes per clock that the engine reads of shared memory, and clocks until it has begun.
pub(crate) const BULK_STORE_BYTES_PER_CLOCK: f64 = 32.0;
pub(crate) const BULK_STORE_LATENCY: f64 = 88.0;

/// Where an instruction is executed. Each of an SM's four schedulers has one of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Multiply-add in f32, and multiplication of integers.
    Fma,
    /// Logic, shifts, comparisons.
    Alu,
    /// Special functions, and conversions between integers and floats.
    Special,
    Double,
    /// Products of matrices.
    Tensor,
    /// Loads, stores, shuffles: handed on to what the whole SM shares.
    Memory,
    /// Additions of integers: `Fma` or `Alu`, whichever is free.
    Either,
    /// Branches and barriers, which take a slot of the scheduler and nothing else.
    Control,
    /// Nowhere: it is folded into others.
    #[default]
    None,
}

impl Unit {
    /// Those that are there.
    pub(crate) const COUNT: usize = 6;

    /// Which of them can do it.
    pub(crate) fn indices(self) -> &'static [usize] {
        match self {
            Self::Fma => &[0],
            Self::Alu => &[1],
            Self::Special => &[2],
            Self::Double => &[3],
            Self::Tensor => &[4],
            Self::Memory => &[5],
            Self::Either => &[0, 1],
            Self::Control | Self::None => &[],
        }
    }

    /// Whether instructions for it wait in a queue, which all warps of a scheduler share (*Kernel Profiling Guide*, "Warp Stall Reasons": the
    /// memory input/output queue has special functions, too). When it is full, no instruction gets into it.
    pub(crate) fn has_queue(self) -> bool {
        matches!(self, Self::Special | Self::Memory)
    }
}

/// In clocks of the SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) unit: Unit,
    /// Machine instructions: slots of the scheduler.
    pub(crate) issues: f64,
    /// For how long the unit is taken.
    pub(crate) busy: f64,
    /// Until a dependent instruction may be issued.
    pub(crate) latency: f64,
}

const fn cost(unit: Unit, issues: f64, busy: f64, latency: f64) -> Cost {
    Cost { unit, issues, busy, latency }
}

/// What a division costs more that a routine does, for the sake of one lane: its instructions as machine code has them for an operand of 0
/// (compute capability 9.0), and how much longer softmaxes take where most quotients are 0.
pub(crate) const ROUTINE: Cost = cost(Unit::Alu, 40.0, 40.0, 200.0);

pub(crate) const FOLDED: Cost = cost(Unit::None, 0.0, 0.0, 0.0);

/// From one register to another, where the assembler cannot call both by one name.
pub(crate) const MOVE: Cost = cost(Unit::Either, 1.0, 2.0, 4.6);

impl Cost {
    /// Of an instruction of PTX, by its text: `@%p1 add.s64 %rd1, %rd2, %rd3;`.
    pub(crate) fn of(text: &str, units: &Units) -> Self {
        let opcode = opcode(text);
        if let Some(product) = tensor::Product::of(opcode) {
            return product.cost(units);
        }
        let cost = Self::on_hopper(text);
        let of = |hopper: f64, unit: f64| hopper / unit;
        let times = match cost.unit {
            Unit::Double => of(64.0, units.fp64),
            Unit::Special if opcode.starts_with("cvt") && opcode.contains("f64") => of(16.0, units.convert64),
            Unit::Special => of(16.0, units.special),
            Unit::Fma if opcode.ends_with("f16") || opcode.ends_with("f16x2") => of(256.0, units.fp16),
            Unit::Fma if opcode.ends_with("f32") || opcode.ends_with("f32x2") => of(128.0, units.fp32),
            Unit::Fma => of(64.0, units.int32_mul),
            Unit::Alu => of(64.0, units.logic),
            Unit::Either => of(64.0, units.int32),
            Unit::Tensor | Unit::Memory | Unit::Control | Unit::None => 1.0,
        };
        // The last of its lanes comes out as much later.
        let busy = cost.busy * times;
        Self { busy, latency: cost.latency + (busy - cost.busy), ..cost }
    }

    fn on_hopper(text: &str) -> Self {
        let opcode = opcode(text);
        let parts: Vec<&str> = opcode.split('.').collect();
        let has = |part: &str| parts.contains(&part);
        let last = parts.last().copied().unwrap_or_default();
        let float = matches!(last, "f32" | "f32x2");
        let half = matches!(last, "f16" | "f16x2" | "bf16" | "bf16x2");
        let double = last == "f64";
        let wide = matches!(last, "s64" | "u64" | "b64");
        match parts[0] {
            "ld" | "ldu" if has("param") => cost(Unit::Control, 1.0, 1.0, 4.0),
            // Not a copy, but that one is closed or waited for.
            "cp" if has("commit_group") || has("wait_group") || has("wait_all") => cost(Unit::Control, 1.0, 1.0, 12.0),
            "wgmma" => cost(Unit::Control, 1.0, 1.0, 12.0),
            "cp" if has("bulk") => cost(Unit::Control, 1.0, 1.0, 12.0),
            "ld" | "st" | "ldu" | "atom" | "red" | "shfl" | "cp" | "redux" | "match" | "vote" | "prefetch"
            | "mbarrier" | "ldmatrix" | "stmatrix" | "wmma" => cost(Unit::Memory, 1.0, 1.0, 24.0),
            "mov"
                if text.contains("%tid")
                    || text.contains("%ctaid")
                    || text.contains("%ntid")
                    || text.contains("%lane") =>
            {
                cost(Unit::Alu, 1.0, 2.0, 20.0)
            }
            "mov" | "cvta" => FOLDED,
            // Whoever reads a predicate may read its opposite.
            "not" if last == "pred" => FOLDED,
            "neg" | "abs" if float || half || double => FOLDED,
            "add" | "sub" | "mul" | "fma" | "mad" if float => cost(Unit::Fma, 1.0, 1.0, 4.2),
            "add" | "sub" | "mul" | "fma" | "mad" if half => cost(Unit::Fma, 1.0, 2.0, 5.0),
            "add" | "sub" | "mul" | "fma" | "mad" if double => cost(Unit::Double, 1.0, 2.0, 8.0),
            // Its lower half is there for the next one while the upper one is computed.
            "add" | "sub" | "neg" if wide => cost(Unit::Either, 2.0, 4.0, 5.5),
            "add" | "sub" | "neg" | "abs" => cost(Unit::Either, 1.0, 2.0, 4.6),
            "mul" | "mad" if has("wide") => cost(Unit::Fma, 1.0, 2.0, 4.6),
            "mul" | "mad" if wide => cost(Unit::Fma, 3.0, 7.0, 14.0),
            "mul" | "mad" => cost(Unit::Fma, 1.0, 2.0, 4.2),
            "shl" | "shr" if wide => cost(Unit::Alu, 2.0, 4.0, 6.0),
            // By a number, a product will do.
            "shl" if !last_operand(text).starts_with('%') => cost(Unit::Either, 1.0, 2.0, 4.6),
            "and" | "or" | "xor" if last == "pred" => cost(Unit::Alu, 0.5, 1.0, 5.0),
            "and" | "or" | "xor" | "not" if wide => cost(Unit::Alu, 2.0, 4.0, 5.0),
            "not" => cost(Unit::Alu, 1.0, 2.0, 5.0),
            "setp" | "set" if wide => cost(Unit::Alu, 2.0, 4.0, 12.0),
            "setp" | "set" if double => cost(Unit::Double, 1.0, 2.0, 12.0),
            "setp" | "set" => cost(Unit::Alu, 1.0, 2.0, 8.0),
            "selp" | "slct" | "min" | "max" if wide || double => cost(Unit::Alu, 2.0, 4.0, 6.0),
            "div" if float && has("full") => cost(Unit::Special, 4.0, 8.0, 36.0),
            "div" if float && has("approx") => cost(Unit::Special, 3.0, 8.0, 30.0),
            "div" if float => cost(Unit::Special, 11.0, 16.0, 58.0),
            "div" if double => cost(Unit::Double, 14.0, 26.0, 130.0),
            "div" | "rem" if wide => cost(Unit::Special, 90.0, 40.0, 400.0),
            "div" | "rem" => cost(Unit::Special, 16.0, 17.0, 72.0),
            "sqrt" if double => cost(Unit::Double, 16.0, 28.0, 140.0),
            "rcp" if double => cost(Unit::Double, 9.0, 16.0, 90.0),
            "sqrt" if float && !has("approx") => cost(Unit::Special, 12.0, 12.0, 57.0),
            "rcp" if float && !has("approx") => cost(Unit::Special, 6.0, 10.0, 42.0),
            "ex2" | "lg2" | "rcp" | "rsqrt" | "sqrt" | "sin" | "cos" | "tanh" => match has("ftz") || has("f16") || half
            {
                true => cost(Unit::Special, 1.0, 8.0, 23.0),
                false if matches!(parts[0], "sin" | "cos" | "tanh") => cost(Unit::Special, 2.0, 8.0, 28.0),
                // Scaled before and behind, where it is subnormal.
                false if parts[0] == "ex2" => cost(Unit::Special, 4.0, 8.0, 36.0),
                false => cost(Unit::Special, 3.0, 8.0, 36.0),
            },
            "cvt" => convert(&parts),
            "popc" | "clz" | "brev" | "bfind" | "flo" | "bfe" | "bfi" => cost(Unit::Special, 1.0, 8.0, 14.0),
            "bra" | "brx" | "ret" | "exit" | "call" => cost(Unit::Control, 1.0, 2.0, 8.0),
            "bar" | "barrier" => cost(Unit::Control, 1.0, 1.0, 0.0),
            "membar" | "fence" => cost(Unit::Control, 1.0, 1.0, 200.0),
            _ => cost(Unit::Alu, 1.0, 2.0, 4.8),
        }
    }
}

/// `add.s64` of `@%p1 add.s64 %rd1, %rd2, %rd3;`.
pub(super) fn opcode(text: &str) -> &str {
    let text = text.trim_start();
    let text = match text.starts_with('@') {
        true => text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
        false => text,
    };
    text.trim_start().split([' ', '\t', ';', '\n']).next().unwrap_or_default()
}

/// What stands last, such as the number of bits to shift by.
fn last_operand(text: &str) -> &str {
    text.rsplit(',').next().unwrap_or_default().trim()
}

fn convert(parts: &[&str]) -> Cost {
    let types: Vec<&str> = parts[1..]
        .iter()
        .copied()
        .filter(|part| part.len() >= 2 && part.ends_with(|c: char| c.is_ascii_digit()))
        .collect();
    let [.., to, from] = types[..] else { return cost(Unit::Alu, 1.0, 2.0, 5.0) };
    let (is_float, is_half) = (|ty: &str| ty == "f32" || ty == "f64", |ty: &str| ty.contains("f16"));
    let rounds = parts.iter().any(|part| matches!(*part, "rni" | "rmi" | "rpi" | "rzi"));
    if to == "f64" || from == "f64" {
        return cost(Unit::Special, 1.0, 8.0, 16.0);
    }
    if is_half(to) || is_half(from) {
        return cost(Unit::Alu, 1.0, 2.0, 5.0);
    }
    match (is_float(to), is_float(from)) {
        // An integer of up to 32 bits to f32 goes through the logic unit.
        (true, false) => cost(Unit::Alu, 1.0, 2.0, 6.0),
        (false, true) => cost(Unit::Special, 1.0, 8.0, 14.0),
        (true, true) if rounds => cost(Unit::Special, 1.0, 8.0, 14.0),
        (true, true) => FOLDED,
        // Widening with zeros is nothing; with the sign it is a shift.
        (false, false) if to == "s64" && from == "s32" => cost(Unit::Alu, 0.5, 1.0, 5.0),
        (false, false) if matches!(to, "u16" | "s16" | "u8" | "s8") || matches!(from, "u8" | "s8" | "u16" | "s16") => {
            cost(Unit::Alu, 0.5, 1.0, 5.0)
        }
        (false, false) => FOLDED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn costs_go_by_the_opcode() {
        let h200 = Profile::default().units;
        let of = |text: &str| Cost::of(text, &h200);
        for text in ["cvta.to.global.u64 %rd1, %rd2;", "abs.f32 %f1, %f2;", ""] {
            assert_eq!(of(text).unit, if text.is_empty() { Unit::Alu } else { Unit::None }, "{text}");
        }
        assert_eq!(of("@%p1 add.s64 %rd1, %rd2, %rd3;").issues, 2.0);
        assert_eq!(of("add.f32 %f1, %f2, %f3;").unit, Unit::Fma);
        assert_eq!(of("add.s32 %r1, %r2, %r3;").unit, Unit::Either);
        assert_eq!(of("cvt.rni.f32.f32 %f1, %f2;").unit, Unit::Special);
        assert_eq!(of("cvt.u64.u32 %rd1, %r1;").unit, Unit::None);
        assert_eq!(of("not.pred %p1, %p2;").unit, Unit::None);
        assert_eq!(of("not.b32 %r1, %r2;"), cost(Unit::Alu, 1.0, 2.0, 5.0));
        assert_eq!(of("mad.rn.f64 %fd1, %fd2, %fd3, %fd4;").unit, Unit::Double);
        assert_eq!(of("cp.async.cg.shared.global [%r1], [%rd1], 16;").unit, Unit::Memory);
        assert_eq!(of("cp.async.wait_group 0;").unit, Unit::Control);
        assert_eq!(of("ld.global.nc.f32 %f1, [%rd1];").unit, Unit::Memory);
        assert!(of("div.rn.f32 %f1, %f2, %f3;").latency > 5.0 * of("mul.f32 %f1, %f2, %f3;").latency);
        assert!(of("fma.rn.f64 %fd1, %fd2, %fd3, %fd4;").busy > of("fma.rn.f32 %f1, %f2, %f3, %f4;").busy);
    }

    #[test]
    fn costs_go_by_the_units_of_the_gpu() {
        let of = |id: &str, text: &str| Cost::of(text, &Profile::named(id).unwrap().units);
        let busy = |text: &str| ["h200", "a100", "t4"].map(|id| of(id, text).busy);
        assert_eq!(busy("fma.rn.f32 %f1, %f2, %f3, %f4;"), [1.0, 2.0, 2.0]);
        assert_eq!(busy("fma.rn.f64 %fd1, %fd2, %fd3, %fd4;"), [2.0, 4.0, 64.0]);
        assert_eq!(busy("mad.lo.s32 %r1, %r2, %r3, %r4;"), [2.0; 3]);
        assert_eq!(busy("ld.global.f32 %f1, [%rd1];"), [1.0; 3]);
        assert!(of("t4", "add.f64 %fd1, %fd2, %fd3;").latency > 60.0);
    }

    #[test]
    fn products_of_matrices_go_by_their_size_and_type() {
        let of = |id: &str, form: &str| {
            Cost::of(
                &format!("mma.sync.aligned.{form} {{%f1}}, {{%r1}}, {{%r2}}, {{%f1}};"),
                &Profile::named(id).unwrap().units,
            )
        };
        let half = "m16n8k16.row.col.f32.f16.f16.f32";
        assert_eq!((of("a100", half).unit, of("a100", half).busy), (Unit::Tensor, 8.0));
        assert_eq!(of("t4", "m16n8k8.row.col.f32.f16.f16.f32").busy, 8.0);
        assert_eq!(of("rtx4090", half).busy, 2.0 * of("rtx4090", "m16n8k16.row.col.f16.f16.f16.f16").busy);
        assert_eq!(of("a100", "m16n8k8.row.col.f32.tf32.tf32.f32").busy, of("a100", half).busy);
        assert_eq!(of("a100", "m16n8k32.row.col.satfinite.s32.s8.s8.s32").busy, 8.0);
        assert!(of("a100", half).latency > of("a100", "m16n8k8.row.col.f32.f16.f16.f32").latency);
        let group = |form: &str| {
            Cost::of(&format!("wgmma.mma_async.sync.aligned.{form} {{%f1}};"), &Profile::default().units).busy
        };
        let forms =
            ["m64n256k16.f32.bf16.bf16", "m64n8k8.f32.tf32.tf32", "m64n128k32.s32.s8.u8", "m64n256k32.f16.e4m3.e5m2"];
        assert_eq!(forms.map(group), [128.0, 4.0, 64.0, 128.0]);
        assert_eq!(Cost::of("wgmma.wait_group.sync.aligned 0;", &Profile::default().units).unit, Unit::Control);
        let wide = Cost::of("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1};", &Profile::default().units);
        assert_eq!((wide.issues, wide.busy), (2.0, 2.0 * of("h200", half).busy));
        assert_eq!(
            Cost::of("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];", &Profile::default().units).unit,
            Unit::Memory
        );
    }
}
