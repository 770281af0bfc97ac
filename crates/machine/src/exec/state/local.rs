//! Local memory: private to a thread, and laid out so that a warp's lanes lie side by side.

use super::lanes::Lanes;
use super::paged::Paged;
use super::shared;

/// A warp's local memory: row n holds word n of every lane.
pub(crate) type Local = Paged<Lanes<u32>>;

pub(crate) fn load_element(local: &Local, lane: usize, addr: u64, element: u32) -> u64 {
    let row = (addr / 4) as usize;
    let word = |row| local.get(row).map_or(0, |row| u64::from(row.0[lane]));
    let low = word(row);
    match element {
        4 => low,
        8 => low | word(row + 1) << 32,
        _ => low >> (8 * (addr % 4)) & ((1 << (8 * element)) - 1),
    }
}

pub(crate) fn store_element(local: &mut Local, lane: usize, addr: u64, element: u32, value: u64) {
    let row = (addr / 4) as usize;
    if let (8, Some(high)) = (element, local.get_mut(row + 1)) {
        high.0[lane] = (value >> 32) as u32;
    }
    if let Some(low) = local.get_mut(row) {
        let mut word = [low.0[lane]];
        shared::store_element(&mut word, addr % 4, element.min(4), value);
        low.0[lane] = word[0];
    }
}
