//! Values that depend on what was never written, or on what nobody gave.
//!
//! Memory knows which of its bytes were written. A load of others makes bits of a register undefined, as does a shuffle from a
//! lane that takes no part (PTX ISA 9.7.9.6); copies carry them on,
//! computing with them makes a *derived* value. Nothing is wrong until such a value matters: it is branched on, used as
//! an address, handed to an atomic, or it was computed and is stored to global memory. As long as a warp has no undefined bits,
//! which is the rule, nothing is looked at but its accesses to memory.

mod bits;
mod bytes;
mod calls;
mod follow;
mod report;
mod shadow;

use std::collections::HashMap;

use crate::code::{MicroOp, Place, Reg, SlowOp};
use crate::exec::check::watch::{Action, Touch};
use crate::exec::check::{BlockChecks, Watch};
use crate::exec::state::lanes::{Bases, each};
use crate::exec::state::run::Run;
use crate::report::kind::Absent;
use bytes::{LocalBytes, SharedBytes};
pub(crate) use calls::Placed;
use report::Use;
pub(crate) use shadow::Origin;
use shadow::{Kind, Mark, Shadow};

/// Places that remember where an undefined value that was stored there came from.
const MOVED: usize = 1 << 14;

/// What is kept about a block.
#[derive(Debug)]
pub(crate) struct Init {
    shared: SharedBytes,
    warps: Vec<WarpInit>,
    /// By place: what was undefined when it was stored there, and whether it was derived.
    moved: HashMap<(Kind, u32, u64), (Origin, bool)>,
    /// What the present instruction stores, and has loaded.
    storing: Lanes,
    loaded: Lanes,
    /// What the present copy has read, and not written yet.
    copying: Lanes,
    /// What the present instruction will have written when it has run.
    pending: Pending,
    /// Whose that is: warp and instruction.
    pending_at: (u32, u32),
}

/// Registers, the lanes in which they will be written, and what of that is undefined.
type Pending = Vec<(Reg, u32, Box<Mark>)>;

#[derive(Debug, Default)]
struct WarpInit {
    shadow: Shadow,
    local: LocalBytes,
}

/// The undefined bytes of an access.
#[derive(Debug, Default)]
struct Lanes {
    lanes: u32,
    /// Bit i: byte i of the lane's access.
    bytes: [u64; 32],
    derived: u32,
    origin: Origin,
}

impl Lanes {
    fn add(&mut self, lane: usize, bytes: u64, derived: bool, origin: Origin) {
        if self.lanes == 0 {
            self.origin = origin;
        }
        self.lanes |= 1 << lane;
        self.bytes[lane] = bytes;
        self.derived = self.derived & !(1 << lane) | u32::from(derived) << lane;
    }

    /// Takes out some lanes' bytes: `None` where they are all defined.
    #[inline(always)]
    fn take(&mut self, mask: u32) -> Option<Lanes> {
        let lanes = self.lanes & mask;
        if lanes == 0 {
            return None;
        }
        self.lanes &= !mask;
        Some(Lanes { lanes, bytes: self.bytes, derived: self.derived, origin: self.origin })
    }
}

impl Init {
    pub(crate) fn new(run: &Run<'_>) -> Box<Self> {
        Box::new(Self {
            shared: SharedBytes::default(),
            warps: (0..run.warps).map(|_| WarpInit::default()).collect(),
            moved: HashMap::new(),
            storing: Lanes::default(),
            loaded: Lanes::default(),
            copying: Lanes::default(),
            pending: Vec::new(),
            pending_at: (0, 0),
        })
    }

    /// Another block begins.
    pub(crate) fn start(&mut self, run: &Run<'_>) {
        self.shared.start(run.shared_bytes);
        // What is reserved for the system, the system sets: the headers' own code changes bits of it as it finds them.
        self.shared.set(0, run.code.reserved_shared.into());
        self.moved.clear();
        (self.storing.lanes, self.loaded.lanes, self.copying.lanes) = (0, 0, 0);
        let cleared = run.code.function(run.code.entry).map_or(&[][..], |f| &f.cleared);
        for warp in &mut self.warps {
            warp.local.start();
            warp.shadow.leave(Bases::default(), u32::MAX);
            warp.unset(Bases::default(), cleared, u32::MAX);
        }
    }

    /// Another block's shared memory takes the place of the own one.
    pub(crate) fn swap_memory(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.shared, &mut other.shared);
        std::mem::swap(&mut self.moved, &mut other.moved);
    }

    /// Whether the warp's registers hold undefined bits.
    pub(crate) fn shadowed(&self, warp: u32) -> bool {
        self.warps.get(warp as usize).is_some_and(|w| w.shadow.any())
    }

    /// Whether a byte of the block's shared memory was never written.
    pub(crate) fn is_unwritten(&self, at: u64, bytes: u64) -> bool {
        self.shared.missing(at, bytes) != 0
    }

    fn remember(&mut self, kind: Kind, thread: u32, addr: u64, origin: Origin, derived: bool) {
        if self.moved.len() < MOVED {
            self.moved.insert((kind, thread, addr / 4), (origin, derived));
        }
    }

    /// Which bytes of a lane's access to the block's own memory are undefined.
    fn missing(&self, kind: Kind, warp: u32, lane: usize, addr: u64, bytes: u64) -> u64 {
        match kind {
            Kind::Shared => self.shared.missing(addr, bytes),
            _ => self.warps.get(warp as usize).map_or(0, |w| w.local.missing(lane, addr, bytes)),
        }
    }

    /// Whether any thread of the block has written these bytes of its own memory.
    #[cold]
    fn written_by_others(&self, addr: u64, bytes: u64) -> bool {
        self.warps.iter().any(|warp| (0..32).any(|lane| warp.local.missing(lane, addr, bytes) == 0))
    }

    fn set(&mut self, kind: Kind, warp: u32, lane: usize, addr: u64, bytes: u64) {
        match kind {
            Kind::Shared => self.shared.set(addr, bytes),
            _ => {
                if let Some(warp) = self.warps.get_mut(warp as usize) {
                    warp.local.set(lane, addr, bytes);
                }
            }
        }
    }

    fn unset(&mut self, kind: Kind, warp: u32, lane: usize, addr: u64) {
        match kind {
            Kind::Shared => self.shared.clear(addr, 1),
            _ => {
                if let Some(warp) = self.warps.get_mut(warp as usize) {
                    warp.local.clear(lane, addr, 1);
                }
            }
        }
    }
}

impl WarpInit {
    /// Registers that nobody has set.
    fn unset(&mut self, bases: Bases, registers: &[Reg], mask: u32) {
        let mark = Mark { undefined: [u64::MAX; 32], derived: 0, origin: Origin::default() };
        for reg in registers {
            self.shadow.put(bases, *reg, mask, &mark);
        }
    }
}

/// Memory that belongs to one thread has an owner; shared memory has none.
fn owner(kind: Kind, thread: u32) -> u32 {
    if kind == Kind::Local { thread } else { 0 }
}

fn kind(place: Place) -> Kind {
    match place {
        Place::Global | Place::Constant => Kind::Global,
        Place::Shared => Kind::Shared,
        _ => Kind::Local,
    }
}

impl Watch<'_> {
    /// A warp's access to memory.
    #[inline(always)]
    pub(crate) fn look_init(&mut self, init: &mut Init, touch: &Touch<'_>) {
        if touch.place == Place::Shared && matches!(touch.action, Action::Read | Action::ReadAsync) {
            let (addr, bytes) = (touch.addrs[0], touch.bytes);
            let defined = match () {
                () if touch.row => init.shared.holds(addr, 32 * bytes),
                () if touch.uniform => init.shared.holds(addr, bytes),
                () => init.shared.hold(touch.mask, touch.addrs, bytes),
            };
            if defined {
                return;
            }
        } else if touch.row {
            let len = 32 * touch.bytes;
            let addr = touch.addrs[0];
            match (touch.place, touch.action) {
                (Place::Global, action) => {
                    let Some((history, base)) = touch.history(addr) else { return };
                    match action {
                        Action::Read if history.holds(addr - base, len) => return,
                        Action::Write if init.storing.lanes == 0 => return history.set(addr - base, len),
                        _ => {}
                    }
                }
                (_, Action::Write) if init.storing.lanes == 0 => return init.shared.set(addr, len),
                _ => {}
            }
        }
        match touch.action {
            Action::Read | Action::ReadAsync | Action::ReadEnds => self.init_read(init, touch),
            Action::Write => self.init_write(init, touch),
            Action::Atomic => self.init_atomic(init, touch),
            Action::CopyAsync | Action::CopyOut => {
                init.storing = std::mem::take(&mut init.copying);
                self.init_write(init, touch);
            }
        }
    }

    /// The undefined bytes of a lane's access.
    #[inline(always)]
    fn missing(&self, init: &Init, touch: &Touch<'_>, lane: usize) -> u64 {
        let addr = touch.addrs[lane];
        if touch.place != Place::Global {
            return init.missing(kind(touch.place), self.warp, lane, addr, touch.bytes);
        }
        touch.history(addr).map_or(0, |(history, base)| history.missing(addr - base, touch.bytes))
    }

    #[inline(never)]
    fn init_read(&mut self, init: &mut Init, touch: &Touch<'_>) {
        let mut known = None;
        for lane in each(touch.mask) {
            // Lanes that read the same, as in a broadcast, are looked up once.
            let addr = touch.addrs[lane];
            if touch.place == Place::Shared && known == Some(addr) {
                continue;
            }
            let bytes = self.missing(init, touch, lane);
            if bytes == 0 {
                known = Some(addr);
                continue;
            }
            let kind = kind(touch.place);
            let thread = 32 * self.warp + lane as u32;
            let first = addr + u64::from(bytes.trailing_zeros());
            let moved = init.moved.get(&(kind, owner(kind, thread), first / 4)).copied();
            let (origin, derived) = moved.unwrap_or_else(|| {
                let element = touch.access.map_or(touch.bytes as u32, |a| a.element);
                let at = addr + (first - addr) / u64::from(element.max(1)) * u64::from(element.max(1));
                let others = kind == Kind::Local && init.written_by_others(addr, touch.bytes);
                (Origin { kind, pc: self.pc, addr: at, bytes: element, thread, others }, false)
            });
            match touch.access {
                Some(_) => {
                    init.loaded.add(lane, bytes, derived, origin);
                    self.undefined = true;
                }
                None => init.copying.add(lane, bytes, derived, origin),
            }
        }
    }

    #[inline(never)]
    fn init_write(&mut self, init: &mut Init, touch: &Touch<'_>) {
        let undefined = init.storing.take(touch.mask);
        if touch.place == Place::Global {
            for lane in each(touch.mask) {
                let addr = touch.addrs[lane];
                if let Some((history, base)) = touch.history(addr) {
                    history.set(addr - base, touch.bytes);
                }
            }
        } else {
            for lane in each(touch.mask) {
                init.set(kind(touch.place), self.warp, lane, touch.addrs[lane], touch.bytes);
            }
        }
        if let Some(undefined) = undefined {
            self.init_write_undefined(init, touch, &undefined);
        }
    }

    /// Undefined bytes are stored. To global memory, a derived value is a mistake, as is one whose every byte is a block's own
    /// memory that nobody wrote, or a shuffle from nobody: there is no struct with holes in it then. Anything else is carried on.
    #[cold]
    fn init_write_undefined(&mut self, init: &mut Init, touch: &Touch<'_>, undefined: &Lanes) {
        let mut wrong = 0u32;
        let all = u64::MAX >> (64 - touch.bytes.clamp(1, 64));
        let own = matches!(undefined.origin.kind, Kind::Shared | Kind::Local | Kind::Shuffle { .. });
        for lane in each(undefined.lanes) {
            let (addr, bytes) = (touch.addrs[lane], undefined.bytes[lane]);
            let derived = undefined.derived >> lane & 1 == 1;
            if touch.place == Place::Global && (derived || own && bytes == all) {
                wrong |= 1 << lane;
                continue;
            }
            let kind = kind(touch.place);
            let thread = 32 * self.warp + lane as u32;
            for at in 0..touch.bytes.min(64) {
                if bytes >> at & 1 == 0 {
                    continue;
                }
                if touch.place == Place::Global {
                    if let Some((history, base)) = touch.history(addr) {
                        history.clear(addr + at - base, 1);
                    }
                } else {
                    init.unset(kind, self.warp, lane, addr + at);
                    init.remember(kind, owner(kind, thread), addr + at, undefined.origin, derived);
                }
            }
        }
        if wrong != 0 {
            let addr = touch.addrs[wrong.trailing_zeros() as usize & 31];
            self.undefined_use(Use::Stored { addr, bytes: touch.bytes }, self.pc, wrong, undefined.origin);
        }
    }

    /// Lanes have shuffled from others that take no part: `from` says which, and why.
    #[cold]
    pub(crate) fn shuffled_nothing(
        &mut self,
        checks: &mut BlockChecks,
        lanes: u32,
        from: impl Fn(usize) -> (u32, Absent),
    ) {
        let Some(init) = checks.init.as_deref_mut() else { return };
        for reader in each(lanes) {
            let (lane, absent) = from(reader);
            let thread = 32 * self.warp + reader as u32;
            let kind = Kind::Shuffle { lane, absent };
            init.loaded.add(reader, 0xf, false, Origin { kind, pc: self.pc, addr: 0, bytes: 4, thread, others: false });
        }
        self.undefined = true;
    }

    /// The runtime prints an undefined value.
    pub(crate) fn printed_undefined(&mut self, lanes: u32, origin: Origin) {
        self.undefined_use(Use::Printed, self.pc, lanes, origin);
    }

    /// An atomic reads what it changes, unless it only puts something else in its place.
    #[inline(never)]
    fn init_atomic(&mut self, init: &mut Init, touch: &Touch<'_>) {
        let op = match self.run.code.insts.get(self.pc as usize).map(|i| i.op) {
            Some(MicroOp::Slow(index)) => self.run.code.slow.get(index as usize),
            _ => None,
        };
        let exchanges = match op {
            Some(SlowOp::Atomic(atomic)) => atomic.c.is_empty() && bits::replaces(atomic.f, atomic.element),
            _ => false,
        };
        init.storing.lanes = 0;
        let mut wrong: Option<(u32, Origin)> = None;
        for lane in each(touch.mask) {
            // Lanes go one after the other: what one has written, the next one finds.
            let bytes = self.missing(init, touch, lane);
            if bytes != 0 {
                let (kind, thread) = (kind(touch.place), 32 * self.warp + lane as u32);
                let addr = touch.addrs[lane];
                let moved = init.moved.get(&(kind, owner(kind, thread), addr / 4)).copied();
                let origin = moved.map(|(origin, _)| origin);
                let here = Origin { kind, pc: self.pc, addr, bytes: touch.bytes as u32, thread, others: false };
                let origin = origin.unwrap_or(here);
                if exchanges {
                    init.loaded.add(lane, bytes, false, origin);
                    self.undefined = true;
                } else {
                    wrong = Some(wrong.map_or((1 << lane, origin), |(lanes, first)| (lanes | 1 << lane, first)));
                }
            }
            self.init_write(init, &Touch { mask: 1 << lane, ..*touch });
        }
        if let Some((lanes, origin)) = wrong {
            self.undefined_use(Use::Updated, self.pc, lanes, origin);
        }
    }
}
