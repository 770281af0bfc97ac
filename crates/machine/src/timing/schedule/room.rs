//! How many registers are in use while a piece of code is put in order.
//!
//! The assembler begins nothing for whose result it has no register. It has as many as it says that the kernel takes:
//! machine code of compute capability 9.0 that NVRTC 13.0 makes of one loop has at most 12 loads side by side with 32
//! registers, and all 32 of four iterations where a launch bound leaves more.

use std::collections::HashMap;

use crate::timing::program::Op;
use crate::timing::program::live::Live;

#[derive(Clone)]
pub(super) struct Room {
    now: i32,
    most: i32,
    /// Of each instruction: the values that it reads, and how many registers its results take.
    reads: Vec<Vec<usize>>,
    writes: Vec<i32>,
    /// Of each value: how many instructions that read it have not been issued, and how many registers it takes.
    values: Vec<(u32, i32)>,
}

impl Room {
    /// `pcs` are the places of the instructions in the code, and `most` the registers that a thread has.
    pub(super) fn new(live: &Live, ops: &[&Op], pcs: &[u32], most: i32) -> Self {
        let mut current: HashMap<u32, usize> = HashMap::new();
        let mut values: Vec<(u32, i32)> = Vec::new();
        let mut reads = Vec::with_capacity(ops.len());
        let mut made: Vec<Vec<usize>> = Vec::with_capacity(ops.len());
        for op in ops {
            let value = |register: u32, values: &mut Vec<(u32, i32)>| {
                values.push((0, live.width(register)));
                values.len() - 1
            };
            let mut own: Vec<usize> = Vec::with_capacity(op.reads.len());
            for &register in &op.reads {
                let read = *current.entry(register).or_insert_with(|| value(register, &mut values));
                if !own.contains(&read) {
                    values[read].0 += 1;
                    own.push(read);
                }
            }
            reads.push(own);
            let writes = op.writes.iter().map(|&register| {
                let written = value(register, &mut values);
                current.insert(register, written);
                written
            });
            made.push(writes.collect());
        }
        // What is read behind the piece stays.
        if let Some(&last) = pcs.last() {
            for (&register, &value) in &current {
                values[value].0 += u32::from(live.is_live_after(last, register));
            }
        }
        let width = |made: &Vec<usize>| {
            made.iter().map(|&value| values[value]).filter(|value| value.0 > 0).map(|value| value.1).sum()
        };
        let writes = made.iter().map(width).collect();
        let now = pcs.first().map_or(0, |&first| live.before(first));
        let mut room = Self { now, most, reads, writes, values };
        // In the order of the code it fits. Where it does not seem so, something is counted that takes no register.
        room.most = room.most.max(room.peak());
        room
    }

    /// The registers that the piece takes in the order of the code.
    fn peak(&self) -> i32 {
        let mut room = self.clone();
        let after = (0..self.reads.len()).map(|at| {
            room.issue(at);
            room.now
        });
        after.fold(self.now, i32::max)
    }

    pub(super) fn fits(&self, at: usize) -> bool {
        let more = self.more(at);
        more <= 0 || self.now + more <= self.most
    }

    pub(super) fn issue(&mut self, at: usize) {
        self.now += self.more(at);
        for &value in &self.reads[at] {
            self.values[value].0 -= 1;
        }
    }

    /// How many registers more are in use behind an instruction than before it.
    fn more(&self, at: usize) -> i32 {
        let last = |&&value: &&usize| self.values[value].0 == 1;
        self.writes[at] - self.reads[at].iter().filter(last).map(|&value| self.values[value].1).sum::<i32>()
    }
}
