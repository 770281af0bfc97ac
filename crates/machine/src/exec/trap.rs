//! What stops a kernel, before it is known where in the source that is.

use crate::report::Blame;

/// A mistake found while executing an instruction.
#[derive(Debug)]
pub(crate) struct Trap {
    pub(crate) code: &'static str,
    pub(crate) blame: Blame,
    pub(crate) title: String,
    pub(crate) notes: Vec<String>,
    /// The lanes of the warp that did it.
    pub(crate) lanes: u32,
    /// The instruction, where it is not the one being executed.
    pub(crate) pc: Option<u32>,
}

/// Boxed, because it is the rare case.
pub(crate) type Trapped<T = ()> = Result<T, Box<Trap>>;

impl Trap {
    pub(crate) fn new(code: &'static str, lanes: u32, title: impl Into<String>) -> Box<Self> {
        let blame = Blame::Kernel;
        Box::new(Self { code, blame, title: title.into(), notes: Vec::new(), lanes, pc: None })
    }

    pub(crate) fn note(mut self: Box<Self>, note: impl Into<String>) -> Box<Self> {
        self.notes.push(note.into());
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
