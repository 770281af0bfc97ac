//! Kernels that stop themselves, and what the emulator cannot execute.

use fusion_machine::report::kind::{Stop, Unsupported};

use super::Words;
use crate::counted;

pub(super) fn words(kind: &Stop) -> Words {
    match kind {
        Stop::Trap => Words::new("the kernel stopped itself (trap)")
            .note("a __trap(), a failed assertion without its message, or code that the compiler knows to be wrong"),
        Stop::BranchTable { index, targets } => {
            Words::new("a branch table's index is past its end").note(format!("index {index} of {targets} targets"))
        }
        Stop::Assertion { message, file, line, function } => {
            Words::new(format!("assertion `{message}` failed")).note(format!("{file}:{line}: {function}"))
        }
        Stop::StackOverflow { function, depth, local_bytes } => Words::new(format!("stack overflow in `{function}`"))
            .note(format!(
                "{} deep, {} of local memory",
                counted(*depth, "call"),
                counted((*local_bytes).into(), "byte")
            ))
            .note("a recursion that does not end?"),
        Stop::NoFunction { address } => Words::new(format!("call through {address:#x}, which is no function")),
    }
}

pub(super) fn unsupported(kind: &Unsupported) -> Words {
    match kind {
        Unsupported::Instruction { opcode, reason } => {
            let title = match opcode.as_str() {
                "" => "the emulator does not support this instruction".to_owned(),
                opcode => format!("the emulator does not support `{opcode}`"),
            };
            Words::new(title).note(reason.clone())
        }
        Unsupported::NoBody => Words::new("call of a function that has no body"),
    }
}
