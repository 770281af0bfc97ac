//! Which part of a thread's local memory belongs to variables.
//!
//! Frames lie one behind the other, each as aligned as any variable wants to be. What lies between two of them, and
//! behind the last, is nothing of the program's, although there is memory.

use std::ops::Range;

use super::local::Local;
use super::warp::Split;
use crate::code::Code;

/// A warp's local memory, and the split that uses it.
pub(crate) struct Stack<'s> {
    pub(crate) local: &'s mut Local,
    pub(crate) split: &'s Split,
}

impl Stack<'_> {
    /// The part that the present function's variables have; `named`: with those that have a name and no address.
    pub(crate) fn own(&self, code: &Code, named: bool) -> Range<u64> {
        part(code, self.split.function, self.split.local_base, named)
    }

    /// The part that variables of the frame around an address have: the present function's, or one's that waits for it.
    #[inline(never)]
    pub(crate) fn around(&self, code: &Code, addr: u64) -> Range<u64> {
        let found = self.frames().find(|(_, base)| u64::from(*base) <= addr);
        found.map_or(0..0, |(function, base)| part(code, function, base, false))
    }

    /// The variables that an address outside of all was probably made from: those that lie nearest.
    #[cold]
    pub(crate) fn nearest(&self, code: &Code, addr: u64) -> Range<u64> {
        // What lies before the first wraps around.
        let away = |part: &Range<u64>| match addr.checked_sub(part.end) {
            Some(behind) => behind.min(part.start.wrapping_sub(addr)),
            None => part.start.abs_diff(addr),
        };
        let parts = self.frames().map(|(function, base)| part(code, function, base, false));
        parts.filter(|part| !part.is_empty()).min_by_key(away).unwrap_or(0..0)
    }

    /// The functions that run, the innermost first, and where their frames begin.
    fn frames(&self) -> impl Iterator<Item = (u32, u32)> {
        let callers = self.split.callers.iter().rev().map(|caller| (caller.function, caller.local_base));
        std::iter::once((self.split.function, self.split.local_base)).chain(callers)
    }
}

fn part(code: &Code, function: u32, base: u32, named: bool) -> Range<u64> {
    let Some(function) = code.function(function) else { return 0..0 };
    let (base, locals) = (u64::from(base), &function.locals);
    match named {
        true => base..base + u64::from(function.frame_bytes),
        false => base + u64::from(locals.start)..base + u64::from(locals.end),
    }
}
