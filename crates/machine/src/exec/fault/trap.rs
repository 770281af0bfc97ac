//! What stops a kernel, before it is known where in the source that is.

use crate::report::{Buffer, Code, Kind, Role};

/// A mistake found while executing an instruction.
#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) kind: Kind,
    /// The lanes of the warp that did it.
    pub(crate) lanes: u32,
    /// The instruction, where it is not the one being executed.
    pub(crate) pc: Option<u32>,
    pub(crate) parties: Vec<Party>,
    pub(crate) buffer: Option<Buffer>,
}

/// Another place that a mistake is about.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    pub(crate) role: Role,
    /// Its instruction.
    pub(crate) pc: u32,
    /// Its block and, within that, its thread, in the grid's and the block's order.
    pub(crate) block: Option<u64>,
    pub(crate) thread: Option<u32>,
}

/// Boxed, because it is the rare case.
pub(crate) type Trapped<T = ()> = Result<T, Box<Trap>>;

impl Trap {
    pub(crate) fn new(kind: impl Into<Kind>, lanes: u32) -> Box<Self> {
        Box::new(Self { kind: kind.into(), lanes, pc: None, parties: Vec::new(), buffer: None })
    }

    pub(crate) fn code(&self) -> Code {
        self.kind.code()
    }

    pub(crate) fn party(mut self: Box<Self>, party: Party) -> Box<Self> {
        self.parties.push(party);
        self
    }

    pub(crate) fn about(mut self: Box<Self>, buffer: Option<Buffer>) -> Box<Self> {
        self.buffer = buffer;
        self
    }

    pub(crate) fn at(mut self: Box<Self>, pc: u32) -> Box<Self> {
        self.pc = Some(pc);
        self
    }
}

impl Party {
    /// An instruction that nobody in particular executes.
    pub(crate) fn at(pc: u32, role: Role) -> Self {
        Self { role, pc, block: None, thread: None }
    }
}
