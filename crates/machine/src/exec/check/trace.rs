//! Which bytes of global memory a launch accesses, and where: what orders launches has to know.

use crate::code::Place;
use crate::exec::check::watch::{Action, Touch};
use crate::exec::state::lanes::each;
use crate::machine::Span;

/// How many spans of each kind a worker keeps. Of a kernel that jumps about, the rest is left out: nothing is claimed
/// about bytes that are not listed.
const MOST: usize = 1 << 13;
/// How far back an access may find the span that it goes on with: a kernel goes through several buffers by turns.
const NEAR: usize = 8;

/// Bytes accessed, to the byte, with the instruction that accessed them first.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) read: Spans,
    pub(crate) written: Spans,
}

/// Spans in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    list: Vec<Span>,
    full: bool,
    /// Something was left out.
    dropped: bool,
}

impl Trace {
    /// Takes note of a warp's access.
    pub(crate) fn note(&mut self, touch: &Touch<'_>, pc: u32) {
        if touch.place != Place::Global {
            return;
        }
        let (read, write) = match touch.action {
            Action::Read | Action::ReadAsync | Action::ReadEnds => (true, false),
            Action::Write | Action::CopyOut => (false, true),
            Action::Atomic => (true, true),
            // The other side of it, which is shared memory.
            Action::CopyAsync => return,
        };
        let mut add = |start, len| {
            if read {
                self.read.add(start, start + len, pc);
            }
            if write {
                self.written.add(start, start + len, pc);
            }
        };
        if touch.row {
            return add(touch.addrs[0], 32 * touch.bytes);
        }
        for lane in each(touch.mask) {
            add(touch.addrs[lane], touch.bytes);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (own, other) in [(&mut self.read, other.read), (&mut self.written, other.written)] {
            own.list.extend(other.list);
            own.dropped |= other.dropped;
        }
    }

    /// Whether nothing was left out.
    pub(crate) fn complete(&self) -> bool {
        let whole = |spans: &Spans| !spans.dropped && spans.list.len() <= MOST;
        whole(&self.read) && whole(&self.written)
    }
}

impl Spans {
    fn add(&mut self, start: u64, end: u64, pc: u32) {
        let near = self.list.len().saturating_sub(NEAR);
        for span in self.list[near..].iter_mut().rev() {
            if span.start <= start && start <= span.end {
                span.end = span.end.max(end);
                return;
            }
        }
        if self.full {
            self.dropped = true;
            return;
        }
        if self.list.len() == MOST {
            self.list = joined(std::mem::take(&mut self.list));
            self.full = self.list.len() > MOST / 2;
        }
        self.list.push(Span { start, end, pc: Some(pc) });
    }

    /// In order of address, without overlaps, at most as many as a worker keeps.
    pub(crate) fn sorted(self) -> Vec<Span> {
        let mut spans = joined(self.list);
        spans.truncate(MOST);
        spans
    }
}

fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, span.pc));
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_grow_together() {
        let mut spans = Spans::default();
        for i in [0, 2, 1, 5, 3] {
            spans.add(8 * i, 8 * i + 8, i as u32);
            spans.add(1000 + 8 * i, 1004 + 8 * i, 7);
        }
        let sorted = spans.sorted();
        let found: Vec<(u64, u64)> = sorted.iter().map(|span| (span.start, span.end)).collect();
        let apart = (0..4).chain([5]).map(|i| (1000 + 8 * i, 1004 + 8 * i));
        assert_eq!(found, [(0, 32), (40, 48)].into_iter().chain(apart).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_scattered_is_left_out_and_never_made_up() {
        let mut spans = Spans::default();
        for i in 0..100_000u64 {
            let start = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 40) * 16;
            spans.add(start, start + 4, 0);
        }
        let sorted = spans.sorted();
        assert!(sorted.len() <= MOST && sorted.iter().all(|span| span.end - span.start == 4));
    }
}
