//! Whether racing writes change anything.

use super::compare::Clash;
use super::row::{Kind, Row, ones};
use crate::code::Place;
use crate::exec::check::watch::Touch;
use crate::exec::state::lanes::each;
use crate::exec::state::shared;
use crate::exec::state::window::Window;

/// The values that an access stores, and those that are there.
pub(super) struct Values<'v> {
    pub(super) touch: &'v Touch<'v>,
    pub(super) windows: &'v [Window<'v>],
}

/// The allocation that may contain an address.
pub(super) fn window(windows: &[Window<'_>], addr: u64) -> Option<usize> {
    windows.partition_point(|w| w.base <= addr).checked_sub(1)
}

impl Values<'_> {
    /// A lane's elements, if it stores any.
    fn stored(&self, lane: usize) -> Option<impl Iterator<Item = u64>> {
        let (access, regs) = (self.touch.access?, self.touch.stored?);
        let keep = u64::MAX >> (64 - 8 * access.element.clamp(1, 8));
        Some(access.regs.iter().map(move |reg| reg.map_or(0, |reg| regs.get_lane(reg, lane)) & keep))
    }

    /// Whether two lanes store the same.
    pub(super) fn same(&self, lane: usize, other: usize) -> bool {
        match (self.stored(lane), self.stored(other)) {
            (Some(one), Some(two)) => one.eq(two),
            _ => false,
        }
    }

    /// A digest of what all lanes of a row store to one and the same place; 0 if that is not what they do.
    pub(super) fn common(&self, row: &Row) -> u32 {
        if row.stride != 0 {
            return 0;
        }
        let first = row.lanes.trailing_zeros() as usize & 31;
        let Some(stored) = self.stored(first) else { return 0 };
        if !each(row.lanes).all(|lane| lane == first || self.same(first, lane)) {
            return 0;
        }
        let digest =
            stored.fold(1u64, |digest, value| (digest ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23));
        (digest >> 16) as u32 | 1
    }

    /// Whether the later of two writes stores what is there already, in all that both write.
    pub(super) fn benign(&self, clash: &Clash) -> bool {
        if !clash.later.kind.writes() || !clash.earlier.kind.writes() {
            return false;
        }
        let Clash { earlier, later, lane, other, .. } = clash;
        let strong = later.kind.is(Kind::STRONG) || earlier.kind.is(Kind::STRONG);
        if !strong && later.value != 0 && later.value == earlier.value && later.range(*lane) == earlier.range(*other) {
            return true;
        }
        let bytes = earlier.bytes();
        each(clash.lanes).all(|lane| self.is_there(later, lane, bytes))
    }

    /// Whether those of a lane's elements that touch these bytes of its line are in memory already.
    fn is_there(&self, row: &Row, lane: usize, bytes: u128) -> bool {
        let (Some(stored), Some(access)) = (self.stored(lane), self.touch.access) else { return false };
        let (addr, element) = (self.touch.addrs[lane], access.element);
        let (start, end) = row.range(lane);
        // Of an access that lies in two lines, the row has a part only: all of it counts.
        let whole = end - start == (element * access.regs.len() as u32) as i32;
        stored.enumerate().all(|(j, value)| {
            let offset = j as u32 * element;
            let apart = whole && bytes & ones(start + offset as i32, start + (offset + element) as i32) == 0;
            apart || self.load(addr + u64::from(offset), element) == Some(value)
        })
    }

    fn load(&self, addr: u64, element: u32) -> Option<u64> {
        if self.touch.place == Place::Shared {
            let inside = addr + u64::from(element) <= 4 * self.touch.shared.len() as u64;
            return inside.then(|| shared::load_element(self.touch.shared, addr, element));
        }
        let window = &self.windows[self.touch.window.or_else(|| window(self.windows, addr))?];
        window.holds(addr, u64::from(element)).then(|| window.load(addr, element))
    }
}
