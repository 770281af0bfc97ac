//! The L1 of an SM: lines with the sectors that are there or on their way. The oldest line goes first.

use std::collections::{HashMap, VecDeque};

use crate::timing::Ticks;

#[derive(Debug)]
pub(super) struct L1 {
    /// Of a line, its sectors, and when the last of them came.
    lines: HashMap<u64, (u8, Ticks)>,
    order: VecDeque<u64>,
    room: usize,
}

impl L1 {
    pub(super) fn new(bytes: u64) -> Self {
        Self { lines: HashMap::new(), order: VecDeque::new(), room: (bytes / 128).max(1) as usize }
    }

    pub(super) fn get(&self, line: u64) -> (u8, Ticks) {
        self.lines.get(&line).copied().unwrap_or_default()
    }

    pub(super) fn keep(&mut self, line: u64, sectors: u8, at: Ticks) {
        if self.lines.insert(line, (sectors, at)).is_some() {
            return;
        }
        self.order.push_back(line);
        while self.order.len() > self.room {
            if let Some(oldest) = self.order.pop_front() {
                self.lines.remove(&oldest);
            }
        }
    }
}
