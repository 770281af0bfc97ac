//! What the source declares the elements of a buffer to be.

use fusion_course::DType;
use fusion_machine::report::Kind;
use fusion_machine::report::kind::Memory;

use super::{Cause, Seen, signature};

/// Types of numbers: name, bytes, and which of the course's types it is.
const FLOATS: [(&str, usize, Option<DType>); 6] = [
    ("float", 4, Some(DType::F32)),
    ("double", 8, None),
    ("half", 2, Some(DType::F16)),
    ("__half", 2, Some(DType::F16)),
    ("nv_bfloat16", 2, Some(DType::Bf16)),
    ("__nv_bfloat16", 2, Some(DType::Bf16)),
];

/// Types of integers, each of which may as well stand for several smaller numbers.
const INTEGERS: [(&str, usize); 10] = [
    ("short", 2),
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
