//! What stops a kernel, before it is known where in the source that is.

use crate::report::{Blame, Buffer};

/// A mistake found while executing an instruction.
#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) code: &'static str,
    pub(crate) blame: Blame,
    pub(crate) title: String,
    /// A few words for beneath the source line.
    pub(crate) label: String,
    pub(crate) notes: Vec<String>,
    pub(crate) help: Vec<String>,
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
    pub(crate) label: String,
    /// Its instruction.
    pub(crate) pc: u32,
    /// Its block and, within that, its thread, in the grid's and the block's order.
    pub(crate) block: Option<u64>,
    pub(crate) thread: Option<u32>,
}

/// Boxed, because it is the rare case.
pub(crate) type Trapped<T = ()> = Result<T, Box<Trap>>;

impl Trap {
    pub(crate) fn new(code: &'static str, lanes: u32, title: impl Into<String>) -> Box<Self> {
        let blame = Blame::Kernel;
        Box::new(Self {
            code,
            blame,
            title: title.into(),
            label: String::new(),
            notes: Vec::new(),
            help: Vec::new(),
            lanes,
            pc: None,
            parties: Vec::new(),
            buffer: None,
        })
    }

    pub(crate) fn note(mut self: Box<Self>, note: impl Into<String>) -> Box<Self> {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help.push(help.into());
        self
    }

    pub(crate) fn party(mut self: Box<Self>, party: Party) -> Box<Self> {
        self.parties.push(party);
        self
    }

    pub(crate) fn about(mut self: Box<Self>, buffer: Option<Buffer>) -> Box<Self> {
        self.buffer = buffer;
        self
    }

    pub(crate) fn blame(mut self: Box<Self>, blame: Blame) -> Box<Self> {
        self.blame = blame;
        self
    }

    pub(crate) fn at(mut self: Box<Self>, pc: u32) -> Box<Self> {
        self.pc = Some(pc);
        self
    }
}
