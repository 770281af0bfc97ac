//! A race between two operations, as a fault.

use fusion_machine::report::kind::{Operation, Unordered};
use fusion_machine::report::{Buffer, Name, Related, Role};
use fusion_machine::{Fault, Footprint};

use super::act::Act;
use super::overlap::{Overlap, Side};
use super::{Past, State};

/// The fault of two operations that nothing orders.
pub(super) fn tell(state: &State, earlier: &Past, later: &Past, overlap: &Overlap) -> Fault {
    let operation =
        |past: &Past, side: Side| Operation { act: past.act.kind(), stream: past.stream_number, write: side.writes };
    let kind = Unordered { earlier: operation(earlier, overlap.earlier), later: operation(later, overlap.later) };
    let mut fault = Fault { count: 1, ..Fault::new(kind) };
    place(&mut fault, earlier, later, overlap);
    fault.related.extend(state.sites.related(overlap.start));
    fault.buffer = buffer(state, earlier, later, overlap);
    fault
}

/// The later kernel's access is the primary place, and the earlier one's the other; of one that is no kernel there is
/// no place.
fn place(fault: &mut Fault, earlier: &Past, later: &Past, overlap: &Overlap) {
    let of = |past: &Past, side: Side| match &past.act {
        Act::Launch(launch) => Some((launch.kernel_name(), side.pc.map(|pc| launch.place(pc)).unwrap_or_default())),
        _ => None,
    };
    match (of(later, overlap.later), of(earlier, overlap.earlier)) {
        (Some((kernel, (source, ptx))), first) => {
            (fault.kernel, fault.source, fault.ptx) = (kernel, source, ptx);
            if let Some((kernel, (source, ptx))) =
                first.filter(|(_, (source, ptx))| !source.is_empty() || ptx.is_some())
            {
                let role = Role::Operation { kernel, write: overlap.earlier.writes };
                fault.related.push(Related { source, ptx, ..Related::new(role) });
            }
        }
        (None, Some((kernel, (source, ptx)))) => {
            (fault.kernel, fault.source, fault.ptx) = (kernel, source, ptx);
        }
        (None, None) => {}
    }
}

/// The memory that they have in common, by the name that a kernel of the two has for it.
fn buffer(state: &State, earlier: &Past, later: &Past, overlap: &Overlap) -> Option<Buffer> {
    let memory = crate::driver::driver().ok()?.machine.memory();
    // What was freed by now is still known by its owner's size.
    let freed = matches!(later.act, Act::Free).then(|| whole(&later.footprint)).flatten();
    let (base, size) = match (memory.find(overlap.start), freed) {
        (Some(allocation), _) => (allocation.base, allocation.size),
        (None, Some(span)) => span,
        (None, None) => state.owned.get(&overlap.start).map(|owned| (overlap.start, owned.size))?,
    };
    let named = [later, earlier].into_iter().find_map(|past| match &past.act {
        Act::Launch(launch) => launch.argument_at(base, size),
        _ => None,
    });
    let (name, argument) = match named {
        Some((index, name)) => (name, Some(index)),
        None => (Name::Unnamed, None),
    };
    Some(Buffer {
        name,
        argument,
        size,
        offset: (overlap.start - base) as i64,
        bytes: u32::try_from(overlap.end - overlap.start).unwrap_or(u32::MAX),
    })
}

/// The only span that a free has.
fn whole(footprint: &Footprint) -> Option<(u64, u64)> {
    footprint.written.first().map(|span| (span.start, span.end - span.start))
}
