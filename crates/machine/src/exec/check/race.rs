//! Races: two accesses to the same bytes, one of them a write and not both strong, that nothing orders (PTX ISA 8.7).
//!
//! Every line of memory remembers who touched which of its bytes as long as that matters ([`line`]). A block's clock
//! tells what its barriers have ordered ([`clocks`]), views what threads have told each other through atomics, flags and
//! fences ([`views`]). An access is compared with what its lines remember, and then remembered itself.

mod between;
mod cells;
mod clocks;
mod compare;
mod copies;
mod decides;
mod end;
mod idiom;
mod line;
mod marks;
mod phases;
mod proxy;
mod remedy;
mod rounds;
mod row;
mod shadow;
mod story;
mod strips;
mod value;
mod view;
mod views;

use std::collections::HashMap;

use smallvec::SmallVec;

pub(crate) use phases::Visit;
pub(crate) use rounds::Came;
pub(crate) use shadow::Shadow;
pub(crate) use view::View;
pub(crate) use views::Places;

use crate::code::{Order, Place, SlowOp};
use crate::exec::check::Watch;
use crate::exec::check::warpgroup::is_product;
use crate::exec::check::watch::{Action, Touch};
use crate::exec::state::lanes::each;
use crate::exec::state::run::Run;
use crate::exec::state::warp::Warp;
use crate::report::kind::Idiom;
use between::Between;
use cells::Cells;
use clocks::Clocks;
use compare::{Past, compare, within};
use copies::{Announced, Copies};
use decides::{Use, is_data, used};
use line::Line;
use phases::Phases;
use proxy::Proxy;
use rounds::Rounds;
use row::{Kind, Row, pieces};
use story::Story;
use views::{Exchange, Views};

/// Entries of [`Races::wrote`] at most.
const WROTE: usize = 1 << 16;

/// Entries of [`Races::announced`] at most. Further copies count as complete.
const ANNOUNCED: usize = 1 << 12;

/// What a block keeps to find races.
#[derive(Debug, Default)]
pub(crate) struct Races {
    clocks: Clocks,
    views: Views,
    shared: Cells,
    /// The code has something other than barriers of the whole block that may order its warps.
    partial: bool,
    /// When each instruction last wrote: `[instruction][warp]`.
    wrote: Vec<u32>,
    /// By warp, where a kernel has asynchronous copies.
    copies: HashMap<u32, Copies>,
    /// What objects wait for of them.
    announced: Vec<Announced>,
    /// By warp: bulk copies that still read shared memory.
    reads: HashMap<u32, Copies>,
    /// By instruction and warp: when a product of a warp group was last issued.
    issued: HashMap<(u32, u8), u32>,
    /// What bulk copies need not see, where there are any that read shared memory.
    proxy: Option<Box<Proxy>>,
    /// Each warp's last wait for asynchronous copies: the instruction, and how many groups it leaves under way.
    waits: HashMap<u32, (u32, Option<u32>)>,
    /// Volatile reads of shared memory, and whether they are of data.
    data: HashMap<u32, bool>,
    /// Objects that count arrivals.
    phases: Phases,
    /// Warps that have come to barriers which count threads.
    rounds: Rounds,
    /// What plain reads are for that have raced with atomics.
    idioms: HashMap<u32, Option<Idiom>>,
    /// What becomes of what strong reads give.
    uses: HashMap<u32, Use>,
    /// What other blocks of the cluster do in the block's shared memory, where there are any.
    between: Option<Box<Between>>,
    /// The cluster's barriers are met by all threads at once.
    cluster_syncs: bool,
}

impl Races {
    pub(crate) fn new(run: &Run<'_>) -> Self {
        let code = run.code;
        let partial = code.slow.iter().any(orders_warps) || code.accesses.iter().any(|a| hands_over(a.order));
        let between = (run.cluster_size() > 1).then(Box::default);
        let proxy = code.slow.iter().any(reads_by_proxy).then(Box::default);
        Self { partial, between, proxy, cluster_syncs: code.cluster_syncs, ..Self::default() }
    }

    /// Another block begins.
    pub(crate) fn start(&mut self, run: &Run<'_>, block: u64) {
        if self.clocks.is_late() {
            *self = Self::new(run);
        }
        self.clocks.start(run.warps as usize);
        self.shared.start();
        self.views.start(block as u32);
        self.rounds.clear();
        self.phases.clear();
        self.waits.clear();
        self.announced.clear();
        self.issued.clear();
        self.between.iter_mut().for_each(|between| between.start());
        for copies in self.copies.values_mut().chain(self.reads.values_mut()) {
            copies.clear();
        }
        self.proxy.iter_mut().for_each(|proxy| proxy.clear());
    }

    /// The block, as views know it.
    pub(crate) fn block(&self) -> u32 {
        self.views.block
    }

    /// A warp comes to a barrier that counts threads.
    pub(crate) fn arrive(&mut self, came: Came) {
        let clock = self.clocks.tick();
        self.rounds.arrive(Came { clock, ..came });
    }

    /// Somebody of a barrier's round before whom nothing orders before what lanes of a warp do now.
    pub(crate) fn overtaken(&self, barrier: u32, block: u64, warp: u32, mask: u32) -> Option<Came> {
        let ordered = |came: &Came| {
            // The arrival itself: what barriers hand on has come before a clock.
            let stamp = came.clock.saturating_sub(1);
            came.warp == warp
                || self.clocks.ordered(warp, 0, came.warp, 0, stamp)
                || !self.views.is_silent() && self.views.reach(warp, mask, block as u32, came.warp, stamp)
        };
        self.rounds.before(barrier).find(|came| !ordered(came)).copied()
    }

    /// A barrier has been completed: by every thread of the block that there is, or by those that came to it.
    pub(crate) fn complete(&mut self, barrier: u32, whole: bool) {
        self.rounds.complete(barrier);
        if whole {
            self.clocks.meet_all();
            self.shared.barrier();
            self.views.meet_all();
        } else {
            let here = self.rounds.before(barrier);
            let warps: Vec<(u32, u32, bool)> = here.map(|came| (came.warp, came.clock, came.waits)).collect();
            self.clocks.meet_warps(&warps);
            self.views.meet(warps.iter().flat_map(|w| 32 * w.0..32 * w.0 + 32));
        }
    }

    /// Lanes of a warp pass `__syncwarp()`, each with the lanes that its mask names.
    pub(crate) fn warp_sync(&mut self, warp: &Warp, members: &[u32; 32], mask: u32) {
        let mut left = mask;
        while left != 0 {
            let first = left.trailing_zeros() & 31;
            let group = members[first as usize] & mask | 1 << first;
            self.clocks.meet_lanes(warp.index, group, group & warp.alive == warp.alive);
            self.views.meet(each(group).map(|lane| 32 * warp.index + lane as u32).collect::<Vec<_>>().into_iter());
            left &= !group;
        }
    }

    /// Lanes of a warp arrive at an object that counts them, which may complete a phase of it.
    pub(crate) fn phase_arrive(&mut self, visit: Visit, completes: bool) {
        self.completes(visit.object, completes);
        self.phases.arrive(&mut self.clocks, &self.views, visit, completes);
    }

    /// An arrival at an object, which may complete its phase.
    fn completes(&mut self, object: u64, completes: bool) {
        for announced in self.announced.iter_mut().filter(|announced| announced.visit.object == object) {
            announced.done |= completes;
        }
    }

    /// Lanes of a warp find that a phase is complete, and nothing more: they do not acquire what arrivals have released.
    pub(crate) fn phase_seen(&mut self, visit: Visit) {
        for announced in self.announced.iter_mut().filter(|announced| announced.is_of(&visit)) {
            announced.seen = true;
        }
    }

    /// Lanes of a warp find that a phase is complete.
    pub(crate) fn phase_wait(&mut self, visit: Visit) {
        let complete = |announced: &mut Announced| announced.is_of(&visit);
        for Announced { visit, since, at, .. } in self.announced.extract_if(.., complete) {
            if let Some(copies) = self.copies.get_mut(&visit.warp) {
                let until = std::array::from_fn(|lane| if visit.lanes >> lane & 1 == 1 { at } else { 0 });
                copies.complete(since, &until, at, &mut self.shared);
            }
        }
        self.phases.wait(&mut self.clocks, &mut self.views, visit);
    }

    /// A bulk copy begins: the time.
    pub(crate) fn copies_begin(&mut self) -> u32 {
        self.clocks.tick()
    }

    /// Lanes of a warp let an object wait for the copies that they have begun since some time.
    pub(crate) fn copies_announce(&mut self, visit: Visit, since: u32) {
        let at = self.clocks.tick();
        if self.announced.len() < ANNOUNCED {
            self.announced.push(Announced { visit, since, at, done: false, seen: false });
        } else if let Some(copies) = self.copies.get_mut(&visit.warp) {
            copies.wait(visit.lanes, None, at, &mut self.shared);
        }
    }

    /// Lanes of a warp shuffle, vote or the like.
    pub(crate) fn meet_in_registers(&mut self, warp: u32, mask: u32) {
        self.clocks.meet_in_registers(warp, mask);
    }

    pub(crate) fn fence(&mut self, warp: u32, mask: u32, whole: bool, order: Order) {
        self.views.fence(&mut self.clocks, warp, mask, whole, order);
    }

    pub(crate) fn copies_commit(&mut self, warp: u32, mask: u32) {
        let now = self.clocks.tick();
        self.copies.entry(warp).or_default().commit(mask, now, &mut self.shared);
    }

    pub(crate) fn copies_wait(&mut self, warp: u32, pc: u32, mask: u32, groups: Option<u32>) {
        self.waits.insert(warp, (pc, groups));
        let now = self.clocks.tick();
        if let Some(copies) = self.copies.get_mut(&warp) {
            copies.wait(mask, groups, now, &mut self.shared);
        }
    }

    pub(crate) fn bulk_commit(&mut self, warp: u32, mask: u32) {
        let now = self.clocks.tick();
        self.reads.entry(warp).or_default().commit(mask, now, &mut self.shared);
    }

    pub(crate) fn bulk_wait(&mut self, warp: u32, mask: u32, groups: u32) {
        let now = self.clocks.tick();
        if let Some(reads) = self.reads.get_mut(&warp) {
            reads.wait(mask, Some(groups), now, &mut self.shared);
        }
    }

    pub(crate) fn proxy_fence(&mut self, warp: u32, mask: u32) {
        let block = self.block();
        if let Some(proxy) = &mut self.proxy {
            proxy.fence(&self.clocks, &self.views, block, warp, mask);
        }
    }

    /// Remembers that a warp executes an instruction that writes.
    fn writes(&mut self, instructions: usize, pc: u32, warp: u32) {
        self.clocks.now += 1;
        let warps = self.clocks.warps.len();
        if self.wrote.is_empty() {
            // Without it the advice is a little more general.
            self.wrote = vec![0; instructions.saturating_mul(warps).min(WROTE)];
        }
        if let Some(stamp) = self.wrote.get_mut(pc as usize * warps + warp as usize) {
            *stamp = self.clocks.now;
        }
    }
}

impl Watch<'_> {
    /// Looks for accesses that race with this one, and remembers it.
    pub(crate) fn look_for_races(&mut self, races: &mut Races, touch: &Touch<'_>) {
        if touch.place == Place::Local || touch.mask == 0 {
            return;
        }
        if self.is_of_system(touch) {
            if touch.order.strong {
                self.exchange(races, touch);
            }
            return;
        }
        let kind = self.kind(touch);
        let like = self.row_of(races, touch);
        if touch.action == Action::Read && is_product(self.run.code, self.pc) {
            races.issued.insert((self.pc, like.warp), like.stamp);
        }
        if touch.place == Place::Shared && races.between.is_some() {
            self.look_within_cluster(races, touch, &like);
        }
        if kind == Kind::READ && touch.place == Place::Shared && races.shared.reads_quickly(touch, &like, &races.clocks)
        {
            return;
        }
        if touch.place == Place::Shared
            && let Some(proxy) = &mut races.proxy
        {
            proxy.note(touch, &like, self.run.code.slow_at(self.pc));
        }
        let Races { clocks, views, shared, partial, wrote, copies, reads, issued, waits, data, idioms, .. } = races;
        let serial = self.run.code.communicates || self.run.launch.cooperative;
        let past = Past {
            clocks,
            views,
            shared: touch.place == Place::Shared,
            partial: *partial,
            serial,
            code: self.run.code,
        };
        let windows = touch.windows;
        let values = value::Values { touch, windows };
        let mut factors: SmallVec<[(u32, u8); 1]> = SmallVec::new();
        let (run, findings, reach) = (self.run, &mut self.findings, &mut self.reach);
        let mut story = Story { run, findings, reach, touch, past: &past, wrote, waits, idioms };
        if past.shared {
            let code = self.run.code;
            shared.access(&like, &past, &values, |line, clash| {
                let one = &clash.earlier;
                if touch.action == Action::ReadEnds {
                    return;
                }
                // What comes behind the product and not behind its end overwrites what it may still read.
                if let Some(&stamp) = issued.get(&(one.pc, one.warp))
                    && clash.later.kind.writes()
                    && past.ordered(&Row { stamp, ..*one }, clash.other, &clash.later, clash.lane)
                {
                    factors.push((one.pc, one.warp));
                    return;
                }
                let read = if clash.later.kind.writes() { clash.earlier.pc } else { clash.later.pc };
                if !clash.lockstep || *data.entry(read).or_insert_with(|| is_data(code, read)) {
                    story.race(line, clash);
                }
            });
            if kind.is(Kind::PENDING) {
                let copies = if kind.writes() { copies } else { reads };
                let copies = copies.entry(self.warp).or_default();
                pieces(touch.mask, touch.addrs, touch.bytes, touch.row, &like, |at, row| copies.begin(at, row));
            }
        } else {
            let mut meet = |line: &mut Line, at: u64, row: Row| {
                let mut row = row;
                if row.kind.writes() && !row.kind.is(Kind::STRONG) {
                    row.value = values.common(&row);
                    if !row.disjoint() {
                        within(&row, &values, |clash| story.race(at, &clash));
                    }
                }
                compare(line, row, &past, &values, |clash| story.race(at, &clash));
            };
            let (launch, run) = (self.run.grid_id as u32, self.run);
            pieces(touch.mask, touch.addrs, touch.bytes, touch.row, &like, |at, row| {
                let lane = row.lanes.trailing_zeros() as usize & 31;
                let window = touch.window.or_else(|| value::window(windows, touch.addrs[lane]));
                let Some(region) = window.and_then(|w| run.regions.get(w)) else { return };
                region.shadow().line(&region.allocation, at, launch, |line| meet(line, at, row));
            });
        }
        if touch.order.strong {
            self.exchange(races, touch);
        }
        factors.into_iter().for_each(|(product, reader)| self.overwrites_factor(product, reader.into()));
    }

    /// Whether all of an access is to the shared memory that is reserved for the system. Only the code of CUDA's
    /// headers goes there, by rules of its own; what it hands on by that counts.
    fn is_of_system(&self, touch: &Touch<'_>) -> bool {
        let reserved = u64::from(self.run.code.reserved_shared);
        reserved > 0 && touch.place == Place::Shared && each(touch.mask).all(|lane| touch.addrs[lane] < reserved)
    }

    /// Who accesses, when, and where in the code.
    fn row_of(&self, races: &mut Races, touch: &Touch<'_>) -> Row {
        let kind = self.kind(touch);
        if kind.writes() {
            races.writes(self.run.code.insts.len(), self.pc, self.warp);
        }
        let (block, stamp, pc, warp) = (self.block as u32, races.clocks.now, self.pc, self.warp as u8);
        Row { block, stamp, pc, warp, kind, ..Row::default() }
    }

    fn kind(&self, touch: &Touch<'_>) -> Kind {
        kind(&Touch { order: self.reach_of(touch.order), ..*touch })
    }

    /// Whom an access is for: what is for a cluster reaches beyond the block where clusters have several. Blocks of other clusters
    /// are not told apart there: a race with them may be missed.
    pub(crate) fn reach_of(&self, order: Order) -> Order {
        Order { narrow: order.narrow && !(order.clustered && self.run.cluster_size() > 1), ..order }
    }

    /// A strong access may pass on what threads know, and take in what others have left.
    fn exchange(&mut self, races: &mut Races, touch: &Touch<'_>) {
        self.exchange_at(races, None, touch);
    }

    /// The same, at addresses in the shared memory of another block.
    fn exchange_at(&mut self, races: &mut Races, elsewhere: Option<&mut Places>, touch: &Touch<'_>) {
        let shared = touch.place == Place::Shared && elsewhere.is_none();
        let Races { clocks, views, uses, .. } = races;
        if views.is_silent()
            && !touch.order.release
            && match &elsewhere {
                Some(places) => places.is_empty(),
                None if shared => views.shared.is_empty(),
                None => self.places.is_empty(),
            }
        {
            return;
        }
        let code = self.run.code;
        let used = match touch.action {
            Action::Write => Use::Nothing,
            _ => *uses.entry(self.pc).or_insert_with(|| used(code, self.pc)),
        };
        let takes = matches!(code.slow_at(self.pc), Some(SlowOp::Atomic(atomic)) if atomic.takes);
        let order = self.reach_of(touch.order);
        let places = elsewhere.unwrap_or(&mut self.places);
        for lane in each(touch.mask) {
            let access = Exchange {
                // Who adds nothing has not counted itself: so one looks.
                counts: takes && used == Use::Decides && touch.looks >> lane & 1 == 0,
                learns: used != Use::Nothing || touch.order.acquire,
                thread: 32 * self.warp + lane as u32,
                place: touch.addrs[lane],
                order,
                reads: touch.action != Action::Write,
                writes: touch.action != Action::Read,
            };
            views.exchange(clocks, if shared { None } else { Some(&mut *places) }, access);
        }
    }
}

/// Whether an access may tell other threads what came before it, or learn that.
fn hands_over(order: Order) -> bool {
    order.acquire || order.release
}

/// Whether an instruction reads shared memory as bulk copies do.
fn reads_by_proxy(op: &SlowOp) -> bool {
    match op {
        SlowOp::CopyBulk(copy) => copy.from != Place::Global,
        SlowOp::CopyTensor(copy) => copy.mbarrier.is_none(),
        _ => false,
    }
}

/// Whether an instruction may order warps otherwise than by a barrier of the whole block.
fn orders_warps(op: &SlowOp) -> bool {
    match op {
        SlowOp::Barrier { threads, .. } => threads.is_some(),
        SlowOp::Fence(_) | SlowOp::Mbarrier(_) | SlowOp::ClusterBarrier { .. } => true,
        SlowOp::Atomic(atomic) => hands_over(atomic.order),
        _ => false,
    }
}

fn kind(touch: &Touch<'_>) -> Kind {
    let kind = match touch.action {
        Action::Read | Action::ReadEnds => Kind::READ,
        Action::Write | Action::CopyOut => Kind::WRITE,
        Action::Atomic => Kind::ATOMIC,
        Action::ReadAsync => Kind::READ.with(Kind::COPIED).with(Kind::PENDING),
        Action::CopyAsync => Kind::WRITE.with(Kind::COPIED).with(Kind::PENDING),
    };
    match touch.order {
        Order { strong: true, narrow: true, .. } => kind.with(Kind::STRONG).with(Kind::NARROW),
        Order { strong: true, .. } => kind.with(Kind::STRONG),
        _ => kind,
    }
}
