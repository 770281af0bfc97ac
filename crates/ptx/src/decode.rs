//! An opcode, its modifiers and its operands to a typed [`Op`] (PTX ISA 9.7).
//!
//! Each module below decodes one group of the manual's instructions. It takes the modifiers that it
//! knows, in whatever order they stand, and then the operands in theirs. Modifiers that are left
//! over make the instruction unsupported; operands that are left over make it wrong.

mod atomics;
mod bulk;
mod compare;
mod control;
mod convert;
mod float;
mod integer;
mod logic;
mod matrix;
mod mbarrier;
mod memory;
mod modifiers;
mod operands;
mod warp;
mod warpgroup;

use crate::Diagnostic;
use crate::ast::{Function, Module, Op, Span};
use crate::names::Names;
use crate::parser::{Arg, quote};

/// Why there is no typed instruction.
#[derive(Debug)]
pub(crate) enum Problem {
    /// Perhaps it is right, but we cannot tell or cannot execute it. The reason completes "cannot be executed: ".
    Unsupported(String),
    /// It lacks a modifier.
    Incomplete(Diagnostic),
    /// Its operands are wrong.
    Invalid(Diagnostic),
}

impl From<Diagnostic> for Problem {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(diagnostic)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Problem>;

pub(crate) struct Decoder<'p, 'a> {
    opcode: &'a str,
    /// Of the opcode and its modifiers.
    span: Span,
    /// `None` once taken.
    modifiers: Vec<Option<&'a str>>,
    args: std::vec::IntoIter<Arg<'a>>,
    /// Whether `.L2::cache_hint` announced one more operand.
    has_policy: bool,
    module: &'p Module,
    names: &'p mut Names<'a>,
    function: &'p mut Function,
}

type Group = fn(&mut Decoder<'_, '_>) -> Result<Op>;

/// Each group with the opcodes that it decodes.
const GROUPS: &[(&[&str], Group)] = &[
    (&["add", "sub", "mul", "mad", "div", "abs", "neg", "min", "max"], arithmetic),
    (integer::OPCODES, integer::decode),
    (float::OPCODES, float::decode),
    (compare::OPCODES, compare::decode),
    (logic::OPCODES, logic::decode),
    (convert::OPCODES, convert::decode),
    (memory::OPCODES, memory::decode),
    (mbarrier::OPCODES, mbarrier::decode),
    (matrix::OPCODES, matrix::decode),
    (atomics::OPCODES, atomics::decode),
    (warp::OPCODES, warp::decode),
    (warpgroup::OPCODES, warpgroup::decode),
    (control::OPCODES, control::decode),
];

/// Who decodes an opcode.
fn group(opcode: &str) -> Option<Group> {
    GROUPS.iter().find(|(opcodes, _)| opcodes.contains(&opcode)).map(|(_, group)| *group)
}

/// Whether an instruction of this name is decoded at all.
pub(crate) fn is_opcode(name: &str) -> bool {
    group(name).is_some()
}

/// The operations that exist for integers and for floats.
fn arithmetic(decoder: &mut Decoder<'_, '_>) -> Result<Op> {
    if decoder.is_float() { float::decode(decoder) } else { integer::decode(decoder) }
}

/// An instruction whose operands are not even looked at.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) reason: &'static str,
    /// Whether the manual has it: programs that never come to it need no warning.
    pub(crate) known: bool,
}

pub(crate) fn foreign(opcode: &str, modifiers: &[&str]) -> Option<Foreign> {
    let has = |name: &str| modifiers.contains(&name);
    let reason = match opcode {
        "tcgen05" => "the tensor-core instructions of `tcgen05` are not emulated",
        "red" | "st" if has("bulk") => "bulk stores are not emulated",
        "tensormap" | "multimem" | "clusterlaunchcontrol" => {
            "changes to tensor maps, multicast memory and the control of clusters' launches are not emulated"
        }
        "tex" | "tld4" | "txq" | "istypep" | "suld" | "sust" | "sured" | "suq" => {
            "textures and surfaces are not emulated"
        }
        "alloca" | "stacksave" | "stackrestore" => "stack allocation is not emulated",
        // Below stand those of which some may be decoded.
        _ if group(opcode).is_some() => return None,
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" | "vadd2" | "vsub2"
        | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4" | "vabsdiff4"
        | "vmin4" | "vmax4" | "vset4" => "video instructions are not emulated",
        _ => return Some(Foreign { reason: "it is not an instruction that the emulator knows", known: false }),
    };
    Some(Foreign { reason, known: true })
}

impl<'p, 'a> Decoder<'p, 'a> {
    pub(crate) fn new(
        opcode: &'a str,
        span: Span,
        modifiers: Vec<&'a str>,
        args: Vec<Arg<'a>>,
        module: &'p Module,
        names: &'p mut Names<'a>,
        function: &'p mut Function,
    ) -> Self {
        let modifiers = modifiers.into_iter().map(Some).collect();
        Self { opcode, span, modifiers, args: args.into_iter(), has_policy: false, module, names, function }
    }

    pub(crate) fn decode(mut self) -> Result<Op> {
        let Some(group) = group(self.opcode) else {
            return Err(Problem::Unsupported("it is not known".to_string()));
        };
        let op = group(&mut self);
        // An unknown modifier explains operands that do not fit, and perhaps what is missing.
        let unknown = match op {
            Err(Problem::Unsupported(_)) => None,
            Err(Problem::Incomplete(_)) => self.modifiers.iter().flatten().find(|name| !modifiers::is_common(name)),
            _ => self.modifiers.iter().flatten().next(),
        };
        if let Some(modifier) = unknown {
            let reason = format!("the emulator does not know `.{modifier}` of `{}`", self.opcode);
            return Err(Problem::Unsupported(reason));
        }
        let op = op?;
        match self.args.next() {
            Some(arg) => Err(Diagnostic::error(arg.span, format!("`{}` takes no such operand", self.opcode)).into()),
            None => Ok(op),
        }
    }

    /// A modifier is missing.
    fn incomplete<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Problem::Incomplete(Diagnostic::error(self.span, message)))
    }

    /// The operands as a whole are wrong.
    fn invalid<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Problem::Invalid(Diagnostic::error(self.span, message)))
    }

    fn unsupported<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Problem::Unsupported(reason.into()))
    }

    fn undeclared(&self, name: &str, span: Span) -> Problem {
        let what = if name.starts_with('%') { "the register" } else { "the name" };
        Diagnostic::error(span, format!("{what} {} is not declared", quote(name))).into()
    }
}
