//! The L1 of an SM: lines with the sectors that are there or on their way. The oldest line goes first.

use std::collections::{HashMap, VecDeque};

use crate::timing::Ticks;

#[derive(Debug)]
pub(super) struct L1 {
    lines: HashMap<u64, Held>,
    order: VecDeque<u64>,
    room: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    sectors: u8,
    /// When the last of them came.
    at: Ticks,
    /// L2 does not know yet what was written.
    dirty: bool,
}

impl L1 {
    pub(super) fn new(bytes: u64) -> Self {
        Self { lines: HashMap::new(), order: VecDeque::new(), room: (bytes / 128).max(1) as usize }
    }

    pub(super) fn get(&self, line: u64) -> (u8, Ticks) {
        self.lines.get(&line).map(|held| (held.sectors, held.at)).unwrap_or_default()
    }

    /// Sectors that were fetched. Whether a line that was written before has to make room for them.
    pub(super) fn keep(&mut self, line: u64, sectors: u8, at: Ticks) -> bool {
        let dirty = self.lines.get(&line).is_some_and(|held| held.dirty);
        self.put(line, Held { sectors, at, dirty })
    }

    /// Sectors that are written, and stay here. Whether a line that was written before has to make room for them.
    pub(super) fn write(&mut self, line: u64, sectors: u8, at: Ticks) -> bool {
        let held = self.lines.get(&line).copied().unwrap_or_default();
        self.put(line, Held { sectors: held.sectors | sectors, at: held.at.max(at), dirty: true })
    }

    /// Whether a line that was written has to go.
    fn put(&mut self, line: u64, held: Held) -> bool {
        if self.lines.insert(line, held).is_some() {
            return false;
        }
        self.order.push_back(line);
        let mut gone = false;
        while self.order.len() > self.room {
            let oldest = self.order.pop_front().and_then(|oldest| self.lines.remove(&oldest));
            gone |= oldest.is_some_and(|held| held.dirty);
        }
        gone
    }
}
