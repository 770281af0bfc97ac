//! Bytes that two operations certainly both touch.

use fusion_machine::{Footprint, Span};

/// Bytes that both touch, and at least one writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) earlier: Side,
    pub(super) later: Side,
}

/// What one of the two does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) writes: bool,
    /// The instruction, where it is a kernel that was followed closely.
    pub(super) pc: Option<u32>,
}

/// A sector, of which a footprint that is not exact only tells that some byte was touched.
const SECTOR: u64 = 32;

/// The first bytes over which two footprints are at odds.
pub(super) fn find(earlier: &Footprint, later: &Footprint) -> Option<Overlap> {
    // Two kernels with atomics or fences may order themselves.
    if earlier.communicates && later.communicates {
        return None;
    }
    let cases = [(true, false), (true, true), (false, true)];
    cases.into_iter().find_map(|(a_writes, b_writes)| {
        let spans = |footprint: &Footprint, writes| match writes {
            true => (footprint.written.clone(), footprint.exact),
            false => (footprint.read.clone(), footprint.exact),
        };
        let (a, b) = common(spans(earlier, a_writes), spans(later, b_writes))?;
        Some(Overlap {
            start: a.start.max(b.start),
            end: a.end.min(b.end),
            earlier: Side { writes: a_writes, pc: a.pc },
            later: Side { writes: b_writes, pc: b.pc },
        })
    })
}

/// The first two spans of sorted lists that certainly have a byte in common.
fn common((a, a_exact): (Vec<Span>, bool), (b, b_exact): (Vec<Span>, bool)) -> Option<(Span, Span)> {
    let (a, b) = match (a_exact, b_exact) {
        (true, true) => (a, b),
        // Whoever covers a sector as a whole meets whoever touches some byte of it.
        (true, false) => (whole_sectors(&a), b),
        (false, true) => (a, whole_sectors(&b)),
        (false, false) => return None,
    };
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start.max(y.start) < x.end.min(y.end) {
            return Some((*x, *y));
        }
        if x.end <= y.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    None
}

fn whole_sectors(spans: &[Span]) -> Vec<Span> {
    let inner = spans.iter().map(|span| Span {
        start: span.start.next_multiple_of(SECTOR),
        end: span.end / SECTOR * SECTOR,
        pc: span.pc,
    });
    inner.filter(|span| span.start < span.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footprint(exact: bool, read: &[(u64, u64)], written: &[(u64, u64)]) -> Footprint {
        let spans =
            |list: &[(u64, u64)]| list.iter().map(|&(start, end)| Span { start, end, pc: None }).collect::<Vec<_>>();
        Footprint { exact, complete: true, communicates: false, read: spans(read), written: spans(written) }
    }

    #[test]
    fn only_certain_overlaps_count() {
        let exact = |read: &[(u64, u64)], written: &[(u64, u64)]| footprint(true, read, written);
        let sectors = |read: &[(u64, u64)], written: &[(u64, u64)]| footprint(false, read, written);
        let range = |a: &Footprint, b: &Footprint| find(a, b).map(|o| (o.start, o.end));
        // Two readers are no race, nor are neighbours.
        assert_eq!(range(&exact(&[(0, 64)], &[]), &exact(&[(0, 64)], &[])), None);
        assert_eq!(range(&exact(&[], &[(0, 64)]), &exact(&[], &[(64, 128)])), None);
        assert_eq!(range(&exact(&[], &[(0, 8), (40, 80)]), &exact(&[(8, 40), (72, 99)], &[])), Some((72, 80)));
        assert_eq!(range(&exact(&[(0, 8)], &[]), &exact(&[], &[(4, 9)])), Some((4, 8)));
        // A sector counts where the other side covers all of it.
        assert_eq!(range(&sectors(&[], &[(64, 96)]), &exact(&[(60, 90)], &[])), None);
        assert_eq!(range(&sectors(&[], &[(64, 128)]), &exact(&[(60, 100)], &[])), Some((64, 96)));
        assert_eq!(range(&sectors(&[], &[(0, 4096)]), &sectors(&[], &[(0, 4096)])), None);
    }

    #[test]
    fn kernels_that_may_order_themselves_are_left_alone() {
        let one = footprint(true, &[], &[(0, 64)]);
        let atomic = Footprint { communicates: true, ..one.clone() };
        assert!(find(&atomic, &atomic).is_none());
        assert!(find(&atomic, &one).is_some());
    }
}
