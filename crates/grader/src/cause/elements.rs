//! What the source declares the elements of a buffer to be.

use fusion_course::DType;
use fusion_machine::report::Kind;
use fusion_machine::report::kind::{Init, Memory, Undefined};

use super::{Cause, Seen, say, signature};
use crate::judgement::{Code, Failure};

/// Types of numbers: name, bytes, and which of the course's types it is.
const FLOATS: [(&str, usize, Option<DType>); 8] = [
    ("float", 4, Some(DType::F32)),
    ("double", 8, None),
    ("half", 2, Some(DType::F16)),
    ("__half", 2, Some(DType::F16)),
    ("nv_bfloat16", 2, Some(DType::Bf16)),
    ("__nv_bfloat16", 2, Some(DType::Bf16)),
    ("__nv_fp8_e4m3", 1, Some(DType::E4m3)),
    ("__nv_fp8_e5m2", 1, None),
];

/// Types of integers, each of which may as well stand for several smaller numbers.
const INTEGERS: [(&str, usize); 11] = [
    ("short", 2),
    ("unsigned short", 2),
    ("int16_t", 2),
    ("uint16_t", 2),
    ("int", 4),
    ("unsigned", 4),
    ("unsigned int", 4),
    ("int32_t", 4),
    ("uint32_t", 4),
    ("long long", 8),
    ("int64_t", 8),
];

/// A parameter that is declared as a pointer to other numbers than those of the buffer that it received.
pub(super) fn of_another_type(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let parameters = signature::parameters(&seen.source.text, &launch.kernel)?;
    let pointers = launch.arguments.iter().zip(&parameters).filter(|(_, declared)| declared.pointers == 1);
    pointers.into_iter().find_map(|(argument, declared)| {
        let buffer = seen.at(argument.unsigned()?)?;
        let (name, plain, has) = (declared.name.clone(), declared.plain(), buffer.dtype);
        let float = FLOATS.iter().find(|(known, ..)| plain == *known);
        let bytes = match float {
            Some((_, bytes, dtype)) => Some(*bytes).filter(|_| *dtype != Some(has)),
            None => integers(&plain).filter(|bytes| *bytes > has.bytes() && misses(seen, &name, *bytes)),
        };
        Some(Cause::Elements { name, declared: plain, takes: bytes?, packs: float.is_none(), has })
    })
}

/// An output is read in which nothing was ever written: nothing is there before the launch.
pub(super) fn read_before(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let fault = seen.faults().next()?;
    let unwritten = matches!(fault.kind, Kind::Init(Init::Used { what: Undefined::Global, .. }));
    let index = fault.buffer.as_ref().filter(|_| unwritten)?.argument? as usize;
    let argument = launch.arguments.get(index)?;
    let param = seen.at(argument.unsigned()?)?;
    let output = seen.exercise.outputs.iter().find(|output| output.name == param.name && !output.updated)?;
    let other = argument.name.clone().filter(|name| name != output.name).map(|name| (index, name));
    Some(Cause::ReadsOutput { name: output.name, other })
}

/// What is to be said of a buffer of floats that a kernel takes for integers of the same size: it may mean their bits.
pub(super) fn as_integers(failure: &Failure, seen: &Seen<'_>) -> Option<String> {
    let launch = seen.launch().filter(|_| failure.code == Code::Values)?;
    let parameters = signature::parameters(&seen.source.text, &launch.kernel)?;
    launch.arguments.iter().zip(&parameters).find_map(|(argument, declared)| {
        let buffer = seen.at(argument.unsigned()?).filter(|_| declared.pointers == 1)?;
        let (plain, has) = (declared.plain(), buffer.dtype);
        let bits = !matches!(has, DType::I8 | DType::I32 | DType::U64) && integers(&plain) == Some(has.bytes());
        bits.then(|| say::as_integers(&declared.name, &plain, has))
    })
}

/// The bytes of a number of a type, by its name.
pub(super) fn bytes(plain: &str) -> Option<usize> {
    FLOATS.iter().find(|(known, ..)| plain == *known).map(|(_, bytes, _)| *bytes).or_else(|| integers(plain))
}

fn integers(plain: &str) -> Option<usize> {
    INTEGERS.iter().find(|(known, _)| plain == *known).map(|(_, bytes)| *bytes)
}

/// Whether an access of so many bytes left the buffer that a parameter points to.
fn misses(seen: &Seen<'_>, name: &str, bytes: usize) -> bool {
    seen.faults().any(|fault| {
        let of = || fault.buffer.as_ref().and_then(|buffer| buffer.name.identifier());
        match fault.kind {
            Kind::Memory(Memory::OutOfBounds { access, .. }) => access.bytes == bytes as u64 && of() == Some(name),
            _ => false,
        }
    })
}
