//! Where the lanes of a warp access memory.

use super::lanes::{View, each, lanes};
use crate::code::{AddressOf, Base, Place, window};

/// The addresses of an access.
#[inline(always)]
pub(crate) fn addresses(regs: &View<'_>, address: &AddressOf, local_base: u32) -> [u64; 32] {
    let offset = match address.in_frame {
        true => (address.offset as u64).wrapping_add(u64::from(local_base)),
        false => address.offset as u64,
    };
    match address.base {
        Base::Double(slot) => {
            let base = regs.double(slot);
            lanes(|i| base[i].wrapping_add(offset))
        }
        Base::Word(slot) => {
            let base = regs.word(slot);
            lanes(|i| u64::from(base[i]).wrapping_add(offset))
        }
        Base::None => [offset; 32],
    }
}

/// Which memory a generic address means to a block of a rank, and its address there.
pub(crate) fn resolve(rank: u32, addr: u64) -> (Place, u64) {
    let offset = addr % (1 << 56);
    let own = u64::from(rank) << window::RANK;
    match addr >> 56 {
        1 if offset >> window::RANK == u64::from(rank) => (Place::Shared, offset - own),
        // It has wandered off below the own block's memory: no block has as much as half of what a rank counts. It is as far off as
        // in a block of rank 0.
        1 if offset < own && own - offset <= 1 << (window::RANK - 1) => {
            (Place::Shared, offset.wrapping_sub(own) & (window::SIZE - 1))
        }
        1 if offset < window::SIZE => (Place::Cluster, offset),
        2 if offset < window::SIZE => (Place::Local, offset),
        3 if offset < window::SIZE => (Place::Param, offset),
        _ => (Place::Global, addr),
    }
}

/// The lanes of a block's generic access that mean the same memory as its lowest lane, with their addresses there.
pub(crate) fn same_place(rank: u32, mask: u32, addrs: &[u64; 32]) -> (Place, u32, [u64; 32]) {
    let (place, _) = resolve(rank, addrs[mask.trailing_zeros() as usize & 31]);
    let mut group = 0;
    let mut inside = *addrs;
    for lane in each(mask) {
        let (p, a) = resolve(rank, addrs[lane]);
        if p == place {
            group |= 1 << lane;
            inside[lane] = a;
        }
    }
    (place, group, inside)
}

/// Lane i is at `addrs[0] + i * stride`, for every i.
#[inline(always)]
pub(crate) fn sequential(addrs: &[u64; 32], stride: u64) -> bool {
    let mut differ = 0;
    for i in 0..32 {
        differ |= addrs[i] ^ addrs[0].wrapping_add(i as u64 * stride);
    }
    differ == 0
}

/// Distinct values of `key` in the lanes of a mask.
pub(crate) fn distinct(addrs: &[u64; 32], mask: u32, shift: u32) -> u64 {
    let mut keys = [0; 32];
    let mut n = 0;
    for lane in each(mask) {
        let key = addrs[lane] >> shift;
        if n == 0 || keys[n - 1] != key {
            keys[n] = key;
            n += 1;
        }
    }
    let keys = &mut keys[..n];
    if !keys.is_sorted() {
        keys.sort_unstable();
        let mut count = 0;
        for (i, key) in keys.iter().enumerate() {
            count += u64::from(i == 0 || keys[i - 1] != *key);
        }
        return count;
    }
    n as u64
}
