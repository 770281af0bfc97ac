//! The shared memory that a launch asks for.

use fusion_machine::report::Kind;
use fusion_machine::report::kind::Memory;

use super::{Cause, Seen};

/// Too little, for a reason that the number shows: none at all, or elements counted where bytes are.
pub(super) fn size(seen: &Seen<'_>) -> Option<Cause> {
    let (access, fixed, dynamic) = seen.faults().find_map(|fault| match fault.kind {
        Kind::Memory(Memory::OutsideShared { access, fixed, dynamic, .. }) => Some((access, fixed, dynamic)),
        _ => None,
    })?;
    // Before the start, the size is not to blame.
    if !declares_extern(&seen.source.text) || access.address < u64::from(fixed) {
        return None;
    }
    let dynamic = u64::from(dynamic);
    if dynamic == 0 {
        return Some(Cause::NoShared { bytes: access.bytes });
    }
    let shape = seen.shape();
    let counts = [("columns", shape.columns), ("elements", shape.elements())];
    let count = counts.into_iter().find(|(_, count)| *count as u64 == dynamic)?;
    (access.bytes > 1).then_some(Cause::SharedInElements { dynamic, count: count.0, each: access.bytes })
}

/// Whether a source has memory whose size the launch decides: `extern __shared__`.
fn declares_extern(source: &str) -> bool {
    let tokens = fusion_cpp::tokens(source);
    tokens.windows(2).any(|pair| pair[0].text(source) == "extern" && pair[1].text(source) == "__shared__")
}
