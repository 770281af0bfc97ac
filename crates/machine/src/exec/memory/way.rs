//! Loads and stores differ in the way that the bytes go: everything else is written once, for both.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{extend, param};
use crate::code::{Access, Reg};
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::lanes::{FULL, View, each, lanes};
use crate::exec::state::run::Run;

/// A warp's load or store.
#[derive(Clone, Copy)]
pub(crate) struct Request<'r> {
    /// The access's own number, by which the allocation that it hit last is remembered.
    pub(crate) index: u32,
    pub(crate) access: &'r Access,
    pub(crate) mask: u32,
    pub(crate) addrs: &'r [u64; 32],
}

/// Memory by elements of 1, 2, 4 or 8 bytes, which are aligned and inside.
pub(crate) trait Elements {
    fn load(&self, lane: usize, addr: u64, element: u32) -> u64;
    fn store(&mut self, lane: usize, addr: u64, element: u32, value: u64);
}

/// Which way the bytes go.
pub(crate) trait Way {
    const WRITES: bool;

    /// The registers that a store takes its values from.
    fn stored(&self) -> Option<&View<'_>>;

    /// A whole warp's words in global memory, one lane's behind the other's.
    fn words(&mut self, access: &Access, words: &[AtomicU32]);

    /// A whole warp's elements that are no words, one lane's behind the other's.
    fn packed(&mut self, access: &Access, words: &[AtomicU32]);

    /// A whole warp's words in shared memory, one lane's behind the other's.
    fn row(&mut self, reg: Reg, words: &mut [u32]);

    /// Elements wherever they are.
    fn elements(&mut self, request: Request<'_>, memory: &mut impl Elements);

    /// The launch's parameters.
    fn param(&mut self, run: &Run<'_>, request: Request<'_>) -> Trapped;
}

/// From memory to registers.
pub(crate) struct Load<'v, 'r>(pub(crate) &'v mut View<'r>);

/// From registers to memory.
pub(crate) struct Store<'v, 'r>(pub(crate) &'v View<'r>);

/// Words of the largest access of a whole warp.
const PACKED: usize = 512;

impl Way for Load<'_, '_> {
    const WRITES: bool = false;

    #[inline(always)]
    fn stored(&self) -> Option<&View<'_>> {
        None
    }

    #[inline(always)]
    fn words(&mut self, access: &Access, words: &[AtomicU32]) {
        let k = access.regs.len();
        if let [Some(reg)] = access.regs[..] {
            self.0.put_word(reg.slot, FULL, &lanes(|i| words[i].load(Relaxed)));
            return;
        }
        for (j, reg) in access.regs.iter().enumerate() {
            if let Some(reg) = reg {
                self.0.put_word(reg.slot, FULL, &lanes(|i| words[i * k + j].load(Relaxed)));
            }
        }
    }

    #[inline(never)]
    fn packed(&mut self, access: &Access, words: &[AtomicU32]) {
        let mut packed = [0u32; PACKED];
        for (to, from) in packed.iter_mut().zip(words) {
            *to = from.load(Relaxed);
        }
        let k = access.regs.len();
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let value = match access.element {
                1 => lanes(|i| u64::from(packed[(i * k + j) / 4 % PACKED] >> (8 * ((i * k + j) % 4)) & 0xff)),
                2 => lanes(|i| u64::from(packed[(i * k + j) / 2 % PACKED] >> (16 * ((i * k + j) % 2)) & 0xffff)),
                4 => lanes(|i| u64::from(packed[(i * k + j) % PACKED])),
                _ => lanes(|i| {
                    let at = 2 * (i * k + j);
                    u64::from(packed[at % PACKED]) | u64::from(packed[(at + 1) % PACKED]) << 32
                }),
            };
            self.0.put(*reg, FULL, &lanes(|i| extend(value[i], access.element, access.signed)));
        }
    }

    #[inline(always)]
    fn row(&mut self, reg: Reg, words: &mut [u32]) {
        self.0.put_word(reg.slot, FULL, &lanes(|i| words[i]));
    }

    #[inline(always)]
    fn elements(&mut self, request: Request<'_>, memory: &mut impl Elements) {
        let Request { access, mask, addrs, .. } = request;
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let mut value = [0; 32];
            for lane in each(mask) {
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                value[lane] = extend(memory.load(lane, at, access.element), access.element, access.signed);
            }
            self.0.put(*reg, mask, &value);
        }
    }

    fn param(&mut self, run: &Run<'_>, request: Request<'_>) -> Trapped {
        param::load(run, self.0, request.access, request.mask, request.addrs)
    }
}

impl Way for Store<'_, '_> {
    const WRITES: bool = true;

    #[inline(always)]
    fn stored(&self) -> Option<&View<'_>> {
        Some(self.0)
    }

    #[inline(always)]
    fn words(&mut self, access: &Access, words: &[AtomicU32]) {
        let k = access.regs.len();
        for (j, reg) in access.regs.iter().enumerate() {
            if let Some(reg) = reg {
                let value = self.0.word(reg.slot);
                for i in 0..32 {
                    words[i * k + j].store(value[i], Relaxed);
                }
            }
        }
    }

    #[inline(never)]
    fn packed(&mut self, access: &Access, words: &[AtomicU32]) {
        let mut packed = [0u32; PACKED];
        let k = access.regs.len();
        for (j, reg) in access.regs.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let value = self.0.get(*reg);
            for (i, value) in value.iter().enumerate() {
                let n = i * k + j;
                match access.element {
                    1 => packed[n / 4 % PACKED] |= (*value as u32 & 0xff) << (8 * (n % 4)),
                    2 => packed[n / 2 % PACKED] |= (*value as u32 & 0xffff) << (16 * (n % 2)),
                    4 => packed[n % PACKED] = *value as u32,
                    _ => {
                        packed[2 * n % PACKED] = *value as u32;
                        packed[(2 * n + 1) % PACKED] = (*value >> 32) as u32;
                    }
                }
            }
        }
        for (from, to) in packed.iter().zip(words) {
            to.store(*from, Relaxed);
        }
    }

    #[inline(always)]
    fn row(&mut self, reg: Reg, words: &mut [u32]) {
        words.copy_from_slice(self.0.word(reg.slot));
    }

    #[inline(always)]
    fn elements(&mut self, request: Request<'_>, memory: &mut impl Elements) {
        let Request { access, mask, addrs, .. } = request;
        for lane in each(mask) {
            for (j, reg) in access.regs.iter().enumerate() {
                let Some(reg) = reg else { continue };
                let at = addrs[lane] + j as u64 * u64::from(access.element);
                memory.store(lane, at, access.element, self.0.get_lane(*reg, lane));
            }
        }
    }

    fn param(&mut self, _: &Run<'_>, request: Request<'_>) -> Trapped {
        Err(fault::readonly_param(request.mask))
    }
}
