//! Which launch wrote what lies at an address, and which have read it since.

use std::collections::BTreeMap;

/// Bytes that were written at once, or found there, and that the same steps have read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The step that wrote them. None: they were there before the trace began.
    pub(crate) writer: Option<usize>,
    /// Steps, in their order.
    pub(crate) readers: Vec<usize>,
    pub(crate) bytes: u64,
}

#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    writer: Option<usize>,
    readers: Vec<usize>,
}

/// Memory by its addresses. Segments do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    segments: BTreeMap<u64, Segment>,
    /// Bytes that have been overwritten, by their writer and readers.
    gone: Gone,
}

type Gone = BTreeMap<(Option<usize>, Vec<usize>), u64>;

fn add(gone: &mut Gone, segment: Segment, from: u64) {
    let bytes = gone.entry((segment.writer, segment.readers)).or_default();
    *bytes = bytes.saturating_add(segment.end - from);
}

impl Memory {
    /// A step reads from `start` to before `end`. Returns the steps that wrote what it reads.
    pub(crate) fn read(&mut self, step: usize, (start, end): (u64, u64)) -> Vec<usize> {
        self.split(start);
        self.split(end);
        let mut writers = Vec::new();
        let mut holes = Vec::new();
        let mut at = start;
        for (&from, segment) in self.segments.range_mut(start..end) {
            if from > at {
                holes.push((at, from));
            }
            at = segment.end;
            if segment.readers.last() != Some(&step) {
                segment.readers.push(step);
            }
            writers.extend(segment.writer);
        }
        if at < end {
            holes.push((at, end));
        }
        for (from, end) in holes {
            self.segments.insert(from, Segment { end, writer: None, readers: vec![step] });
        }
        writers
    }

    /// A step writes from `start` to before `end`. Returns the steps that wrote or read what was there, which it must come behind.
    pub(crate) fn write(&mut self, step: usize, (start, end): (u64, u64)) -> Vec<usize> {
        self.split(start);
        self.split(end);
        let old: Vec<u64> = self.segments.range(start..end).map(|(&from, _)| from).collect();
        let mut before = Vec::new();
        for from in old {
            let Some(segment) = self.segments.remove(&from) else { continue };
            before.extend(segment.writer.into_iter().chain(segment.readers.iter().copied()));
            add(&mut self.gone, segment, from);
        }
        if start < end {
            self.segments.insert(start, Segment { end, writer: Some(step), readers: Vec::new() });
        }
        before.retain(|&other| other != step);
        before
    }

    /// All that was ever there.
    pub(crate) fn pieces(mut self) -> Vec<Piece> {
        for (from, segment) in self.segments {
            add(&mut self.gone, segment, from);
        }
        self.gone.into_iter().map(|((writer, readers), bytes)| Piece { writer, readers, bytes }).collect()
    }

    /// Lets a segment end where another one begins.
    fn split(&mut self, at: u64) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else { return };
        if segment.end > at {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }
}
