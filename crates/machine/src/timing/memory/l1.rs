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
}

impl L1 {
    pub(super) fn new(bytes: u64) -> Self {
        Self { lines: HashMap::new(), order: VecDeque::new(), room: (bytes / 128).max(1) as usize }
    }

    pub(super) fn get(&self, line: u64) -> (u8, Ticks) {
        self.lines.get(&line).map(|held| (held.sectors, held.at)).unwrap_or_default()
    }

    /// Sectors that have come, or were written, beside those that are there.
    pub(super) fn keep(&mut self, line: u64, sectors: u8, at: Ticks) {
        if let Some(held) = self.lines.get_mut(&line) {
            (held.sectors, held.at) = (held.sectors | sectors, held.at.max(at));
            return;
        }
        self.lines.insert(line, Held { sectors, at });
        self.order.push_back(line);
        while self.order.len() > self.room {
            if let Some(oldest) = self.order.pop_front() {
                self.lines.remove(&oldest);
            }
        }
    }
}
