//! A race between two operations, in words.

use fusion_machine::report::{Blame, Buffer, Related};
use fusion_machine::{Fault, Footprint};

use super::act::Act;
use super::overlap::{Overlap, Side};
use super::{Past, State};

/// The fault of two operations that nothing orders.
pub(super) fn tell(state: &State, earlier: &Past, later: &Past, overlap: &Overlap) -> Fault {
    let code = if earlier.act.with_host() || later.act.with_host() { "E-RACE-HOST" } else { "E-RACE-STREAMS" };
    let buffer = buffer(state, earlier, later, overlap);
    let name = buffer.as_ref().map_or_else(|| "device memory".to_owned(), |buffer| format!("`{}`", buffer.name));
    let may_still = format!(
        "while {} may still be {} it",
        earlier.act.name(),
        if overlap.earlier.writes { "writing" } else { "reading" }
    );
    let title = match later.act {
        Act::Free => format!("{name} is freed {may_still}"),
        _ => format!("{} {} {name} {may_still}", later.act.name(), verb(overlap.later)),
    };
    let mut fault = Fault::new(code, Blame::Kernel, title);
    fault.count = 1;
    place(&mut fault, earlier, later, overlap, &name);
    fault.notes = notes(earlier, later, overlap, buffer.as_ref());
    fault.help = help(earlier, later);
    fault.related.extend(state.sites.related(overlap.start));
    fault.buffer = buffer;
    fault
}

fn verb(side: Side) -> &'static str {
    if side.writes { "writes" } else { "reads" }
}

/// The later kernel's access is the primary place, and the earlier one's the other; of one that is no kernel there is
/// no place.
fn place(fault: &mut Fault, earlier: &Past, later: &Past, overlap: &Overlap, name: &str) {
    let of = |past: &Past, side: Side| match &past.act {
        Act::Launch(launch) => Some((launch.kernel_name(), side.pc.map(|pc| launch.place(pc)).unwrap_or_default())),
        _ => None,
    };
    let label = |kernel: &str, side: Side| format!("`{kernel}` {} {name} here", verb(side));
    let first = of(earlier, overlap.earlier);
    match (of(later, overlap.later), first) {
        (Some((kernel, (source, ptx))), first) => {
            fault.label = label(&kernel, overlap.later);
            (fault.kernel, fault.source, fault.ptx) = (kernel, source, ptx);
            if let Some((kernel, (source, ptx))) =
                first.filter(|(_, (source, ptx))| !source.is_empty() || ptx.is_some())
            {
                let label = label(&kernel, overlap.earlier);
                fault.related.push(Related { label, source, ptx, ..Related::default() });
            }
        }
        (None, Some((kernel, (source, ptx)))) => {
            fault.label = label(&kernel, overlap.earlier);
            (fault.kernel, fault.source, fault.ptx) = (kernel, source, ptx);
        }
        (None, None) => {}
    }
    if fault.source.is_empty() && fault.ptx.is_none() {
        fault.label.clear();
    }
}

fn notes(earlier: &Past, later: &Past, overlap: &Overlap, buffer: Option<&Buffer>) -> Vec<String> {
    let mut notes = vec![match earlier.place == later.place {
        true => format!("both were put into {}, at times when nothing ordered them", earlier.place),
        false => format!(
            "{} was put into {}, and {} into {}: nothing makes the second wait for the first",
            earlier.act.name(),
            earlier.place,
            later.act.name(),
            later.place
        ),
    }];
    if let Some(buffer) = buffer {
        let last = buffer.offset + i64::from(buffer.bytes) - 1;
        notes.push(format!(
            "both touch bytes {} to {last} of `{}`, which has {}",
            buffer.offset, buffer.name, buffer.size
        ));
    }
    if overlap.earlier.writes || overlap.later.writes {
        notes.push("on a GPU the result depends on which of them is quicker".into());
    }
    notes
}

fn help(earlier: &Past, later: &Past) -> Vec<String> {
    let what = match later.act {
        Act::Launch(_) => "the launch",
        Act::Free => "the free",
        Act::Memset => "the memset",
        Act::ToDevice | Act::ToHost | Act::WithinDevice => "the copy",
    };
    let mut help = vec![format!(
        "let the second stream wait before {what}: `second.join(&first)?`, or an event recorded behind the first operation: \
         `let done = first.record_event(None)?; second.wait(&done)?`"
    )];
    if later.act.with_host() || earlier.act.with_host() {
        help.push("or copy on the stream that the kernel runs on: one stream does one thing after another".into());
    } else {
        help.push("or let the host wait in between: `first.synchronize()?`".into());
    }
    help
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
        None => (format!("an allocation of {size} bytes"), None),
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
