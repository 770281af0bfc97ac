//! Which bytes of a block's own memory have been written.

use crate::exec::state::lanes::each;
use crate::exec::state::paged::Paged;

/// Shared memory: one bit a byte.
#[derive(Debug, Default)]
pub(crate) struct SharedBytes(Vec<u64>);

impl SharedBytes {
    /// Nothing is written.
    pub(crate) fn start(&mut self, bytes: u32) {
        self.0.clear();
        self.0.resize(bytes.div_ceil(64) as usize, 0);
    }

    #[inline(always)]
    fn each(addr: u64, len: u64, mut f: impl FnMut(usize, u64)) {
        let (mut at, end) = (addr, addr + len);
        while at < end {
            let next = (at / 64 + 1) * 64;
            let n = next.min(end) - at;
            f((at / 64) as usize, (u64::MAX >> (64 - n)) << (at % 64));
            at += n;
        }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, addr: u64, len: u64) {
        Self::each(addr, len, |word, bits| {
            if let Some(entry) = self.0.get_mut(word) {
                *entry |= bits;
            }
        });
    }

    pub(crate) fn clear(&mut self, addr: u64, len: u64) {
        Self::each(addr, len, |word, bits| {
            if let Some(entry) = self.0.get_mut(word) {
                *entry &= !bits;
            }
        });
    }

    #[inline(always)]
    pub(crate) fn holds(&self, addr: u64, len: u64) -> bool {
        let mut all = true;
        Self::each(addr, len, |word, bits| all &= self.0.get(word).is_none_or(|entry| entry & bits == bits));
        all
    }

    /// Whether all bytes of a warp's access are written. It is aligned, so that a lane's lie in one word of bits.
    pub(crate) fn hold(&self, mask: u32, addrs: &[u64; 32], len: u64) -> bool {
        if len > 64 || !len.is_power_of_two() {
            return false;
        }
        let bits = u64::MAX >> (64 - len);
        let written = |lane: usize| {
            let word = self.0.get((addrs[lane] / 64) as usize).copied().unwrap_or(u64::MAX);
            word >> (addrs[lane] % 64) & bits == bits
        };
        each(mask).all(written)
    }

    /// Bit i: byte i of a range of at most 64 was never written.
    pub(crate) fn missing(&self, addr: u64, len: u64) -> u64 {
        let mut missing = 0;
        Self::each(addr, len, |word, bits| {
            let base = 64 * word as u64;
            let holes = self.0.get(word).map_or(0, |entry| !entry & bits);
            missing |= if base >= addr { holes << (base - addr).min(63) } else { holes >> (addr - base) };
        });
        missing
    }
}

/// A warp's local memory: row n holds word n of every lane, four bits of it. What has no row is not written.
#[derive(Debug)]
pub(crate) struct LocalBytes(Paged<[u8; 32]>);

impl Default for LocalBytes {
    fn default() -> Self {
        Self(Paged::new([0; 32]))
    }
}

/// Words that a range of bytes touches: the row, the bytes of it, and where they lie in the range.
#[inline(always)]
fn words(addr: u64, len: u64, mut f: impl FnMut(usize, u8, u64)) {
    let mut at = 0;
    while at < len {
        let skip = (addr + at) % 4;
        let n = (4 - skip).min(len - at);
        f(((addr + at) / 4) as usize, ((1u8 << n) - 1) << skip, at);
        at += n;
    }
}

impl LocalBytes {
    pub(crate) fn start(&mut self) {
        self.0.clear();
    }

    pub(crate) fn set(&mut self, lane: usize, addr: u64, len: u64) {
        self.0.grow(((addr + len).div_ceil(4)) as usize);
        words(addr, len, |row, bits, _| {
            if let Some(row) = self.0.get_mut(row) {
                row[lane & 31] |= bits;
            }
        });
    }

    pub(crate) fn clear(&mut self, lane: usize, addr: u64, len: u64) {
        words(addr, len, |row, bits, _| {
            if let Some(row) = self.0.get_mut(row) {
                row[lane & 31] &= !bits;
            }
        });
    }

    pub(crate) fn missing(&self, lane: usize, addr: u64, len: u64) -> u64 {
        let mut missing = 0;
        words(addr, len, |row, bits, at| {
            let have = self.0.get(row).map_or(0, |row| row[lane & 31]);
            missing |= u64::from((!have & bits) >> bits.trailing_zeros()) << at.min(63);
        });
        missing
    }

    /// What lies in so many bytes from one on is done with in these lanes.
    pub(crate) fn leave(&mut self, addr: u64, bytes: u64, mask: u32) {
        let from = (addr / 4) as usize;
        self.0.each_touched(from, from + bytes.div_ceil(4) as usize, |row| {
            for lane in each(mask) {
                row[lane] = 0;
            }
        });
    }
}
