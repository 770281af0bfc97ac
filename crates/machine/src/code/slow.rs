//! The table of the operations that are rare, or reach beyond the lanes' registers.

use fusion_ptx::ast::{self, BarrierOp, FunctionId, Mma, ScalarType, WarpgroupOp, Wgmma};

use super::operand::{double, name, word};
use super::table::{field, part, table};
use super::{Access, AddressOf, Code, Fragments, MicroOp, Operands, Order, Place, Reg, Role, Slot};
use crate::arith::Reduction;

part! {
    /// An atomic or reduction.
    #[derive(Clone, Debug)]
    pub(crate) struct Atomic {
        op: ast::AtomicOp,
        place: Place,
        address: AddressOf = Address,
        /// Bytes of an element: 2, 4 or 8.
        element: u32,
        /// The new value of a part from the old one and `a`; `cas` is told by `c`. A 128-bit value is two parts.
        f: fn(u64, u64) -> u64,
        d: Vec<Option<Reg>> = Write,
        a: Vec<Reg> = Atomic,
        /// Empty but for `cas`, which compares all parts and exchanges all of them or none.
        c: Vec<Reg> = Atomic,
        /// It gives the old value, so that a thread can spin on it while it waits for another.
        answers: bool,
        /// It counts in global memory and gives the old count, which may be a place in a queue.
        takes: bool,
        order: Order,
    }
}

part! {
    /// Something done with an object that counts arrivals.
    #[derive(Clone, Debug)]
    pub(crate) struct Mbarrier {
        op: ast::MbarrierOp,
        place: Place,
        address: AddressOf = Address,
        /// The state before.
        d: Option<Reg> = Write,
        /// Of waits: whether the phase is complete.
        p: Option<Slot> = Write flag,
        /// How many, or of waits which phase.
        value: Reg = Barrier,
        order: Order,
    }
}

part! {
    /// `st.async`, and `red.async` with an operation: bytes for shared memory of the cluster, of which an mbarrier is told.
    #[derive(Clone, Debug)]
    pub(crate) struct StoreAsync {
        f: Option<fn(u64, u64) -> u64>,
        address: AddressOf = Address,
        mbarrier: AddressOf = Address,
        /// Bytes of an element.
        element: u32,
        a: Vec<Reg> = Read,
    }
}

part! {
    /// `cp.async.bulk`, and `cp.reduce.async.bulk` with what it does to each element.
    #[derive(Clone, Debug)]
    pub(crate) struct CopyBulk {
        to: Place,
        from: Place,
        reduce: Option<Reduce>,
        dst: AddressOf = Address,
        src: AddressOf = Address,
        size: Slot = Address word,
        mbarrier: Option<AddressOf> = Address,
        /// A bit for each block of the cluster that it goes to.
        multicast: Option<Reg> = Address,
    }
}

/// What a reduction does with each element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    pub(crate) f: fn(u64, u64) -> u64,
    /// Bytes of an element.
    pub(crate) element: u32,
}

part! {
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: into shared memory if there is an mbarrier, out of it if not.
    #[derive(Clone, Debug)]
    pub(crate) struct CopyTensor {
        reduce: Option<ast::AtomicOp>,
        map_place: Place,
        map: AddressOf = Address,
        coordinates: Vec<Slot> = Address word,
        shared: AddressOf = Address,
        mbarrier: Option<AddressOf> = Address,
        multicast: Option<Reg> = Address,
    }
}

/// `ldmatrix` and `stmatrix`: a matrix of 8 by 8 elements of 16 bits for each register.
#[derive(Clone, Debug)]
pub(crate) struct MatrixAccess {
    /// What a lane accesses: one row, for lanes 0 to 7 those of the first matrix, and so on.
    pub(crate) row: Access,
    pub(crate) transposed: bool,
    pub(crate) regs: Vec<Option<Reg>>,
}

impl Operands for MatrixAccess {
    fn operands(&self, _: &Code, f: &mut dyn FnMut(Role, Reg)) {
        name(&self.row.address, word, Role::Address, f);
        name(&self.regs, word, if self.row.stores { Role::Read } else { Role::Write }, f);
    }
}

impl MatrixAccess {
    /// The lanes that say where a row is.
    pub(crate) fn lanes(&self) -> u32 {
        u32::MAX >> (32 - 8 * self.regs.len().clamp(1, 4) as u32)
    }

    /// Row and column of one of the two elements that a lane has of a matrix.
    pub(crate) fn place(&self, lane: usize, half: usize) -> (usize, usize) {
        let (row, column) = (lane / 4, 2 * (lane % 4) + half);
        if self.transposed { (column, row) } else { (row, column) }
    }
}

part! {
    /// `mma` and `wmma.mma`.
    #[derive(Clone, Debug)]
    pub(crate) struct Product {
        form: Mma,
        fragments: Box<Fragments>,
        d: Vec<Option<Reg>> = Write,
        a: Vec<Reg> = Read,
        b: Vec<Reg> = Read,
        c: Vec<Reg> = Read,
    }
}

part! {
    /// A warp's part of `wgmma.mma_async`.
    #[derive(Clone, Debug)]
    pub(crate) struct WarpgroupProduct {
        form: Wgmma,
        d: Vec<Option<Reg>> = Write,
        /// Empty where A lies in shared memory.
        a: Vec<Reg> = Read,
        a_at: Option<Reg> = Address,
        b_at: Reg = Address,
        c: Vec<Reg> = Read,
        /// C counts: the predicate, or its complement.
        add: (Slot, bool) = Read flag,
    }
}

part! {
    /// What the lanes of a warp tell each other.
    #[derive(Clone, Debug)]
    pub(crate) struct Collective {
        op: ast::Collective,
        /// Of `redux`.
        reduction: Option<Reduction>,
        d: Option<Reg> = Write,
        p: Option<Slot> = Write flag,
        sources: Vec<Reg> = Read,
        /// Who takes part, in the old forms every lane that is here.
        mask: Option<Slot> = Mask word,
    }
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

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) args: Vec<Argument>,
    pub(crate) returns: Vec<Argument>,
}

impl Operands for Call {
    fn operands(&self, _: &Code, f: &mut dyn FnMut(Role, Reg)) {
        match &self.target {
            Target::Direct(_) => {}
            Target::Indirect(slot) => name(slot, double, Role::Address, f),
            Target::Builtin(_) => {
                name(&self.args, word, Role::Printed, f);
                name(&self.returns, word, Role::Write, f);
            }
        }
    }
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

part! {
    /// An instruction that the arithmetic lints look at before it is executed: never a slow one itself.
    #[derive(Clone, Debug)]
    pub(crate) struct Checked {
        op: MicroOp = Own,
        lints: Vec<Lint>,
    }
}

/// What an extended-precision instruction does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CarryKind {
    Add,
    Sub,
    Mad { high: bool },
}

part! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct CarryOp {
        kind: CarryKind,
        ty: ScalarType,
        d: Reg = Write,
        a: Reg = Read,
        b: Reg = Read,
        c: Option<Reg> = Read,
        carry_in: Option<Slot> = Read flag,
        carry_out: Option<Slot> = Write flag,
    }
}

table! {
    /// Operations that need more than the lanes' registers.
    #[derive(Clone, Debug)]
    pub(crate) enum SlowOp |code|

    lanes {}

    others {
        Exit => Defined;
        Return => Defined;
        Trap => Defined;
        Breakpoint => Defined;
        /// Lets other warps and blocks run.
        Yield => Defined;
        Nothing => Defined;
        Unsupported { opcode: String, reason: String } => Defined;
        BranchTable { index: Slot = Branch, targets: Vec<u32> } => Defined;
        Call(call: Call = Own) => Defined;
        Barrier {
            op: BarrierOp,
            aligned: bool,
            d: Option<Reg> = Write,
            id: Slot = Barrier,
            threads: Option<Slot> = Barrier,
            p: Option<(Slot, bool)> = Barrier flag,
        } => Defined;
        /// What it brings is written out for each of them, or any undefined bit that a lane is told of makes its result undefined.
        Collective(collective: Collective = Own) => Special;
        /// Waits until the whole warp is here.
        Together => Defined;
        /// What is loaded is known when that is executed, and what is stored is written out.
        Matrix(access: MatrixAccess = Own) => Defined;
        /// `movmatrix`.
        MoveMatrix { d: Reg = Write, a: Reg = Read } => Special;
        Product(product: Product = Own) => Special;
        Wgmma(product: WarpgroupProduct = Own) => Special;
        Warpgroup(op: WarpgroupOp) => Defined;
        Checked(checked: Checked = Own) => checked.op.rule(code);
        Atomic(atomic: Atomic = Own) => Defined;
        Mbarrier(mbarrier: Mbarrier = Own) => Defined;
        StoreAsync(store: StoreAsync = Own) => Defined;
        CopyBulk(copy: CopyBulk = Own) => Defined;
        CopyTensor(copy: CopyTensor = Own) => Defined;
        /// Closes the group of the bulk copies begun so far that no mbarrier is told of.
        BulkCommit => Defined;
        /// Waits until at most so many of those groups still read their sources.
        BulkWait { groups: u32 } => Defined;
        /// `fence.proxy.async`: what the thread knows of is there for the asynchronous proxy.
        ProxyFence => Defined;
        /// Arrives at the barrier of the cluster, or waits there.
        ClusterBarrier { wait: bool, aligned: bool, relaxed: bool } => Defined;
        /// `mapa`: the address in the shared memory of another block.
        MapAddress { generic: bool, d: Reg = Write, a: Reg = Read, rank: Slot = Address word } => Whole;
        /// `getctarank`.
        RankOf { generic: bool, d: Reg = Write, a: Reg = Read } => Whole;
        /// `mbarrier.pending_count`.
        PendingCount { d: Reg = Write, a: Reg = Read } => Whole;
        CopyAsync { dst: AddressOf = Address, src: AddressOf = Address, size: u32, src_size: Option<Slot> = Address word }
            => Defined;
        /// Closes the group of the copies begun so far.
        CopyCommit => Defined;
        /// Waits until at most so many groups are pending; without a number, for every copy.
        CopyWait { groups: Option<u32> } => Defined;
        Fence(order: Order) => Defined;
        /// Reads a clock.
        Read { d: Reg = Write, what: Dynamic } => Defined;
        /// The address of a variable of the frame, in its own space.
        FrameAddress { d: Slot = Write double, offset: i64 } => Defined;
        /// Generic address to `d`: is it in the given place?
        IsSpace { place: Place, d: Slot = Write flag, a: Slot = Read double } => Whole;
        Pack { d: Reg = Write, parts: Vec<Reg> = Read } => Concatenated;
        Unpack { parts: Vec<Reg> = Write, a: Reg = Read } => Parted;
        /// Add, subtract or multiply-add with the carry flag.
        Carry(carry: CarryOp = Own) => Whole;
        /// The predicate of lop3's `.and` and `.or` forms: p = (d != 0) op q.
        Lop3Predicate { d: Slot = Read, p: Slot = Write flag, or: bool, q: (Slot, bool) = Read flag } => Special;
        /// `slct`: a where the test of c holds.
        SelectSign { test: fn(u64) -> bool, d: Reg = Write, a: Reg = Read, b: Reg = Read, c: Reg = Read } => Special;
        TestProperty { test: fn(u64) -> bool, d: Slot = Write flag, a: Reg = Read } => Whole;
    }
}

impl SlowOp {
    /// Whether it is a copy that the hardware makes by itself, past what the threads' own accesses go through.
    pub(crate) fn is_bulk(&self) -> bool {
        matches!(self, Self::CopyBulk(_) | Self::CopyTensor(_))
    }
}
