//! What the interpreter executes: micro-operations whose operands are slots of a warp's register file.
//!
//! A slot holds one value for each of the 32 lanes. There are three files: words (registers of 32
//! bits and fewer, kept zero-extended), doubles (64 bits) and predicates (one bit a lane).
//! Immediates and special registers are slots too, filled before the code runs, so that the
//! interpreter's loops know one kind of operand only.

pub(crate) mod flow;
mod fragments;
mod micro;
mod operand;
mod rule;
mod slow;
mod spread;
mod table;

use std::ops::Range;

use fusion_ptx::ast::{BoolOp, LocId, Ordering, Scope, Span};

pub(crate) use fragments::{Fragments, Places};
pub(crate) use micro::{Compared, D2, D3, D4, MicroOp};
use operand::name;
pub(crate) use operand::{CARRY, Operands, Reg, Role, Slot, TRUE, flag, word};
#[cfg(test)]
pub(crate) use rule::XOR;
pub(crate) use rule::{AND, OR, PerLane, Rule};
pub(crate) use slow::{
    Argument, Atomic, Call, CarryKind, CarryOp, Checked, Collective, CopyBulk, CopyTensor, Dynamic, Lint, MatrixAccess,
    Mbarrier, Product, Reduce, SlowOp, StoreAsync, Target, WarpgroupProduct,
};
pub(crate) use spread::Spread;
use table::{field, part};

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

impl Operands for Comparison {
    fn operands(&self, _: &Code, f: &mut dyn FnMut(Role, Reg)) {
        name(&[self.a, self.b], word, Role::Read, f);
        name(&self.combine, flag, Role::Read, f);
        if let Some((d, _)) = self.value {
            if self.keep != 0 {
                f(Role::Read, d);
            }
            f(Role::Write, d);
        }
        name(&[self.p, self.q], flag, Role::Write, f);
    }
}

part! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct TernaryOp {
        f: fn(u64, u64, u64) -> u64,
        d: Reg = Write,
        a: Reg = Read,
        b: Reg = Read,
        c: Reg = Read,
    }
}

part! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct QuaternaryOp {
        f: fn(u64, u64, u64, u64) -> u64,
        d: Reg = Write,
        sources: [Reg; 4] = Read,
    }
}

/// Which memory an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Global,
    Constant,
    Shared,
    /// The shared memory of the blocks of a cluster, the own block's among it.
    Cluster,
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
    pub(crate) root: Root,
}

/// What an address was computed from, as far as the code tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Root {
    #[default]
    Unknown,
    /// A shared variable that has a size: index into [`Code::shared`].
    Shared(u32),
}

/// What an access says to other threads beyond its value (PTX ISA 8.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// `.volatile`, `.relaxed` or more, and every atomic.
    pub(crate) strong: bool,
    pub(crate) acquire: bool,
    pub(crate) release: bool,
    /// For the threads of the own block only, or of its cluster.
    pub(crate) narrow: bool,
    /// For those of its cluster, where it is narrow.
    pub(crate) clustered: bool,
    /// `.volatile`, which says nothing but that the access is made.
    pub(crate) volatile: bool,
    /// `.sc`: of two such fences one comes first, for everyone.
    pub(crate) total: bool,
}

impl Order {
    pub(crate) const WEAK: Self = Self {
        strong: false,
        acquire: false,
        release: false,
        narrow: false,
        clustered: false,
        volatile: false,
        total: false,
    };

    pub(crate) fn new(ordering: Ordering, scope: Scope) -> Self {
        Self {
            strong: ordering != Ordering::Weak,
            acquire: matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst),
            release: matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst),
            clustered: scope == Scope::Cluster,
            narrow: matches!(scope, Scope::Cta | Scope::Cluster),
            volatile: ordering == Ordering::Volatile,
            total: ordering == Ordering::SeqCst,
        }
    }
}

/// A load or store of one to eight elements a lane.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) stores: bool,
    pub(crate) place: Place,
    pub(crate) address: AddressOf,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) element: u32,
    pub(crate) signed: bool,
    /// One an element; `None` drops what was loaded.
    pub(crate) regs: Vec<Option<Reg>>,
    /// Every register is a word and every element has four bytes.
    pub(crate) words: bool,
    /// Through the path for what nobody writes while the kernel runs (`ld.global.nc`).
    pub(crate) read_only: bool,
    pub(crate) order: Order,
}

impl Operands for Access {
    fn operands(&self, _: &Code, f: &mut dyn FnMut(Role, Reg)) {
        name(&self.address, word, Role::Address, f);
        name(&self.regs, word, if self.stores { Role::Read } else { Role::Write }, f);
    }
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
    /// The address of so many bytes into the block's shared memory.
    Shared(u64),
    Tid(u8),
    LaneId,
    WarpId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    /// Where the block is in its cluster, and the cluster in the grid.
    ClusterCtaid(u8),
    ClusterId(u8),
    ClusterCtarank,
    /// Known from the launch: threads of a block, blocks of the grid, and so on.
    Ntid(u8),
    Nctaid(u8),
    NwarpId,
    ClusterNctaid(u8),
    NclusterId(u8),
    ClusterNctarank,
    IsExplicitCluster,
    NsmId,
    GridId,
    /// The address by which the blocks of a cooperative launch find their barrier, in two halves.
    GridWorkspace,
    GridWorkspaceHigh,
    /// Rounded up as the hardware does, without and with what the system reserves.
    SharedSize,
    AllSharedSize,
    DynamicSharedSize,
    /// Differs from block to block.
    Ctaid(u8),
    SmId,
}

impl Fill {
    pub(crate) fn differs_by_block(self) -> bool {
        use Fill::{ClusterCtaid, ClusterCtarank, ClusterId, Ctaid, Shared, SmId};
        matches!(self, Ctaid(_) | SmId | ClusterCtaid(_) | ClusterId(_) | ClusterCtarank | Shared(_))
    }

    /// What the code alone tells: a number, or where in the block's shared memory a variable lies.
    pub(crate) fn known(self) -> Option<u64> {
        match self {
            Fill::Constant(value) | Fill::Shared(value) => Some(value),
            _ => None,
        }
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
    /// Where loops begin that the assembler is told not to unroll.
    pub(crate) nounroll: Vec<u32>,
    /// Registers that may be read before they are written; a run starts with zeros there.
    pub(crate) cleared: Vec<Reg>,
    /// Bytes of local memory: variables, then parameter variables of calls.
    pub(crate) frame_bytes: u32,
    /// Which of them have an address.
    pub(crate) locals: Range<u32>,
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
    pub(crate) quaternaries: Vec<QuaternaryOp>,
    pub(crate) slow: Vec<SlowOp>,
    /// By instruction, in order, where it is not [`Spread::Whole`].
    pub(crate) spreads: Vec<(u32, Spread)>,
    /// Indexed by [`FunctionId`]; empty where the kernel cannot get.
    pub(crate) functions: Vec<Option<Function>>,
    pub(crate) entry: u32,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) static_shared: u32,
    /// What lies before it, if the kernel looks at what the system keeps for itself.
    pub(crate) reserved_shared: u32,
    /// Where the launch's dynamic shared memory begins.
    pub(crate) dynamic_shared_offset: u32,
    /// Blocks talk to each other through global memory: they must run in a fixed order.
    pub(crate) communicates: bool,
    /// What a block does may depend on what others have done by then.
    pub(crate) waits: bool,
    /// It has barriers of the cluster, and each arrival there is followed by the wait at once.
    pub(crate) cluster_barriers: bool,
    pub(crate) cluster_syncs: bool,
    /// It maps addresses to other blocks' shared memory.
    pub(crate) maps: bool,
    /// It has fences that reach beyond the block.
    pub(crate) fences: bool,
    /// It calls `malloc` or `free`.
    pub(crate) uses_heap: bool,
    pub(crate) param_bytes: u32,
}

impl Code {
    /// The load or store at a place in the code.
    pub(crate) fn access(&self, pc: u32) -> Option<&Access> {
        match self.insts.get(pc as usize)?.op {
            MicroOp::Load(index) | MicroOp::Store(index) => self.accesses.get(index as usize),
            MicroOp::Slow(index) => match self.slow.get(index as usize)? {
                SlowOp::Matrix(access) => Some(&access.row),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn function(&self, id: u32) -> Option<&Function> {
        self.functions.get(id as usize)?.as_ref()
    }

    /// The slow operation that an instruction is, if it is one.
    pub(crate) fn slow_at(&self, pc: u32) -> Option<&SlowOp> {
        match self.insts.get(pc as usize)?.op {
            MicroOp::Slow(index) => self.slow.get(index as usize),
            _ => None,
        }
    }

    /// Whether an instruction ends the kernel, or the function.
    pub(crate) fn leaves(&self, pc: u32) -> bool {
        matches!(self.slow_at(pc), Some(SlowOp::Exit | SlowOp::Return))
    }

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

    /// Which block's shared memory an address means: above this bit stands the rank of a block in its cluster, the own one's, too. PTX
    /// leaves open which bits tell. So they do on an H100, and whoever puts a whole address where a part of one is wanted, such as into
    /// the descriptor of a matrix, must cut the rank off.
    pub(crate) const RANK: u32 = 24;
    /// The largest that can stand there.
    pub(crate) const MOST_RANK: u32 = 255;
}
