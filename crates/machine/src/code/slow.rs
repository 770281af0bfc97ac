//! Operations that are rare, or reach beyond the lanes' registers.

use fusion_ptx::ast::{BarrierOp, FunctionId, ScalarType, ShuffleMode, VoteMode};

use super::{AddressOf, MicroOp, Order, Place, Reg, Slot};

/// An atomic or reduction.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) place: Place,
    pub(crate) address: AddressOf,
    /// Bytes of an element: 2, 4 or 8.
    pub(crate) element: u32,
    /// The new value from the old one and `a`; `cas` is told by `c`.
    pub(crate) f: fn(u64, u64) -> u64,
    pub(crate) d: Vec<Option<Reg>>,
    pub(crate) a: Vec<Reg>,
    pub(crate) c: Option<Reg>,
    /// It gives the old value, so that a thread can spin on it while it waits for another.
    pub(crate) answers: bool,
    pub(crate) order: Order,
}

/// What is read when it is executed, not before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dynamic {
    Clock,
    ClockHigh,
    Clock64,
    GlobalTimer,
    GlobalTimerHigh,
}

/// An argument in the caller or a parameter in the callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    Register(Reg),
    /// Bytes of the frame's part of local memory.
    Frame {
        offset: u32,
        size: u32,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Direct(FunctionId),
    Indirect(Slot),
    Builtin(String),
}

/// What may be wrong with the operands of an arithmetic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lint {
    /// Its result becomes part of the address of `access`, widened with or without its sign.
    Index {
        signed: bool,
        access: u32,
    },
    Shift {
        bits: u32,
    },
    Divide,
    FloatToInt {
        from: ScalarType,
        to: ScalarType,
    },
}

/// An instruction that the arithmetic lints look at before it is executed.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) op: MicroOp,
    pub(crate) lints: Vec<Lint>,
}

/// Operations that need more than the lanes' registers.
#[derive(Clone, Debug)]
pub(crate) enum SlowOp {
    Exit,
    Return,
    Trap,
    Breakpoint,
    /// Lets other warps and blocks run.
    Yield,
    Nothing,
    Unsupported {
        opcode: String,
        reason: String,
    },
    BranchTable {
        index: Slot,
        targets: Vec<u32>,
    },
    Call {
        target: Target,
        args: Vec<Argument>,
        returns: Vec<Argument>,
    },
    Barrier {
        op: BarrierOp,
        aligned: bool,
        d: Option<Reg>,
        id: Slot,
        threads: Option<Slot>,
        p: Option<(Slot, bool)>,
    },
    WarpSync {
        mask: Slot,
    },
    Shuffle {
        mode: ShuffleMode,
        d: Option<Reg>,
        p: Option<Slot>,
        a: Slot,
        b: Slot,
        c: Slot,
        mask: Option<Slot>,
    },
    Vote {
        mode: VoteMode,
        d: Option<Reg>,
        p: (Slot, bool),
        mask: Option<Slot>,
    },
    Match {
        all: bool,
        d: Option<Reg>,
        p: Option<Slot>,
        a: Reg,
        mask: Slot,
    },
    ActiveMask {
        d: Option<Reg>,
    },
    Redux {
        f: fn(u64, u64) -> u64,
        d: Option<Reg>,
        a: Slot,
        mask: Slot,
    },
    Elect {
        d: Option<Reg>,
        p: Slot,
        mask: Slot,
    },
    Checked(Checked),
    Atomic(Atomic),
    CopyAsync {
        dst: AddressOf,
        src: AddressOf,
        size: u32,
        src_size: Option<Slot>,
    },
    /// Closes the group of the copies begun so far.
    CopyCommit,
    /// Waits until at most so many groups are pending; without a number, for every copy.
    CopyWait {
        groups: Option<u32>,
    },
    Fence(Order),
    /// Reads a clock.
    Read {
        d: Reg,
        what: Dynamic,
    },
    /// The address of a variable of the frame, in its own space.
    FrameAddress {
        d: Slot,
        offset: i64,
    },
    /// Generic address to `d`: is it in the given place?
    IsSpace {
        place: Place,
        d: Slot,
        a: Slot,
    },
    Bfi {
        wide: bool,
        d: Reg,
        a: Reg,
        b: Reg,
        pos: Slot,
        len: Slot,
    },
    Pack {
        d: Reg,
        parts: Vec<Reg>,
    },
    Unpack {
        parts: Vec<Option<Reg>>,
        part_bits: u32,
        a: Reg,
    },
    /// Add, subtract or multiply-add with the carry flag.
    Carry(CarryOp),
    /// The predicate of lop3's `.and` and `.or` forms: p = (d != 0) op q.
    Lop3Predicate {
        d: Slot,
        p: Slot,
        or: bool,
        q: (Slot, bool),
    },
    /// `slct`: a where the test of c holds.
    SelectSign {
        test: fn(u64) -> bool,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    TestProperty {
        test: fn(u64) -> bool,
        d: Slot,
        a: Reg,
    },
}

/// What an extended-precision instruction does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CarryKind {
    Add,
    Sub,
    Mad { high: bool },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CarryOp {
    pub(crate) kind: CarryKind,
    pub(crate) ty: ScalarType,
    pub(crate) d: Reg,
    pub(crate) a: Reg,
    pub(crate) b: Reg,
    pub(crate) c: Option<Reg>,
    pub(crate) carry_in: bool,
    pub(crate) carry_out: bool,
}
