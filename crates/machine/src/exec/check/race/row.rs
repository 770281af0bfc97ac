//! A warp's access to one line of memory, as the race checks remember it.

use crate::exec::state::lanes::each;

/// Bytes of a line.
pub(crate) const LINE: u64 = 128;

/// What an access does, as far as races go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind(u8);

impl Kind {
    pub(crate) const READ: Self = Self(1);
    pub(crate) const WRITE: Self = Self(2);
    /// Both at once, and strong.
    pub(crate) const ATOMIC: Self = Self(1 | 2 | 4 | 64);
    /// Two strong accesses are no race (PTX ISA 8.4: `.volatile`, `.relaxed` or stronger).
    pub(crate) const STRONG: Self = Self(4);
    /// A strong access that says nothing to other blocks.
    pub(crate) const NARROW: Self = Self(8);
    /// A `cp.async` that has not been waited for.
    pub(crate) const PENDING: Self = Self(16);
    /// A write that a `cp.async` made.
    pub(crate) const COPIED: Self = Self(32);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn is(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn writes(self) -> bool {
        self.is(Self::WRITE)
    }

    /// Both strong: whether their scopes reach each other is another question.
    pub(crate) const fn both_strong(self, other: Self) -> bool {
        self.0 & other.0 & Self::STRONG.0 != 0
    }

    pub(crate) const fn either_narrow(self, other: Self) -> bool {
        (self.0 | other.0) & Self::NARROW.0 != 0
    }

    /// Whether whoever races with `earlier` races with an access of this kind to the same bytes too.
    pub(crate) const fn covers(self, earlier: Self) -> bool {
        (self.writes() || !earlier.writes())
            && (!self.is(Self::STRONG) || earlier.is(Self::STRONG))
            && (!earlier.is(Self::NARROW) || self.is(Self::NARROW) || !self.is(Self::STRONG))
    }
}

/// The lanes of `lanes` access `width` bytes each, lane i at `base + i * stride` of the line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) block: u32,
    /// The block's clock at that time.
    pub(crate) stamp: u32,
    pub(crate) pc: u32,
    pub(crate) lanes: u32,
    /// Of a plain write to one place by one lane, or by all of them the same: a digest of the value; else 0. Of a strong
    /// access: which of the line's strong accesses it is.
    pub(crate) value: u32,
    pub(super) base: i16,
    pub(super) stride: i16,
    pub(super) width: u8,
    pub(crate) warp: u8,
    pub(crate) kind: Kind,
}

impl Row {
    pub(crate) fn thread(&self, lane: usize) -> u32 {
        32 * u32::from(self.warp) + lane as u32
    }

    /// First byte of a lane's access, and the one past its last.
    pub(crate) fn range(&self, lane: usize) -> (i32, i32) {
        let start = i32::from(self.base) + i32::from(self.stride) * lane as i32;
        (start, start + i32::from(self.width))
    }

    /// The same lanes at the same bytes.
    pub(crate) fn same_mapping(&self, other: &Self) -> bool {
        (self.lanes, self.base, self.stride, self.width) == (other.lanes, other.base, other.stride, other.width)
    }

    /// What lane `lane` of this strong access writes is what lane `reader` of a later one finds there, or what others have made
    /// of it: the write precedes the read in observation order (PTX ISA 8.9.2), if no store came in between.
    pub(crate) fn is_seen_by(&self, lane: usize, later: &Self, reader: usize) -> bool {
        later.kind.is(Kind::STRONG.with(Kind::READ))
            && (self.value < later.value || self.value == later.value && self.same_warp(later) && lane < reader)
            && self.range(lane) == later.range(reader)
    }

    pub(crate) fn same_warp(&self, other: &Self) -> bool {
        (self.block, self.warp) == (other.block, other.warp)
    }

    /// No byte belongs to two lanes.
    pub(crate) fn disjoint(&self) -> bool {
        self.lanes.is_power_of_two() || self.stride.unsigned_abs() >= u16::from(self.width)
    }

    fn span(&self) -> (i32, i32) {
        let first = self.range(self.lanes.trailing_zeros() as usize & 31);
        let last = self.range(31 - (self.lanes.leading_zeros() as usize & 31));
        (first.0.min(last.0), first.1.max(last.1))
    }

    /// The bytes of the line that it touches.
    pub(crate) fn bytes(&self) -> u128 {
        let (low, high) = self.span();
        let run = self.lanes >> (self.lanes.trailing_zeros() & 31);
        let gapless = run & run.wrapping_add(1) == 0 && self.stride.unsigned_abs() <= u16::from(self.width);
        if gapless || self.lanes.is_power_of_two() {
            return ones(low, high);
        }
        each(self.lanes).fold(0, |bytes, lane| bytes | self.bytes_of(lane))
    }

    pub(crate) fn bytes_of(&self, lane: usize) -> u128 {
        let (low, high) = self.range(lane);
        ones(low, high)
    }

    /// Whether some byte is touched by both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.span(), other.span());
        a.0 < b.1 && b.0 < a.1 && self.bytes() & other.bytes() != 0
    }

    /// The lanes of `other` that touch bytes of one of this row's lanes.
    pub(crate) fn partners(&self, lane: usize, other: &Self) -> u32 {
        let (low, high) = self.range(lane);
        each(other.lanes).fold(0, |found, lane| {
            let (a, b) = other.range(lane);
            found | u32::from(a < high && low < b) << lane
        })
    }
}

/// The bytes of a line from `low` to before `high`.
pub(super) fn ones(low: i32, high: i32) -> u128 {
    let (low, high) = (low.clamp(0, 128) as u32, high.clamp(0, 128) as u32);
    if high <= low {
        return 0;
    }
    u128::MAX >> (128 - (high - low)) << low
}

/// Cuts a warp's access into rows, each within a line: calls `f` with the line's address and the row, which has the
/// place in the line and the lanes; the rest is as in `like`.
#[inline(always)]
pub(crate) fn pieces(
    mask: u32,
    addrs: &[u64; 32],
    bytes: u64,
    in_order: bool,
    like: &Row,
    mut f: impl FnMut(u64, Row),
) {
    if in_order && LINE.is_multiple_of(bytes) && addrs[0].is_multiple_of(bytes) {
        let end = addrs[0] + 32 * bytes;
        let mut lane = 0u64;
        while lane < 32 {
            let at = addrs[0] + lane * bytes;
            let line = at & !(LINE - 1);
            let next = (line + LINE).min(end);
            let n = (next - at) / bytes;
            let lanes = ((1u64 << n) - 1) << lane;
            f(
                line,
                Row {
                    lanes: lanes as u32,
                    base: (at - line) as i16 - (lane * bytes) as i16,
                    stride: bytes as i16,
                    width: bytes as u8,
                    ..*like
                },
            );
            lane += n;
        }
        return;
    }
    scattered(mask, addrs, bytes, like, &mut f);
}

fn scattered(mask: u32, addrs: &[u64; 32], bytes: u64, like: &Row, f: &mut impl FnMut(u64, Row)) {
    let mut left = mask;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let (at, line) = (addrs[first], addrs[first] & !(LINE - 1));
        left &= left - 1;
        if at + bytes > line + LINE {
            straddling(first, at, bytes, like, f);
            continue;
        }
        let mut lanes = 1u32 << first;
        let mut stride = 0i64;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let (away, steps) = (addrs[lane].wrapping_sub(at) as i64, (lane - first) as i64);
            if addrs[lane] & !(LINE - 1) != line || addrs[lane] + bytes > line + LINE {
                break;
            }
            if lanes.is_power_of_two() {
                if away % steps != 0 {
                    break;
                }
                stride = away / steps;
            } else if away != stride * steps {
                break;
            }
            lanes |= 1 << lane;
            left &= left - 1;
        }
        let base = (at - line) as i64 - stride * first as i64;
        f(line, Row { lanes, base: base as i16, stride: stride as i16, width: bytes as u8, ..*like });
    }
}

/// One lane's access of a size that is no power of two, over more than one line.
fn straddling(lane: usize, at: u64, bytes: u64, like: &Row, f: &mut impl FnMut(u64, Row)) {
    let mut from = at;
    while from < at + bytes {
        let line = from & !(LINE - 1);
        let to = (at + bytes).min(line + LINE);
        let row = Row { lanes: 1 << lane, base: (from - line) as i16, stride: 0, width: (to - from) as u8, ..*like };
        f(line, row);
        from = to;
    }
}
