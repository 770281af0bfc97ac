//! What the interpreter executes: micro-operations whose operands are slots of a warp's register file.
//!
//! A slot holds one value for each of the 32 lanes. There are three files: words (registers of 32
//! bits and fewer, kept zero-extended), doubles (64 bits) and predicates (one bit a lane).
//! Immediates and special registers are slots too, filled before the code runs, so that the
//! interpreter's loops know one kind of operand only.

mod operands;
mod slow;
mod spread;

use fusion_ptx::ast::{BoolOp, Compare, LocId, Ordering, Scope, Span};

pub(crate) use operands::{base, operands};
pub(crate) use slow::{Argument, Atomic, CarryKind, CarryOp, Checked, Dynamic, Lint, SlowOp, Target};
pub(crate) use spread::Spread;

/// Index into one of the register files, relative to the frame.
pub(crate) type Slot = u32;

/// The predicate slot that is true in every lane.
pub(crate) const TRUE: Slot = 0;
/// The predicate slot of the carry flag `CC.CF`.
pub(crate) const CARRY: Slot = 1;

/// A slot with its width in bits, which tells its file: 1, 8, 16, 32 or 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg {
    pub(crate) slot: Slot,
    pub(crate) bits: u8,
}

pub(crate) fn word(slot: Slot) -> Reg {
    Reg { slot, bits: 32 }
}

pub(crate) fn double(slot: Slot) -> Reg {
    Reg { slot, bits: 64 }
}

pub(crate) fn flag(slot: Slot) -> Reg {
    Reg { slot, bits: 1 }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D2 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D3 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct D4 {
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

/// One instruction for a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub(crate) op: MicroOp,
    /// Executes in the lanes where this predicate differs from `negated`.
    pub(crate) guard: Slot,
    pub(crate) negated: bool,
    /// False for what lowering added: it is no instruction of the program.
    pub(crate) counted: bool,
}

/// The micro-operations. The first groups are the hot ones, each a loop over lanes that the
/// compiler vectorises; everything rarer is a function pointer per lane or a [`SlowOp`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum MicroOp {
    Add32(D3),
    Sub32(D3),
    Mul32(D3),
    Mad32(D4),
    And32(D3),
    Or32(D3),
    Xor32(D3),
    Not32(D2),
    Neg32(D2),
    Shl32(D3),
    ShrU32(D3),
    ShrS32(D3),
    MinU32(D3),
    MaxU32(D3),
    MinS32(D3),
    MaxS32(D3),
    Lop3(D4, u8),
    MulWideU(D3),
    MulWideS(D3),
    MadWideU(D4),
    MadWideS(D4),

    Add64(D3),
    Sub64(D3),
    Mul64(D3),
    Mad64(D4),
    And64(D3),
    Or64(D3),
    Xor64(D3),
    /// The amount is a word.
    Shl64(D3),
    ShrU64(D3),
    ShrS64(D3),

    AddF32(D3),
    SubF32(D3),
    MulF32(D3),
    FmaF32(D4),
    DivF32(D3),
    AddF32Ftz(D3),
    SubF32Ftz(D3),
    MulF32Ftz(D3),
    FmaF32Ftz(D4),
    MinF32(D3),
    MaxF32(D3),
    NegF32(D2),
    AbsF32(D2),
    /// The sign of a, the magnitude of b.
    CopysignF32(D3),
    /// Approximate reciprocal and power of two.
    RcpF32(D2),
    RcpF32Ftz(D2),
    Ex2F32(D2),
    Ex2F32Ftz(D2),
    AddF64(D3),
    SubF64(D3),
    MulF64(D3),
    FmaF64(D4),

    Mov32(D2),
    Mov64(D2),
    Select32(D3, Slot, bool),
    Select64(D3, Slot, bool),
    /// Word to double, zero- or sign-extended.
    ZeroExtend64(D2),
    SignExtend64(D2),
    /// Double to word.
    Truncate64(D2),
    /// The low 8 or 16 bits of a word, zero- or sign-extended within it.
    ZeroExtend32(D2, u8),
    SignExtend32(D2, u8),
    S32ToF32(D2),
    U32ToF32(D2),
    /// `{a, b}` with a the less significant, and the reverse.
    Pack32To64(D3),
    Unpack64To32 {
        low: Slot,
        high: Slot,
        a: Slot,
    },
    Pack16To32(D3),
    Unpack32To16 {
        low: Slot,
        high: Slot,
        a: Slot,
    },

    SetpS32(Compared),
    SetpU32(Compared),
    SetpS64(Compared),
    SetpU64(Compared),
    SetpF32(Compared),
    SetpF32Ftz(Compared),
    /// Any other comparison: index into [`Code::comparisons`].
    Setp(u32),
    /// Predicate logic; a complement is an exclusive or with [`TRUE`].
    LogicP(D3, BoolOp),

    Unary(fn(u64) -> u64, Reg, Reg),
    Binary(fn(u64, u64) -> u64, Reg, Reg, Reg),
    /// Index into [`Code::ternaries`].
    Ternary(u32),
    /// The parameter buffer of the launch, at an offset that is known: index into [`Code::accesses`].
    LoadParam(u32),
    /// Index into [`Code::accesses`].
    Load(u32),
    Store(u32),

    Jump(u32),
    /// Goes to `target` in the lanes where the predicate differs from `negated`.
    Branch {
        p: Slot,
        negated: bool,
        target: u32,
    },
    /// Index into [`Code::slow`].
    Slow(u32),
}

/// A comparison that writes one predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub(crate) cmp: Compare,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

/// A comparison by function: `p` and `q` as in `setp`, or an all-ones or 1.0 value as in `set`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) test: fn(u64, u64) -> bool,
    /// Packed types: the test is of the upper halves.
    pub(crate) upper: bool,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) p: Option<Slot>,
    pub(crate) q: Option<Slot>,
    pub(crate) combine: Option<(BoolOp, Slot, bool)>,
    /// `set`: the register, and its value where true.
    pub(crate) value: Option<(Reg, u64)>,
    /// Which bits of that register stay as they are: those of the other half of a packed type.
    pub(crate) keep: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TernaryOp {
    pub(crate) f: fn(u64, u64, u64) -> u64,
    pub(crate) d: Reg,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) c: Reg,
}

/// Which memory an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Global,
    Constant,
    Shared,
    Local,
    /// The launch's parameter buffer.
    Param,
    /// Parameter variables of calls, which live in the frame's part of local memory but are no traffic.
    Frame,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    None,
    Word(Slot),
    Double(Slot),
}

/// The address of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressOf {
    pub(crate) base: Base,
    pub(crate) offset: i64,
    /// The offset counts from the frame's place in local memory.
    pub(crate) in_frame: bool,
}

/// What an access says to other threads beyond its value (PTX ISA 8.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// `.volatile`, `.relaxed` or more, and every atomic.
    pub(crate) strong: bool,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    /// For the threads of the own block only.
    pub(crate) narrow: bool,
}

impl Order {
    pub(crate) const WEAK: Self = Self { strong: false, acquire: false, release: false, narrow: false };

    pub(crate) fn new(ordering: Ordering, scope: Scope) -> Self {
        Self {
            strong: ordering != Ordering::Weak,
            acquire: matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst),
            release: matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst),
            // Every block is a cluster of its own.
            narrow: matches!(scope, Scope::Cta | Scope::Cluster),
        }
    }
}

/// A load or store of one to eight elements a lane.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) place: Place,
    pub(crate) address: AddressOf,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) element: u32,
    pub(crate) signed: bool,
    /// One an element; `None` drops what was loaded.
    pub(crate) regs: Vec<Option<Reg>>,
    /// Every register is a word and every element has four bytes.
    pub(crate) words: bool,
    pub(crate) order: Order,
}

impl Access {
    /// Bytes of one lane's access.
    pub(crate) fn bytes(&self) -> u32 {
        self.element * self.regs.len() as u32
    }
}

/// What a slot holds before the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fill {
    Constant(u64),
    Tid(u8),
    LaneId,
    WarpId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    /// Known from the launch: threads of a block, blocks of the grid, and so on.
    Ntid(u8),
    Nctaid(u8),
    NwarpId,
    NsmId,
    GridId,
    /// The address by which the blocks of a cooperative launch find their barrier, in two halves.
    GridWorkspace,
    GridWorkspaceHigh,
    SharedSize,
    DynamicSharedSize,
    /// Differs from block to block.
    Ctaid(u8),
    SmId,
}

impl Fill {
    pub(crate) fn differs_by_block(self) -> bool {
        matches!(self, Fill::Ctaid(_) | Fill::SmId)
    }
}

/// A lowered function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) start: u32,
    /// One past the last instruction.
    pub(crate) end: u32,
    /// Slots of a frame.
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    pub(crate) fills: Vec<(Fill, Reg)>,
    /// Registers that may be read before they are written; a run starts with zeros there.
    pub(crate) cleared: Vec<Reg>,
    /// Bytes of local memory: variables, then parameter variables of calls.
    pub(crate) frame_bytes: u32,
    pub(crate) params: Vec<Argument>,
    pub(crate) returns: Vec<Argument>,
    /// Peak of live 32-bit registers.
    pub(crate) live: u32,
}

/// Where an instruction came from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) span: Span,
    pub(crate) loc: Option<LocId>,
}

/// A shared variable of the kernel, for messages.
#[derive(Clone, Debug)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) offset: u32,
    pub(crate) size: u32,
}

/// A kernel with every function that it can reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    /// Parallel to `insts`.
    pub(crate) origins: Vec<Origin>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) ternaries: Vec<TernaryOp>,
    pub(crate) slow: Vec<SlowOp>,
    /// By instruction, in order, where it is not [`Spread::Whole`].
    pub(crate) spreads: Vec<(u32, Spread)>,
    /// Indexed by [`FunctionId`]; empty where the kernel cannot get.
    pub(crate) functions: Vec<Option<Function>>,
    pub(crate) entry: u32,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) static_shared: u32,
    /// Where the launch's dynamic shared memory begins.
    pub(crate) dynamic_shared_offset: u32,
    /// Blocks talk to each other through global memory: they must run in a fixed order.
    pub(crate) communicates: bool,
    pub(crate) param_bytes: u32,
}

impl Code {
    pub(crate) fn spread(&self, pc: u32) -> Spread {
        let found = self.spreads.binary_search_by_key(&pc, |(at, _)| *at);
        found.map_or(Spread::Whole, |i| self.spreads[i].1)
    }
}

/// Bases of the windows through which generic addresses reach the other spaces. They lie above
/// every user address of the host, so a mirrored host allocation can never be mistaken for one.
pub(crate) mod window {
    pub(crate) const SHARED: u64 = 0x0100_0000_0000_0000;
    pub(crate) const LOCAL: u64 = 0x0200_0000_0000_0000;
    pub(crate) const PARAM: u64 = 0x0300_0000_0000_0000;
    pub(crate) const FUNCTION: u64 = 0x0400_0000_0000_0000;
    /// Size of each.
    pub(crate) const SIZE: u64 = 1 << 32;
}
