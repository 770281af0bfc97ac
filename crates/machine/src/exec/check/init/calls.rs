//! Calls: undefined bits go from frame to frame with the arguments and results.

use super::shadow::{Kind, Mark, Origin, width};
use super::{Init, bits};
use crate::code::{Argument, Function};
use crate::exec::state::lanes::{Bases, each};
use crate::profile::Profile;

/// An argument, the frame that it lies in, and where that begins in local memory.
pub(crate) type Placed = (Argument, Bases, u32);

impl Init {
    /// A callee's frame begins: what an earlier one has left there is gone.
    pub(crate) fn enter(&mut self, warp: u32, function: &Function, bases: Bases, local_base: u32, mask: u32) {
        let Some(warp) = self.warps.get_mut(warp as usize) else { return };
        warp.local.leave(u64::from(local_base), u64::from(function.frame_bytes), mask);
        warp.shadow.leave(bases, mask);
        warp.unset(bases, &function.cleared, mask);
    }

    /// A callee's frame ends, after its results were passed.
    pub(crate) fn leave(&mut self, warp: u32, bases: Bases, mask: u32) {
        if let Some(warp) = self.warps.get_mut(warp as usize) {
            warp.shadow.leave(bases, mask);
        }
    }

    /// An argument or result is copied from one frame to another.
    pub(crate) fn pass(&mut self, warp: u32, mask: u32, from: Placed, to: Placed) {
        let index = warp;
        let mut mark = Mark { undefined: [0; 32], derived: 0, origin: Origin::default() };
        match from.0 {
            Argument::Register(reg) => {
                let Some(warp) = self.warps.get(index as usize) else { return };
                if let Some(known) = warp.shadow.get(from.1, reg) {
                    mark = known.clone();
                }
            }
            Argument::Frame { offset, size } => match to.0 {
                Argument::Frame { offset: d, size: room } => {
                    // No frame is larger, whatever a parameter says of itself.
                    let size = size.min(room).min(Profile::MAX_LOCAL_PER_THREAD);
                    let size = u64::from(size.next_multiple_of(4));
                    return self.copy(index, mask, u64::from(from.2 + offset), u64::from(to.2 + d), size);
                }
                Argument::Register(reg) => {
                    let bytes = u64::from(size.min(u32::from(reg.bits).div_ceil(8)).clamp(1, 8));
                    let at = u64::from(from.2 + offset);
                    for lane in each(mask) {
                        let missing = self.missing(Kind::Local, index, lane, at, bytes);
                        if missing != 0 {
                            let thread = 32 * index + lane as u32;
                            let moved = self.moved.get(&(Kind::Local, thread, at / 4)).copied();
                            let (origin, derived) = moved.unwrap_or_default();
                            mark.undefined[lane] = bits::spread(missing);
                            mark.origin = origin;
                            mark.derived |= u32::from(derived) << lane;
                        }
                    }
                }
            },
        }
        match to.0 {
            Argument::Register(reg) => {
                if let Some(warp) = self.warps.get_mut(index as usize) {
                    warp.shadow.put(to.1, reg, mask, &mark);
                }
            }
            Argument::Frame { offset, size } => {
                let Argument::Register(reg) = from.0 else { return };
                let bytes = u64::from(size.min(u32::from(reg.bits).div_ceil(8).max(1)));
                let at = u64::from(to.2 + offset);
                for lane in each(mask) {
                    self.set(Kind::Local, index, lane, at, bytes);
                    let undefined = bits::bytes(mark.undefined[lane] & width(reg));
                    for byte in (0..bytes).filter(|i| undefined >> i & 1 == 1) {
                        self.unset(Kind::Local, index, lane, at + byte);
                        let derived = mark.derived >> lane & 1 == 1;
                        self.remember(Kind::Local, 32 * index + lane as u32, at + byte, mark.origin, derived);
                    }
                }
            }
        }
    }

    /// The runtime has written to a frame.
    pub(crate) fn returned(&mut self, warp: u32, lane: usize, at: u64, bytes: u64) {
        self.set(Kind::Local, warp, lane, at, bytes);
    }

    /// The runtime reads a thread's own memory: where the first undefined byte of it comes from.
    pub(crate) fn undefined_at(&self, warp: u32, lane: usize, at: u64, bytes: u64) -> Option<Origin> {
        let missing = self.missing(Kind::Local, warp, lane, at, bytes.min(64));
        if missing == 0 {
            return None;
        }
        let first = at + u64::from(missing.trailing_zeros());
        let moved = self.moved.get(&(Kind::Local, 32 * warp + lane as u32, first / 4));
        // What was never stored there is padding between the arguments.
        moved.map(|(origin, _)| *origin)
    }

    fn copy(&mut self, warp: u32, mask: u32, from: u64, to: u64, bytes: u64) {
        for lane in each(mask) {
            let thread = 32 * warp + lane as u32;
            for at in 0..bytes {
                let missing = self.missing(Kind::Local, warp, lane, from + at, 1) != 0;
                self.set(Kind::Local, warp, lane, to + at, 1);
                if missing {
                    self.unset(Kind::Local, warp, lane, to + at);
                    if let Some((origin, derived)) = self.moved.get(&(Kind::Local, thread, (from + at) / 4)).copied() {
                        self.remember(Kind::Local, thread, to + at, origin, derived);
                    }
                }
            }
        }
    }
}
