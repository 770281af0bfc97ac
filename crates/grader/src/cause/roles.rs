//! What a pointer is for, beside what it received.

use fusion_machine::report::Kind;
use fusion_machine::report::kind::{Init, Undefined, Use};

use super::{Cause, Role, Seen, arguments, say, signature};

/// A pointer to what is only read received an output, and one to what may be written an input. Where they are called as no buffers
/// of the exercise, nothing else tells which is meant for which.
pub(super) fn swapped(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let declared = signature::parameters(&seen.source.text, &launch.kernel)?;
    let pointers = launch.arguments.iter().zip(&declared).enumerate();
    let received =
        pointers.filter(|(_, (_, declared))| declared.pointers == 1).filter_map(|(index, (argument, declared))| {
            let buffer = seen.at(argument.unsigned()?)?;
            Some((declared, Role { index, name: declared.name.clone(), received: buffer.name }))
        });
    let received: Vec<_> = received.collect();
    let output = |role: &Role| seen.exercise.outputs.iter().find(|output| output.name == role.received);
    let is_const = |words: &[String]| words.iter().any(|word| word == "const");
    let read = received
        .iter()
        .find(|(declared, role)| is_const(&declared.words) && output(role).is_some_and(|output| !output.updated));
    let written = received.iter().find(|(declared, role)| {
        !is_const(&declared.words) && seen.exercise.inputs.iter().any(|input| input.name == role.received)
    });
    Some(Cause::Roles {
        written: written?.1.clone(),
        read: read?.1.clone(),
        order: declared.iter().map(|declared| declared.name.clone()).collect(),
        kernel: arguments::as_listed(launch, seen),
    })
}

/// What was read and never written is memory of the launch function's own, under the name of a buffer that the launch function has.
pub(super) fn other_memory(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let fault = seen.faults().next()?;
    let unwritten = matches!(fault.kind, Kind::Init(Init::Used { what: Undefined::Global, .. }));
    let index = fault.buffer.as_ref().filter(|_| unwritten)?.argument? as usize;
    let argument = launch.arguments.get(index)?;
    let name = argument.name.clone()?;
    let known = seen.buffers.iter().any(|buffer| buffer.param.name == name);
    (known && seen.at(argument.unsigned()?).is_none()).then_some(Cause::OtherMemory { index, name })
}

/// Memory of the launch function's own that atomics add to, and that nothing was ever written to: blocks come in any order, so that none of
/// them can do that first.
pub(super) fn not_cleared(seen: &Seen<'_>) -> Option<String> {
    let launch = seen.launch()?;
    let fault = seen.faults().next()?;
    let updated = matches!(fault.kind, Kind::Init(Init::Used { what: Undefined::Global, by: Use::Updated, .. }));
    let index = fault.buffer.as_ref().filter(|_| updated)?.argument? as usize;
    let argument = launch.arguments.get(index)?;
    let name = argument.name.as_deref().filter(|_| seen.at(argument.unsigned().unwrap_or(0)).is_none())?;
    Some(say::not_cleared(name, seen))
}
