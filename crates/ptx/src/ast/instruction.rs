//! Instructions and their operands.

use super::operands::operations;
use super::operation::{AtomicOp, BarrierOp, Binary, Collective, MbarrierOp, Quaternary, Ternary, TestProperty, Unary};
use super::{
    Accuracy, BoolOp, Compare, Fragment, FunctionId, GlobalId, LabelId, LocId, LocalId, Mma, Mode, Ordering, RegId,
    ScalarType, Scope, Space, Span, Special, WarpgroupOp, Wgmma,
};

#[derive(Clone, Debug)]
pub struct Instruction {
    pub span: Span,
    /// The `.loc` in force.
    pub loc: Option<LocId>,
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    pub op: Op,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub reg: RegId,
    pub negated: bool,
}

/// A source operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Reg(RegId),
    /// An integer constant, or the bits of a float constant, already in the width and format of the
    /// instruction's operand type; sign-extended where the literal was negative.
    Imm(u64),
    Special(Special),
    /// `!p` where a predicate is read.
    Not(RegId),
    /// The address of a variable, in its own space (not generic), plus an offset.
    Global(GlobalId, i64),
    Local(LocalId, i64),
    Function(FunctionId),
}

/// The memory operand of a load, store or atomic: `[base + offset]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    pub base: Operand,
    pub offset: i64,
    pub span: Span,
}

/// What an instruction writes. `None` stands for the sink `_`.
pub type Dst = Option<RegId>;

/// A predicate source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredOperand {
    Reg {
        reg: RegId,
        negated: bool,
    },
    /// An integer constant, which is true unless it is zero (PTX ISA 4.5.3).
    Constant(bool),
}

/// Whom a `call` goes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    Direct(FunctionId),
    /// Through a register; the prototype's or the target list's label is not needed to execute it.
    Indirect(RegId),
    /// A device-runtime function: `vprintf`, `__assertfail`, `malloc`, `free`, ...
    Builtin(String),
}

/// An argument of a `call`, in the caller.
#[derive(Clone, Debug, PartialEq)]
pub enum CallArg {
    Value(Operand),
    /// A `.param` variable of the caller.
    Param(LocalId),
}

/// Where a return value of a `call` goes, in the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResult {
    Register(RegId),
    /// A `.param` variable of the caller.
    Param(LocalId),
}

operations! {
    /// An instruction's operation with its operands.
    ///
    /// Vector forms of `ld`, `st` and `mov` have several entries where scalars have one. What is read and what is written is told by
    /// the fields' types: see [`Op::operands`].
    #[derive(Clone, Debug, PartialEq)]
    pub enum Op {
        Unary {
            op: Unary,
            ty: ScalarType,
            mode: Mode,
            d: Dst,
            a: Operand,
        },
        Binary {
            op: Binary,
            ty: ScalarType,
            mode: Mode,
            d: Dst,
            a: Operand,
            b: Operand,
        },
        Ternary {
            op: Ternary,
            ty: ScalarType,
            mode: Mode,
            d: Dst,
            a: Operand,
            b: Operand,
            c: Operand,
        },
        Quaternary {
            op: Quaternary,
            ty: ScalarType,
            d: Dst,
            sources: [Operand; 4],
        },
        /// `lop3` with `.and` or `.or`: also writes a predicate (`d|p`).
        Lop3Pred {
            lut: u8,
            or: bool,
            d: Dst,
            p: RegId,
            a: Operand,
            b: Operand,
            c: Operand,
            q: PredOperand,
        },
        Testp {
            property: TestProperty,
            ty: ScalarType,
            d: RegId,
            a: Operand,
        },
        /// `set.cmp{.bool}.dtype.stype`: all ones or 1.0 where true.
        Set {
            cmp: Compare,
            combine: Option<(BoolOp, PredOperand)>,
            dty: ScalarType,
            ty: ScalarType,
            ftz: bool,
            d: Dst,
            a: Operand,
            b: Operand,
        },
        /// `p` gets the comparison, `q` its complement, each combined with the third predicate. The
        /// packed types (f16x2, bf16x2) write the two halves' results to `p` and `q`.
        Setp {
            cmp: Compare,
            combine: Option<(BoolOp, PredOperand)>,
            ty: ScalarType,
            ftz: bool,
            p: Dst,
            q: Dst,
            a: Operand,
            b: Operand,
        },
        /// d = p ? a : b
        Selp {
            ty: ScalarType,
            d: Dst,
            a: Operand,
            b: Operand,
            p: PredOperand,
        },
        /// d = c >= 0 ? a : b, with c of type `cty` (s32 or f32).
        Slct {
            ty: ScalarType,
            cty: ScalarType,
            ftz: bool,
            d: Dst,
            a: Operand,
            b: Operand,
            c: Operand,
        },
        Mov {
            ty: ScalarType,
            d: Dst,
            a: Operand,
        },
        /// `mov.v4.f32 {d, ..}, {a, ..}`: all sources are read before any destination is written.
        MovVector {
            ty: ScalarType,
            d: Vec<Dst>,
            a: Vec<Operand>,
        },
        /// `mov.b64 d, {a, b}`: the first is the least significant.
        Pack {
            ty: ScalarType,
            d: Dst,
            parts: Vec<Operand>,
        },
        /// `mov.b64 {a, b}, s`.
        Unpack {
            ty: ScalarType,
            parts: Vec<Dst>,
            a: Operand,
        },
        /// `cvt.dty.sty`; two sources pack into one (`cvt.rn.f16x2.f32 d, a, b`: a is the upper half).
        Cvt {
            dty: ScalarType,
            sty: ScalarType,
            mode: Mode,
            d: Dst,
            a: Operand,
            b: Option<Operand>,
        },
        /// `cvta.space` (to generic) or `cvta.to.space`.
        Cvta {
            space: Space,
            to: bool,
            ty: ScalarType,
            d: Dst,
            a: Operand,
        },
        Isspacep {
            space: Space,
            d: RegId,
            a: Operand,
        },
        Ld {
            space: Space,
            ordering: Ordering,
            scope: Option<Scope>,
            ty: ScalarType,
            d: Vec<Dst>,
            addr: Address,
            cache: Cache,
        },
        St {
            space: Space,
            ordering: Ordering,
            scope: Option<Scope>,
            ty: ScalarType,
            addr: Address,
            a: Vec<Operand>,
            cache: Cache,
        },
        Prefetch {
            space: Space,
            addr: Address,
        },
        /// `atom` (with a destination) and `red` (without). Vector and packed forms have several sources.
        /// The third operand is `cas`'s new value.
        Atom {
            op: AtomicOp,
            space: Space,
            ordering: Ordering,
            scope: Scope,
            ty: ScalarType,
            mode: Mode,
            d: Vec<Dst>,
            addr: Address,
            a: Vec<Operand>,
            c: Option<Operand>,
        },
        /// `cp.async.{ca,cg}.shared.global [dst], [src], size{, src_size}`; bytes past `src_size` are zeroed.
        CpAsync {
            dst: Address,
            src: Address,
            size: u32,
            src_size: Option<Operand>,
            cache: Cache,
        },
        CpAsyncCommit,
        /// Waits until at most `n` groups are pending; `None` is `wait_all`.
        CpAsyncWait {
            n: Option<u32>,
        },
        /// What the lanes of a warp tell each other (PTX ISA 9.7.9.6, 9.7.13): a result, a predicate beside it (`d|p`), the sources
        /// with their types, and who takes part. Without a mask it is every active lane (`activemask`, and the old forms
        /// without `.sync`).
        Collective {
            op: Collective,
            d: Dst,
            p: Dst,
            sources: Vec<(ScalarType, Operand)>,
            mask: Option<Operand>,
        },
        /// `bar`, `barrier`: block-wide named barriers (PTX ISA 9.7.13.1). `threads: None` is the whole block.
        Barrier {
            op: BarrierOp,
            aligned: bool,
            d: Dst,
            barrier: Operand,
            threads: Option<Operand>,
            p: Option<PredOperand>,
        },
        /// `mbarrier` and `cp.async.mbarrier.arrive`. What it gives is a state, or of waits a predicate.
        Mbarrier {
            op: MbarrierOp,
            space: Space,
            ordering: Ordering,
            scope: Scope,
            d: Dst,
            addr: Address,
            a: Operand,
        },
        /// `barrier.cluster.arrive` and `.wait`. An arrival may be relaxed: it orders no memory then.
        ClusterBarrier {
            wait: bool,
            aligned: bool,
            relaxed: bool,
        },
        /// `mapa`: where an address of this block's shared memory lies in the block of a rank (PTX ISA 9.7.9.23). Generic addresses
        /// are `Space::Generic`.
        MapAddress {
            space: Space,
            ty: ScalarType,
            d: Dst,
            a: Operand,
            rank: Operand,
        },
        /// `getctarank`: the rank of the block in whose shared memory an address lies.
        RankOf {
            space: Space,
            ty: ScalarType,
            d: Dst,
            a: Operand,
        },
        /// `mbarrier.pending_count`: how many arrivals a state lacks.
        PendingCount {
            d: Dst,
            a: Operand,
        },
        /// `st.async` and `red.async` (`op`): to shared memory of the cluster, with the bytes told to an mbarrier in the same block.
        StoreAsync {
            op: Option<AtomicOp>,
            ty: ScalarType,
            addr: Address,
            a: Vec<Operand>,
            mbarrier: Address,
        },
        /// `cp.async.bulk` between memories of which neither is a tensor's, and `cp.reduce.async.bulk` with an operation. Towards
        /// shared memory an mbarrier is told of the bytes, and `multicast` may have a bit for each block of the cluster.
        CopyBulk {
            to: Space,
            from: Space,
            reduce: Option<(AtomicOp, ScalarType)>,
            dst: Address,
            src: Address,
            size: Operand,
            mbarrier: Option<Address>,
            multicast: Option<Operand>,
        },
        /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` in tile mode: a box of the tensor that `map` describes, the
        /// element at `coordinates` first, and shared memory. What goes into the tensor has no mbarrier.
        CopyTensor {
            reduce: Option<AtomicOp>,
            map_space: Space,
            map: Address,
            coordinates: Vec<Operand>,
            space: Space,
            shared: Address,
            mbarrier: Option<Address>,
            multicast: Option<Operand>,
        },
        /// `cp.async.bulk.commit_group`, and `.wait_group` for all but so many groups.
        CopyBulkGroup {
            wait: Option<u32>,
        },
        /// `ldmatrix`: as many 8 by 8 matrices of 16 bits as there are registers, each row from where one lane says.
        LoadMatrix {
            transposed: bool,
            space: Space,
            d: Vec<Dst>,
            addr: Address,
        },
        StoreMatrix {
            transposed: bool,
            space: Space,
            addr: Address,
            a: Vec<Operand>,
        },
        /// `movmatrix`: transposes one that the warp holds.
        MoveMatrix {
            d: Dst,
            a: Operand,
        },
        /// `mma` and `wmma.mma`: D = A * B + C.
        Mma {
            mma: Mma,
            d: Vec<Dst>,
            a: Vec<Operand>,
            b: Vec<Operand>,
            c: Vec<Operand>,
        },
        /// `wmma.load`: rows, or columns, are `stride` elements apart.
        WmmaLoad {
            fragment: Fragment,
            by_rows: bool,
            space: Space,
            d: Vec<Dst>,
            addr: Address,
            stride: Option<Operand>,
        },
        WmmaStore {
            fragment: Fragment,
            by_rows: bool,
            space: Space,
            addr: Address,
            a: Vec<Operand>,
            stride: Option<Operand>,
        },
        /// `fence.proxy.async`: what the thread knows of is there for copies that go by themselves.
        ProxyFence,
        /// `wgmma.mma_async`: D = A * B + D, or D = A * B where `add` is false. A is in registers, or where its descriptor says.
        Wgmma {
            form: Wgmma,
            d: Vec<Dst>,
            c: Vec<Operand>,
            a: Vec<Operand>,
            a_at: Option<Operand>,
            b_at: Operand,
            add: PredOperand,
        },
        /// `wgmma.fence`, `.commit_group` and `.wait_group`.
        Warpgroup(WarpgroupOp),
        /// `setmaxnreg`: the warp has so many registers a thread from here on.
        SetMaxRegisters(u32),
        /// `membar` and `fence`.
        Fence {
            ordering: Ordering,
            scope: Scope,
        },
        Bra {
            target: LabelId,
            uniform: bool,
        },
        /// `brx.idx index, list`.
        BrxIdx {
            index: Operand,
            targets: Vec<LabelId>,
        },
        Call {
            callee: Callee,
            args: Vec<CallArg>,
            returns: Vec<CallResult>,
            uniform: bool,
        },
        Ret,
        Exit,
        Trap,
        Brkpt,
        /// Instructions whose effect is none here: `nanosleep`, `pmevent`, `griddepcontrol`,
        /// `discard`, `applypriority`, the `.pragma` of a loop.
        Nop(NopKind),
        /// Known to the manual or not, but not to us: executing it is a fault that says so.
        Unsupported {
            opcode: String,
            reason: String,
        },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NopKind {
    Nanosleep,
    Other,
}

/// Cache hints, which never change a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cache {
    /// `.nc`: through the read-only path.
    pub non_coherent: bool,
    /// `.cs`, `.lu`, `.L1::no_allocate` or `evict_first`: used once.
    pub streaming: bool,
    /// `.cg`: not in L1.
    pub l2_only: bool,
}

impl Mode {
    /// The mode of an instruction without modifiers.
    pub fn plain() -> Self {
        Self { accuracy: Accuracy::Exact, ..Self::default() }
    }
}
