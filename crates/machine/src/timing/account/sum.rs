//! What one SM did, as the account of the whole launch.

mod trace;

use std::collections::{BTreeMap, HashMap};

use super::Account;
use crate::code::Place;
use crate::report::account::{Accesses, Banks, Flight, Line, Warps};
use crate::report::{self, Busy, PtxPosition, SourcePosition, State};
use crate::timing::Ticks;
use crate::timing::memory::MemorySystem;
use crate::timing::program::{Kind, Program};
use crate::timing::rates::Rates;
use crate::timing::sm::Sample;

/// Where an instruction stands.
pub(crate) type Placed = (Option<SourcePosition>, Option<PtxPosition>);

/// The launch that the SM stands for.
pub(in crate::timing) struct Whole<'a> {
    pub(in crate::timing) program: &'a Program,
    pub(in crate::timing) rates: &'a Rates,
    pub(in crate::timing) samples: &'a [Sample],
    /// Of each, the share of the grid's blocks that it stands for.
    pub(in crate::timing) shares: &'a [f64],
    /// Of the whole grid; of the SM; of these, those that were simulated.
    pub(in crate::timing) grid: u64,
    pub(in crate::timing) blocks: u64,
    pub(in crate::timing) simulated: u64,
    /// That fit on the SM at once.
    pub(in crate::timing) fit: u64,
    /// When each simulated block ended, and the ticks that all of the SM's blocks take.
    pub(in crate::timing) ends: &'a [Ticks],
    pub(in crate::timing) total: f64,
    /// The share of the SMs that have none of the last blocks.
    pub(in crate::timing) without_last: f64,
    /// The share of the launch's time that its blocks have nothing to do with.
    pub(in crate::timing) overhead: f64,
    pub(in crate::timing) most_warps: u32,
}

impl Whole<'_> {
    pub(in crate::timing) fn account(
        &self,
        account: &Account,
        memory: &MemorySystem<'_>,
        place: &dyn Fn(u32) -> Placed,
    ) -> report::Account {
        let Self { rates, ends, total, .. } = *self;
        // What was simulated goes on like that.
        let times = self.blocks as f64 / self.simulated.max(1) as f64;
        let of_time = |ticks: f64, many: f64| if total > 0.0 { (ticks * times / (many * total)).min(1.0) } else { 0.0 };
        let places = account.places().max(1) as f64;
        let end = ends.last().copied().unwrap_or_default();
        let before = ends.len().checked_sub(2).map_or(0, |at| ends[at]);
        let last = self.without_last * (end - before) as f64;
        let tail = if total > 0.0 { (account.tail(end) as f64 / places + last) / total } else { 0.0 };
        let mut states = [0; State::ALL.len()];
        for row in &account.rows {
            states.iter_mut().zip(row.states).for_each(|(sum, time)| *sum += time);
        }
        let present: Ticks = states.iter().sum();
        let fit = (self.fit * self.samples.first().map_or(0, |sample| sample.ordered.len() as u64)) as u32;
        let of_warps = |time: Ticks| time as f64 / present.max(1) as f64;
        let (lines, of) = self.lines(account, of_warps, place);
        let busy = self.busy(account, memory, states[State::Selected as usize], of_time);
        report::Account {
            overhead: self.overhead,
            dispatch: of_time(account.undispatched as f64, places),
            tail: tail.min(1.0),
            states: shares(&states, of_warps),
            occupies: self.occupies(&busy),
            busy,
            flight: Flight {
                bytes: if total > 0.0 { memory.flight() * times / total } else { 0.0 },
                needed: rates.dram_bytes_per_clock * (rates.dram_latency + rates.loaded_latency)
                    / f64::from(rates.sms.max(1)),
            },
            warps: Warps {
                resident: (if total > 0.0 { present as f64 * times / total } else { 0.0 }).min(f64::from(fit)),
                fit,
                most: self.most_warps,
            },
            trace: account.spans.as_ref().map(|spans| self.trace(spans, &of)),
            lines,
        }
    }

    /// The share of the GPU that nobody else can have meanwhile.
    fn occupies(&self, busy: &BTreeMap<Busy, f64>) -> f64 {
        let sms = f64::from(self.rates.sms.max(1));
        let room = self.grid as f64 / (sms * self.fit.max(1) as f64);
        let active = (self.grid as f64 / sms).min(1.0);
        let units = busy.iter().map(|(unit, share)| if unit.is_shared() { *share } else { share * active });
        units.fold(room, f64::max).min(1.0)
    }

    fn busy(
        &self,
        account: &Account,
        memory: &MemorySystem<'_>,
        issued: Ticks,
        of_time: impl Fn(f64, f64) -> f64,
    ) -> BTreeMap<Busy, f64> {
        let schedulers = account.units.len() as f64;
        let units = [Busy::Fma, Busy::Alu, Busy::Special, Busy::Double, Busy::Tensor].into_iter().zip(account.units());
        let units = units.map(|(unit, worked)| (unit, of_time(worked as f64, schedulers)));
        let others = memory.worked().into_iter().map(|(unit, worked)| (unit, of_time(worked, 1.0)));
        let mut busy = BTreeMap::from([(Busy::Issue, of_time(issued as f64, schedulers))]);
        for (unit, share) in units.chain(others).filter(|(_, share)| *share > 0.0) {
            let known: &mut f64 = busy.entry(unit).or_default();
            *known = known.max(share);
        }
        busy
    }

    /// The launch's accesses by instruction, as far as its samples tell.
    fn accesses(&self) -> Vec<(Accesses, Accesses, Banks)> {
        let mut all = vec![<(Accesses, Accesses, Banks)>::default(); self.program.ops.len()];
        for (Sample { recording, .. }, share) in self.samples.iter().zip(self.shares) {
            let each = self.grid as f64 * share;
            for path in &recording.warps {
                let times = each * path.cut();
                for step in path.steps.iter().filter(|step| step.lines > 0 || step.passes > 0) {
                    let op = &self.program.ops[step.pc as usize];
                    let (loads, stores, shared) = &mut all[step.pc as usize];
                    if step.passes > 0 {
                        *shared += Banks { requests: times, passes: times * f64::from(step.passes) };
                    }
                    let lines = recording.lines(step);
                    if lines.is_empty() || matches!(step.reached, Some(Place::Shared | Place::Cluster)) {
                        continue;
                    }
                    let sectors: u32 = lines.iter().map(|line| line.sectors.count_ones()).sum();
                    let mut bytes = f64::from(op.bytes) * f64::from(step.lanes);
                    if op.kind == Kind::Copy {
                        // Lanes that fill with zeros read nothing.
                        bytes = bytes.min(32.0 * f64::from(sectors));
                    }
                    let access = Accesses {
                        requests: times,
                        sectors: times * f64::from(sectors),
                        bytes: times * bytes,
                        width: op.bytes,
                    };
                    *(if op.kind.loads() { loads } else { stores }) += access;
                }
            }
        }
        all
    }

    /// The lines, and which of them an instruction belongs to.
    fn lines(
        &self,
        account: &Account,
        of_warps: impl Fn(Ticks) -> f64,
        place: &dyn Fn(u32) -> Placed,
    ) -> (Vec<Line>, HashMap<u32, usize>) {
        let accesses = self.accesses();
        let mut lines: Vec<(Line, Ticks, Option<u32>)> = Vec::new();
        // Which of them an instruction belongs to.
        let (mut known, mut of): (HashMap<(String, u32), usize>, HashMap<u32, usize>) = Default::default();
        for ((pc, row), (loads, stores, shared)) in (0..).zip(&account.rows).zip(accesses) {
            let time: Ticks = row.states.iter().sum();
            if time == 0 && loads.is_none() && stores.is_none() && shared.is_none() {
                continue;
            }
            let (source, ptx) = place(pc);
            let key = match (&source, &ptx) {
                (Some(source), _) => (source.file.clone(), source.line),
                (None, ptx) => (String::new(), ptx.as_ref().map_or(0, |ptx| ptx.line)),
            };
            let at = *known.entry(key).or_insert_with(|| {
                lines.push((Line { source, ptx, ..Line::default() }, 0, None));
                lines.len() - 1
            });
            of.insert(pc, at);
            let (line, most, awaited) = &mut lines[at];
            for (state, share) in shares(&row.states, &of_warps) {
                *line.states.entry(state).or_default() += share;
            }
            line.loads += loads;
            line.stores += stores;
            line.shared += shared;
            let waited = row.states[State::LongScoreboard as usize] + row.states[State::ShortScoreboard as usize];
            if waited > *most {
                (*most, *awaited) = (waited, row.awaited);
            }
        }
        // The largest share first.
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|&one, &other| lines[other].0.share().total_cmp(&lines[one].0.share()));
        let place_of: HashMap<usize, usize> = order.iter().enumerate().map(|(place, &at)| (at, place)).collect();
        let line = |&at: &usize| {
            let (line, _, awaited) = &lines[at];
            Line { awaited: awaited.and_then(|pc| place_of.get(of.get(&pc)?).copied()), ..line.clone() }
        };
        let sorted = order.iter().map(line).collect();
        (sorted, of.into_iter().map(|(pc, at)| (pc, place_of[&at])).collect())
    }
}

fn shares(states: &[Ticks; State::ALL.len()], share: impl Fn(Ticks) -> f64) -> BTreeMap<State, f64> {
    let all = State::ALL.into_iter().zip(states);
    all.filter(|(_, time)| **time > 0).map(|(state, time)| (state, share(*time))).collect()
}
