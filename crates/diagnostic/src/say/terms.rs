//! Names, numbers and lists as sentences have them.

use fusion_machine::report::{Buffer, Name};

use crate::counted;

/// What memory is called.
pub(super) fn name(buffer: &Buffer) -> String {
    match &buffer.name {
        Name::Parameter(name) | Name::Variable(name) => name.clone(),
        Name::Argument(index) => format!("argument {index}"),
        Name::Allocation(id) => format!("allocation {id}"),
        Name::Unnamed => format!("an allocation of {}", counted(buffer.size, "byte")),
        Name::DynamicShared => "the dynamic shared memory".into(),
        Name::HeapBlock => "the block that malloc gave".into(),
    }
}

/// The same, as code if it is what the source has.
pub(super) fn named(buffer: &Buffer) -> String {
    match buffer.name.identifier() {
        Some(name) => format!("`{name}`"),
        None => name(buffer),
    }
}

/// What an access does.
pub(super) fn verb(write: bool) -> &'static str {
    if write { "write" } else { "read" }
}

/// What an instruction is called that accesses memory.
pub(super) fn access(write: bool) -> &'static str {
    if write { "store" } else { "load" }
}

/// A mask in words: `lanes 0-15`.
pub(super) fn lanes(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let start = lane;
        while lane < 32 && mask >> lane & 1 == 1 {
            lane += 1;
        }
        parts.push(if lane - start == 1 { format!("{start}") } else { format!("{start}-{}", lane - 1) });
    }
    let noun = if mask.count_ones() == 1 { "lane" } else { "lanes" };
    format!("{noun} {}", parts.join(", "))
}

/// `3`, or `(3, 1, 0)` where there is more than one dimension.
pub(super) fn index(at: [u32; 3], dims: [u32; 3]) -> String {
    match dims {
        [_, 1, 1] => at[0].to_string(),
        [_, _, 1] => format!("({}, {})", at[0], at[1]),
        _ => format!("({}, {}, {})", at[0], at[1], at[2]),
    }
}

/// `96 bytes`, `12 KiB`, `1.5 MiB`.
pub(super) fn bytes(n: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| n >= *unit) {
        Some((unit, name)) => format!("{} {name}", short(n as f64 / *unit as f64)),
        None => counted(n, "byte"),
    }
}

pub(super) fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{} ms", short(ns / 1e6)),
        ns if ns >= 1e3 => format!("{} us", short(ns / 1e3)),
        ns => format!("{} ns", short(ns)),
    }
}

/// Three digits at most before they say nothing: `1.5`, `12`, `128`.
pub(super) fn short(x: f64) -> String {
    let text = if x < 9.95 { format!("{x:.1}") } else { format!("{x:.0}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_lists_of_lanes() {
        for (mask, text) in
            [(1, "lane 0"), (0xffff, "lanes 0-15"), (0x8000_0005, "lanes 0, 2, 31"), (u32::MAX, "lanes 0-31")]
        {
            assert_eq!(lanes(mask), text);
        }
    }

    #[test]
    fn numbers_have_as_many_digits_as_say_something() {
        for (n, text) in [(1, "1 byte"), (96, "96 bytes"), (1536, "1.5 KiB"), (12 << 20, "12 MiB")] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(
            (nanoseconds(12.0), nanoseconds(1500.0), short(9.96)),
            ("12 ns".into(), "1.5 us".into(), "10".into())
        );
    }
}
