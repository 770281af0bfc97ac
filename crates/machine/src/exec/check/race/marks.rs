//! What a cell of shared memory remembers of an access.

use smallvec::SmallVec;

use super::compare::{Clash, Past, meeting};
use super::decides::decides;
use super::row::{Kind, Row};
use crate::exec::state::lanes::each;

/// What a cell remembers, the oldest first.
pub(super) type Cell = SmallVec<[Mark; 2]>;

/// Lanes of a warp that have accessed a cell by one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) stamp: u32,
    pub(super) pc: u32,
    pub(super) lanes: u32,
    pub(super) warp: u8,
    /// Bytes of a lane's access, which may reach over several cells. It is aligned to them.
    pub(super) width: u8,
    /// The lane that came last.
    pub(super) last: u8,
    pub(super) kind: Kind,
}

impl Mark {
    /// The same as a row of the line that begins at `line`.
    pub(super) fn row(&self, block: u32, at: u64, line: u64) -> Row {
        let start = at & !(u64::from(self.width.max(1)) - 1);
        Row {
            block,
            stamp: self.stamp,
            pc: self.pc,
            lanes: self.lanes,
            base: start.wrapping_sub(line) as i16,
            width: self.width,
            warp: self.warp,
            kind: self.kind,
            ..Row::default()
        }
    }
}

/// Whether the marks end in an atomic, and warps without it have made two.
pub(super) fn enough(cell: &Cell) -> bool {
    let Some((last, before)) = cell.split_last() else { return false };
    let mut warps = before.iter().filter(|old| old.kind == Kind::ATOMIC).map(|old| old.warp);
    let first = warps.next();
    last.kind == Kind::ATOMIC && warps.any(|warp| Some(warp) != first)
}

/// The lanes of an access that have not observed what a strong write did, the first of `marks`, and know of nobody who has: of
/// those that came behind it a strong read is one who has (PTX ISA 8.9.5, the second clause), unless a store came in between.
pub(super) fn unseen(marks: &[Mark], later: &Row, row: impl Fn(&Mark) -> Row, past: &Past<'_>) -> Option<Clash> {
    let (write, rest) = marks.split_first()?;
    let store = |mark: &&Mark| mark.kind.is(Kind::WRITE.with(Kind::STRONG)) && !mark.kind.is(Kind::READ);
    let end = rest.iter().position(|mark| store(&mark)).unwrap_or(rest.len());
    let reads = rest[..end].iter().filter(|mark| {
        mark.kind.is(Kind::READ.with(Kind::STRONG)) && mark.width == write.width && decides(past.code, mark.pc)
    });
    let reads: SmallVec<[(Row, u32); 4]> = reads.map(|mark| (row(mark), mark.lanes)).collect();
    let own = row(write);
    let last = usize::from(write.last & 31);
    let atomic = write.kind.is(Kind::READ) && decides(past.code, write.pc);
    meeting(&own, later, |lane, other| {
        past.knows(&own, other, later, lane)
            || atomic && past.knows(&own, last, later, lane)
            || reads.iter().any(|(read, lanes)| each(*lanes).any(|reader| past.knows(read, reader, later, lane)))
    })
}
