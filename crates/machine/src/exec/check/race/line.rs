//! The accesses to one line of memory that later ones may race with.

use smallvec::SmallVec;

use super::row::{Kind, Row};
use crate::exec::state::lanes::each;

/// Rows of a line that are kept. When there are more, the oldest reads are forgotten: a race may be missed, none is made up.
const ROWS: usize = 32;

/// So many rows are worth keeping count of their bytes.
const COUNTED: usize = 4;

/// 128 bytes of memory.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The launch that the rows are of.
    pub(crate) launch: u32,
    /// Rows that write, and rows that are anything but atomics.
    writes: u16,
    plain: u16,
    /// Strong accesses so far.
    strong: u32,
    pub(crate) rows: SmallVec<[Row; 1]>,
    crowd: Option<Box<Crowd>>,
}

/// Bytes that so many have touched in the same way that one more makes no difference.
#[derive(Debug, Default)]
struct Crowd {
    /// Read, and changed by atomics, by two blocks or more.
    read: u128,
    atomic: u128,
    /// What at least two warps of a block have changed by atomics since a barrier of it: block and barrier.
    warps: u128,
    since: (u32, u32),
    /// The last access, if it was not kept.
    last: Option<Row>,
    /// The last atomics that were not kept, each with its bytes, which are its own: no more of them than fit in the line.
    latest: SmallVec<[(u128, Row); 1]>,
    /// The bytes that its rows read and write.
    touched: Touched,
}

/// Bytes that are read, and that are written.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    read: u128,
    written: u128,
}

impl Touched {
    fn add(&mut self, row: &Row) {
        let bytes = row.bytes();
        match row.kind.writes() {
            true => self.written |= bytes,
            false => self.read |= bytes,
        }
    }
}

impl Line {
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.writes, self.plain, self.strong) = (0, 0, 0);
        self.rows.clear();
        self.crowd = None;
    }

    /// Keeps a plain row where the line remembers nothing.
    #[inline(always)]
    pub(crate) fn begins(&mut self, row: &Row) -> bool {
        let first = self.rows.is_empty() && self.crowd.is_none() && !row.kind.is(Kind::STRONG);
        if first {
            (self.writes, self.plain) = (u16::from(row.kind.writes()), 1);
            self.rows.push(*row);
        }
        first
    }

    /// Numbers a strong access.
    pub(crate) fn number(&mut self, row: &mut Row) {
        if row.kind.is(Kind::STRONG) {
            self.strong = self.strong.saturating_add(1);
            row.value = self.strong;
        }
    }

    /// Whether a strong write precedes what a thread does now because the thread knows of a strong read that has observed it
    /// (PTX ISA 8.9.5, the second clause). `knows` says of which accesses it does.
    pub(crate) fn has_seen(&self, write: &Row, lane: usize, knows: impl Fn(&Row, usize) -> bool) -> bool {
        let range = write.range(lane);
        let reads = self.rows.iter().chain(self.crowd.iter().flat_map(|crowd| crowd.latest.iter().map(|(_, row)| row)));
        let stored = |read: &Row| {
            let only_writes = |row: &&Row| row.kind.is(Kind::WRITE.with(Kind::STRONG)) && !row.kind.is(Kind::READ);
            self.rows.iter().filter(only_writes).any(|store| {
                write.value < store.value
                    && store.value < read.value
                    && each(store.lanes).any(|lane| store.range(lane).0 < range.1 && range.0 < store.range(lane).1)
            })
        };
        reads.filter(|read| read.value >= write.value).any(|read| {
            each(read.lanes).any(|reader| write.is_seen_by(lane, read, reader) && knows(read, reader)) && !stored(read)
        })
    }

    pub(crate) fn is_written(&self) -> bool {
        self.writes > 0
    }

    /// Whether nothing that the line remembers can race with an access of this kind.
    #[inline(always)]
    pub(crate) fn is_harmless_to(&self, row: &Row) -> bool {
        row.kind == Kind::READ && self.writes == 0 || row.kind == Kind::ATOMIC && self.plain == 0
    }

    /// Puts a row in the place of the same one earlier, if there is one.
    #[inline(always)]
    pub(crate) fn renew(&mut self, row: &Row) -> bool {
        let same = |old: &&mut Row| old.same_warp(row) && old.same_mapping(row) && old.kind == row.kind;
        self.rows.iter_mut().find(same).map(|old| *old = *row).is_some()
    }

    /// Rows have been removed.
    pub(crate) fn count(&mut self) {
        self.writes = self.rows.iter().filter(|r| r.kind.writes()).count() as u16;
        self.plain = self.rows.iter().filter(|r| r.kind != Kind::ATOMIC).count() as u16;
        if let Some(crowd) = &mut self.crowd {
            crowd.touched = Touched::default();
            self.rows.iter().for_each(|row| crowd.touched.add(row));
        }
    }

    /// Whether a row's bytes are none of those that the line remembers, where there are so many rows that it keeps count.
    pub(crate) fn is_apart(&self, row: &Row) -> bool {
        let bytes = row.bytes();
        self.crowd.as_ref().is_some_and(|crowd| (crowd.touched.read | crowd.touched.written) & bytes == 0)
    }

    /// Whether the last access was the same one, and nothing has been synchronised since: threads that poll do that.
    #[inline(always)]
    pub(crate) fn is_repeated(&self, row: &Row, synced: u32) -> bool {
        let last = self.crowd.as_ref().and_then(|crowd| crowd.last.as_ref()).or(self.rows.last());
        last.is_some_and(|last| {
            last.kind == row.kind
                && (last.value == row.value || row.kind.is(Kind::STRONG))
                && last.stamp >= synced
                && last.same_warp(row)
                && last.same_mapping(row)
        })
    }

    /// Another one like those that are there: the line remembers so many that this one could race with nothing else.
    /// `met` is the last barrier of the row's block.
    pub(crate) fn passes(&mut self, row: &Row, shared: bool, met: u32) -> bool {
        let Some(crowd) = &mut self.crowd else { return false };
        let warps = if crowd.since == (row.block, met) { crowd.warps } else { 0 };
        let enough = match row.kind {
            Kind::READ if !shared => crowd.read,
            Kind::ATOMIC if !shared => crowd.atomic | warps,
            Kind::ATOMIC => warps,
            _ => return false,
        };
        let passes = row.bytes() & !enough == 0;
        if passes {
            crowd.last = Some(*row);
            if row.kind == Kind::ATOMIC {
                let bytes = row.bytes();
                crowd.latest.retain(|(known, old)| {
                    if *known & bytes != 0 {
                        let over = each(old.lanes).filter(|lane| old.bytes_of(*lane) & bytes != 0);
                        old.lanes &= !over.fold(0, |over, lane| over | 1 << lane);
                        *known = old.bytes();
                    }
                    old.lanes != 0
                });
                crowd.latest.push((bytes, *row));
            }
        }
        passes
    }

    /// Keeps a row. What it makes superfluous has been removed.
    pub(crate) fn keep(&mut self, row: Row, met: u32) {
        if !self.rows.is_empty() && matches!(row.kind, Kind::READ | Kind::ATOMIC) {
            self.crowd(&row, met);
        }
        if self.rows.len() >= ROWS {
            let oldest = self.rows.iter().position(|r| !r.kind.writes()).unwrap_or(0);
            self.rows.remove(oldest);
            self.count();
        }
        self.push(row);
        if let Some(crowd) = &mut self.crowd {
            crowd.last = None;
        }
    }

    pub(crate) fn push(&mut self, row: Row) {
        self.writes += u16::from(row.kind.writes());
        self.plain += u16::from(row.kind != Kind::ATOMIC);
        self.rows.push(row);
        if let Some(crowd) = &mut self.crowd {
            crowd.touched.add(&row);
        } else if self.rows.len() == COUNTED {
            self.crowd = Some(Box::default());
            self.count();
        }
    }

    fn crowd(&mut self, row: &Row, met: u32) {
        let (mut blocks, mut warps) = (0, 0);
        for other in self.rows.iter().filter(|other| other.kind == row.kind) {
            if other.block != row.block {
                blocks |= other.bytes();
            } else if other.warp != row.warp && other.stamp >= met {
                warps |= other.bytes();
            }
        }
        let bytes = row.bytes();
        if (blocks | if row.kind == Kind::READ { 0 } else { warps }) & bytes == 0 {
            return;
        }
        if self.crowd.is_none() {
            self.crowd = Some(Box::default());
            self.count();
        }
        let Some(crowd) = &mut self.crowd else { return };
        if row.kind == Kind::READ {
            crowd.read |= blocks & bytes;
            return;
        }
        crowd.atomic |= blocks & bytes;
        if crowd.since != (row.block, met) {
            (crowd.since, crowd.warps) = ((row.block, met), 0);
        }
        crowd.warps |= warps & bytes;
    }
}
