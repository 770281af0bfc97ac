//! What an instruction does: when its result is there, and when its warp goes on.

use super::{Sample, Sm, Warp};
use crate::code::Place;
use crate::exec::{Line, Step};
use crate::timing::cost::{
    BULK_LOAD_ISSUE, BULK_STORE_ISSUE, CLUSTER_LATENCY, CLUSTER_PASS, FENCE, FENCES_APART, MBARRIER_PASS,
    MBARRIER_WAIT, MBARRIER_WAIT_PASS, NEAR_FENCE, NEAR_FENCE_PASS, ROUTINE,
};
use crate::timing::memory::Asker;
use crate::timing::program::{Kind, Op};
use crate::timing::{TICKS, Ticks, ticks};

impl Sm<'_> {
    /// When an instruction's result is there, and when its warp may issue the next one.
    pub(super) fn effect(
        &mut self,
        number: usize,
        sample: &Sample,
        step: &Step,
        op: &Op,
        now: Ticks,
    ) -> (Ticks, Ticks) {
        let Warp { place, block, .. } = self.warps[number];
        let asker = Asker { place, block };
        let lines = sample.recording.lines(step);
        let bytes = u64::from(op.bytes) * u64::from(step.lanes);
        let latency = ticks(op.cost.latency);
        let passes = u64::from(if op.merged { step.wide_passes } else { step.passes });
        // Of generic addresses, what the lanes have really reached.
        let is_shared = |place| {
            place == Place::Shared
                || matches!(step.reached, Some(Place::Shared | Place::Cluster)) && place != Place::Global
        };
        let conflicts = || lines.iter().map(|line| u64::from(line.conflicts)).max().unwrap_or(1);
        let of_cluster = step.reached == Some(Place::Cluster);
        let done = match op.kind {
            _ if step.lanes == 0 => now + TICKS,
            Kind::Load(Place::Param) => now + latency,
            Kind::Load(Place::Constant) => now + ticks(self.rates.l1_latency),
            Kind::Load(_) => {
                let shared = if passes > 0 { self.shared(now, passes, of_cluster) } else { now };
                let global = !lines.is_empty() || passes == 0;
                if global { shared.max(self.memory.load(now, lines, bytes, asker, op.past_l1)) } else { shared }
            }
            Kind::Store(_) => {
                if !lines.is_empty() {
                    let written = self.memory.store(now, lines, bytes, asker, &sample.recording.written);
                    self.written = self.written.max(written);
                }
                let there = match () {
                    () if of_cluster => self.shared(now, passes.max(1), true),
                    () if passes > 0 => self.memory.pass(now, passes as f64),
                    () => now,
                };
                // `st.async` tells an object.
                self.arrive_at_mbarriers(number, sample, step, there);
                if !of_cluster {
                    return (there, now);
                }
                self.written = self.written.max(there);
                now
            }
            Kind::Copy => {
                let there = self.memory.load(now, lines, bytes, asker, op.past_l1);
                let done = there.max(self.memory.pass(now, passes as f64));
                let copies = &mut self.warps[number].copies;
                copies.open = copies.open.max(done);
                now
            }
            Kind::CopyCommit => {
                self.warps[number].copies.close();
                now
            }
            Kind::CopyWait(groups) => {
                let copies = &mut self.warps[number].copies;
                let awaited = copies.wait(groups.unwrap_or(0));
                let open = if groups.is_none() { copies.open } else { 0 };
                return (now, awaited.max(open).max(now + latency));
            }
            Kind::BulkLoad => {
                let there = self.memory.bulk_load(now, lines, asker);
                self.arrive_at_mbarriers(number, sample, step, there);
                return (now, now + ticks(BULK_LOAD_ISSUE));
            }
            Kind::BulkStore => {
                let (read, written) = self.memory.bulk_store(now, lines, asker, &sample.recording.written);
                self.written = self.written.max(written);
                let stores = &mut self.warps[number].bulk;
                stores.open = stores.open.max(read);
                return (now, now + ticks(BULK_STORE_ISSUE));
            }
            Kind::BulkCommit => {
                self.warps[number].bulk.close();
                now
            }
            Kind::BulkWait(groups) => {
                let awaited = self.warps[number].bulk.wait(groups);
                return (now, awaited.max(now + latency));
            }
            Kind::MbarrierArrive { copied } => {
                self.memory.pass(now, MBARRIER_PASS);
                let copies = &self.warps[number].copies;
                let there = if copied { copies.all().max(now) } else { now };
                self.arrive_at_mbarriers(number, sample, step, there);
                now + latency
            }
            Kind::MbarrierWait => {
                self.memory.pass(now, MBARRIER_WAIT_PASS);
                now + ticks(MBARRIER_WAIT)
            }
            Kind::Product => {
                let products = &mut self.warps[number].products;
                products.open = products.open.max(now + latency);
                now
            }
            Kind::ProductCommit => {
                self.warps[number].products.close();
                now
            }
            Kind::ProductWait(groups) => {
                let awaited = self.warps[number].products.wait(groups);
                return (now, awaited.max(now + latency));
            }
            Kind::Shuffle => self.memory.pass(now, 1.0) + ticks(self.rates.shuffle),
            Kind::Atomic(_) if of_cluster => {
                let conflicts = if op.counts || op.one_lane { 1 } else { conflicts() };
                self.shared(now, conflicts, true) + ticks(self.rates.shared_latency)
            }
            Kind::Atomic(at) if is_shared(at) && op.float => {
                let done = self.add_in_loop(lines, place, now);
                return (done, done);
            }
            Kind::Atomic(at) if is_shared(at) => {
                let conflicts = if op.counts || op.one_lane { 1 } else { conflicts() };
                self.memory.pass(now, (2 + conflicts) as f64) + ticks(2.0 * self.rates.shared_latency)
            }
            Kind::Atomic(_) => {
                let done = self.memory.atomic(now, lines, op, asker);
                self.written = self.written.max(done);
                done
            }
            Kind::Branch => return (now, now + ticks(self.rates.branch)),
            Kind::Fence { near: true } => {
                let done = self.memory.pass(now, NEAR_FENCE_PASS) + ticks(NEAR_FENCE);
                return (done, done);
            }
            Kind::Fence { near: false } | Kind::ClusterArrive { relaxed: false } => {
                // It waits for all that the SM has written, whichever warp did.
                let begun = self.written.max(self.fences).max(now);
                self.fences = begun + ticks(FENCES_APART);
                let done = begun + ticks(FENCE);
                return (done, done);
            }
            Kind::Plain if op.serial => {
                let routine = if step.by_routine { ticks(ROUTINE.latency) } else { 0 };
                return (now + routine + latency, now + routine + ticks(op.cost.latency * self.rates.serial));
            }
            Kind::Plain
            | Kind::Barrier
            | Kind::ClusterArrive { relaxed: true }
            | Kind::ClusterWait
            | Kind::ProductFence => now + latency,
        };
        (done, now)
    }

    /// When what shared memory is asked for in so many passes is there: the block's own, or that of another block of
    /// the cluster.
    fn shared(&mut self, now: Ticks, passes: u64, of_cluster: bool) -> Ticks {
        let banks = self.memory.pass(now, passes as f64);
        if !of_cluster {
            return banks + ticks(self.rates.shared_latency);
        }
        let begun = self.cluster.max(now);
        self.cluster = begun + ticks(CLUSTER_PASS * passes as f64);
        banks.max(begun) + ticks(CLUSTER_LATENCY)
    }

    /// Additions of floats in shared memory: compare and exchange, until no other came in between.
    fn add_in_loop(&mut self, words: &[Line], place: usize, now: Ticks) -> Ticks {
        let conflicts = words.iter().map(|line| line.conflicts).max().unwrap_or(1);
        let begun = self.memory.free().max(now) + 2 * TICKS;
        self.memory.pass(now, 2.0 + self.rates.shared_round * f64::from(conflicts));
        let mut done = begun;
        for line in words {
            let times = f64::from(line.conflicts);
            let word = self.words.entry((place, line.number)).or_default();
            *word = (*word).max(begun) + ticks(self.rates.shared_loop_apart * times);
            done = done.max(*word + ticks((self.rates.shared_loop - self.rates.shared_loop_apart) * times));
        }
        done
    }
}
