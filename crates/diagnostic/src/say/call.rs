//! What the host asks for: calls that are refused, and operations that nothing orders.

use fusion_machine::report::Fault;
use fusion_machine::report::kind::{Act, Call, Operation, Stray, Unordered};

use super::Words;
use super::terms::named;
use crate::counted;
use crate::places::kernel as kernel_name;

pub(super) fn words(kind: &Call) -> Words {
    match kind {
        Call::Copy(stray) => Words::new(match stray {
            Stray::Null => "a copy was given a null pointer".to_owned(),
            Stray::Unmapped { address } => format!("{address:#x} is not an address of device memory"),
            Stray::PastEnd { address, len, size, end } => format!(
                "a copy or memset of {} at {address:#x} goes {} past the end of its allocation of {}",
                counted(*len, "byte"),
                counted(address.saturating_add(*len).saturating_sub(*end), "byte"),
                counted(*size, "byte")
            ),
            Stray::Freed { address, base, size } => {
                format!(
                    "{address:#x} lies in the allocation of {} at {base:#x}, which has been freed",
                    counted(*size, "byte")
                )
            }
        }),
        Call::Free { address } => {
            Words::new(format!("{address:#x} is not the start of an allocation that can be freed"))
                .note("It was freed before, or never allocated, or points into the middle of one.")
        }
        Call::Module { error, log } => {
            let log = log.trim_end();
            Words::new(error.clone()).maybe((!log.is_empty()).then(|| log.to_owned()))
        }
        Call::OutOfMemory { requested, of_host: true, .. } => Words::new(format!(
            "the computer that emulates the device has not enough memory for {requested} bytes more"
        ))
        .note("Choose a smaller size, or free what is no longer needed."),
        Call::OutOfMemory { requested, free, .. } => {
            Words::new(format!("out of device memory: {requested} bytes requested, {free} free"))
        }
    }
}

/// Two operations that nothing orders.
pub(super) fn unordered(race: &Unordered, fault: &Fault) -> Words {
    let Unordered { earlier, later } = race;
    let memory = memory(fault);
    let may_still =
        format!("while {} may still be {} it", act(&earlier.act), if earlier.write { "writing" } else { "reading" });
    let words = Words::new(match later.act {
        Act::Free => format!("{memory} is freed {may_still}"),
        _ => format!("{} {} {memory} {may_still}", act(&later.act), verb(later.write)),
    });
    let placed = !fault.source.is_empty() || fault.ptx.is_some();
    let words = match [later, earlier].into_iter().find(|side| matches!(side.act, Act::Launch { .. })) {
        Some(Operation { act: Act::Launch { kernel }, write, .. }) if placed => {
            words.label(operation(kernel, *write, fault))
        }
        _ => words,
    };
    let words = words.note(match earlier.stream == later.stream {
        true => format!("both were put into {}, at times when nothing ordered them", stream(earlier.stream)),
        false => format!(
            "{} was put into {}, and {} into {}: nothing makes the second wait for the first",
            act(&earlier.act),
            stream(earlier.stream),
            act(&later.act),
            stream(later.stream)
        ),
    });
    let words = words.maybe(fault.buffer.as_ref().map(|buffer| {
        let last = buffer.offset + i64::from(buffer.bytes) - 1;
        format!("both touch bytes {} to {last} of {}, which has {}", buffer.offset, named(buffer), buffer.size)
    }));
    let words = match earlier.write || later.write {
        true => words.note("on a GPU the result depends on which of them is quicker"),
        false => words,
    };
    let what = match later.act {
        Act::Launch { .. } => "the launch",
        Act::Free => "the free",
        Act::Memset => "the memset",
        Act::ToDevice | Act::ToHost | Act::WithinDevice => "the copy",
    };
    let words = words.help(format!(
        "let the second stream wait before {what}: `second.join(&first)?`, or an event recorded behind the first operation: \
         `let done = first.record_event(None)?; second.wait(&done)?`"
    ));
    words.help(match later.act.with_host() || earlier.act.with_host() {
        true => "or copy on the stream that the kernel runs on: one stream does one thing after another",
        false => "or let the host wait in between: `first.synchronize()?`",
    })
}

/// The label of a kernel's access.
pub(super) fn operation(kernel: &str, write: bool, fault: &Fault) -> String {
    format!("`{}` {} {} here", kernel_name(kernel), verb(write), memory(fault))
}

fn memory(fault: &Fault) -> String {
    fault.buffer.as_ref().map_or_else(|| "device memory".to_owned(), named)
}

fn verb(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

fn stream(number: u32) -> String {
    match number {
        0 => "the default stream".to_owned(),
        number => format!("stream {number}"),
    }
}

/// As the subject of a sentence.
fn act(act: &Act) -> String {
    match act {
        Act::Launch { kernel } => format!("`{}`", kernel_name(kernel)),
        Act::ToDevice => "a copy to the device".into(),
        Act::ToHost => "a copy to the host".into(),
        Act::WithinDevice => "a copy within the device".into(),
        Act::Memset => "a memset".into(),
        Act::Free => "a free".into(),
    }
}
