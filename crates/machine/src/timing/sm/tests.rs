use std::collections::HashSet;

use super::*;
use crate::exec::{AtBarrier, AtMbarrier, Line};
use crate::profile::Profile;
use crate::timing::TICKS;
use crate::timing::cost::{Cost, FENCE};
use crate::timing::memory::Load;
use crate::timing::program::Op;
use crate::timing::program::live::Live;

fn op(text: &str, kind: Kind) -> Op {
    Op { bytes: 16, ..Op::new(Cost::of(text, &Profile::default().units), kind) }
}

type Steps<'a> = &'a [(u32, Option<AtBarrier>)];

/// Clocks of one block: of each warp, the places of its instructions, with an arrival for barriers.
fn clocks(ops: Vec<Op>, warps: &[Steps<'_>]) -> u64 {
    ran(ops, warps).0
}

/// The same, with the ticks that the warps spend in each state at each instruction.
fn ran(ops: Vec<Op>, warps: &[Steps<'_>]) -> (u64, Vec<HashMap<State, Ticks>>) {
    let one = Work { blocks: 1, resident: 1, places: 1, warps: 64, every: 0.0, apart: None, sample: &|_| 0 };
    simulated(ops, warps, &one)
}

/// The same, of several blocks that are alike: until the last one ends.
fn simulated(ops: Vec<Op>, warps: &[Steps<'_>], work: &Work<'_>) -> (u64, Vec<HashMap<State, Ticks>>) {
    let mut recording = Recording::new(warps.len() as u32);
    recording.lines = vec![Line { number: 1, sectors: 1, whole: 0, conflicts: 0 }];
    for (warp, steps) in warps.iter().enumerate() {
        for &(pc, arrival) in *steps {
            let is_copy = ops[pc as usize].kind == Kind::Copy;
            recording.step(warp as u32, pc, 32);
            match ops[pc as usize].kind {
                Kind::MbarrierArrive { .. } | Kind::BulkLoad => {
                    recording.visit(warp as u32, 8, None, AtMbarrier::Arrives);
                }
                Kind::MbarrierWait => recording.visit(warp as u32, 8, None, AtMbarrier::Asks { ended: false }),
                _ => {}
            }
            if let Some(step) = recording.warps[warp].steps.last_mut() {
                (step.first, step.lines) = (0, u16::from(is_copy));
            }
            if let Some(arrival) = arrival {
                recording.arrive(warp as u32, arrival);
            }
        }
    }
    let operands = vec![Operands { reads: Vec::new(), writes: Vec::new() }; ops.len()];
    let program = Program {
        ops,
        registers: 0,
        spills: 0,
        predicated: HashMap::new(),
        ifs: HashMap::new(),
        live: Live::default(),
    };
    let order = |path: &crate::exec::Path| {
        path.steps.iter().map(|&step| Ordered { step, operands: step.pc }).collect::<Vec<_>>()
    };
    let ordered = recording.warps.iter().map(order).collect();
    let (rates, common) = (crate::timing::Rates::h200(), HashSet::new());
    let load =
        Load { pieces: &[], common: &common, active: 1.0, last: (0, 1.0), written_back: 0.0, shared: 0, first_wave: 1 };
    let (samples, operands) = ([Sample::new(&program, recording, ordered)], (operands, 0));
    let mut sm = Sm::new(&program, &rates, MemorySystem::new(&rates, load), &samples, &operands);
    let result = sm.run(work);
    assert_eq!(result.ends.len(), work.blocks as usize);
    let states = |row: &crate::timing::account::Row| State::ALL.into_iter().zip(row.states).collect();
    let last = result.ends.last().copied().unwrap_or_default();
    (last / TICKS, sm.account().0.rows.iter().map(states).collect())
}

#[test]
fn warps_that_have_left_make_room_for_blocks() {
    let ops = || vec![op("add.u32 %r1, %r2, %r3;", Kind::Plain), op("cp.async.wait_all;", Kind::CopyWait(None))];
    let (short, long): (&[_], &[_]) = (&[(0, None)], &[(1, None); 400]);
    let ran = |warps: [Steps<'_>; 4], places, every: Ticks, apart| {
        let every = (every * TICKS) as f64;
        let blocks = Work { blocks: 32, resident: 4, places, warps: 16, every, apart, sample: &|_| 0 };
        simulated(ops(), &warps, &blocks).0
    };
    // Far apart: of blocks that end at once, all those that follow still have all of their warps.
    let of = |warps, places| ran(warps, places, 500, None);
    let one_stays = [long, short, short, short];
    assert!(3 * of(one_stays, 16) < 2 * of(one_stays, 4), "{} {}", of(one_stays, 16), of(one_stays, 4));
    // Without shared memory for more blocks, and where all stay, nothing begins earlier.
    assert_eq!(of([long; 4], 16), of([long; 4], 4));
    // But then what ends on the SM beside this one lets more begin, if it ends later; and none where there is no room.
    let beside = |warps, apart: Ticks| ran(warps, 16, 0, Some(apart * TICKS));
    assert!(3 * beside(one_stays, 600) < 2 * beside(one_stays, 0), "{}", beside(one_stays, 600));
    assert_eq!(beside([long; 4], 600), beside([long; 4], 0));
}

#[test]
fn on_the_sm_beside_blocks_end_between_those_of_this_one() {
    assert_eq!(super::beside([1000, 600], 1800), 200);
    // Two ended at once, and on both.
    assert_eq!(super::beside([1000, 995], 1800), 2);
    assert_eq!(super::beside([0, 0], 1800), 0);
}

#[test]
fn all_of_a_warps_time_is_accounted_for() {
    let ops = vec![
        op("cp.async.cg.shared.global [%r1], [%rd1], 16;", Kind::Copy),
        op("cp.async.wait_all;", Kind::CopyWait(None)),
        op("bar.sync 0;", Kind::Barrier),
        op("fence.acq_rel.gpu;", Kind::Fence { near: false }),
    ];
    let here = Some(AtBarrier { id: 0, threads: None, counts: 32, waits: true });
    let (clocks, rows) = ran(ops, &[&[(0, None), (1, None), (2, here)], &[(3, None), (2, here)]]);
    let all: Ticks = rows.iter().flat_map(HashMap::values).sum();
    // Both begin with the block, and end with it but for what a warp's last turn takes.
    assert!((2 * clocks).abs_diff(all / TICKS) < 20, "{clocks} {rows:?}");
    // Each waits where it has to.
    let here = |at: usize| rows[at].iter().filter(|(state, _)| **state != State::Launch);
    let most = |at: usize| here(at).max_by_key(|(_, time)| **time).map(|(state, _)| *state);
    let waits = [1, 2, 3].map(most);
    assert_eq!(waits, [State::LongScoreboard, State::Barrier, State::Membar].map(Some), "{rows:?}");
}

#[test]
fn a_barrier_waits_for_those_that_it_counts() {
    let ops = || vec![op("bar.sync 1, 32;", Kind::Barrier), op("fence.acq_rel.gpu;", Kind::Fence { near: false })];
    let at = |id: u8, threads| Some(AtBarrier { id, threads, counts: 32, waits: true });
    let slow: [(u32, Option<AtBarrier>); 4] = [(1, None), (1, None), (1, None), (0, at(0, None))];
    let both = clocks(ops(), &[&[(0, at(0, None)), (1, None), (1, None), (1, None)], &slow]);
    let own = clocks(ops(), &[&[(0, at(1, Some(32))), (1, None), (1, None), (1, None)], &slow]);
    assert!(both > own + 500, "{both} {own}");
    // None comes: it ends all the same.
    clocks(ops(), &[&[(0, at(0, Some(64)))], &[(1, None)]]);
}

#[test]
fn a_clusters_barrier_has_rounds_and_waits_for_what_was_written() {
    let ops = || {
        let arrive = |text: &str, relaxed| op(text, Kind::ClusterArrive { relaxed });
        vec![
            arrive("barrier.cluster.arrive.relaxed.aligned;", true),
            arrive("barrier.cluster.arrive.aligned;", false),
            op("barrier.cluster.wait.aligned;", Kind::ClusterWait),
            op("fence.acq_rel.gpu;", Kind::Fence { near: false }),
        ]
    };
    let of = |warps: [&[u32]; 2]| {
        let [one, two] = warps.map(|places| places.iter().map(|at| (*at, None)).collect::<Vec<_>>());
        clocks(ops(), &[&one, &two])
    };
    let [none, relaxed, released, twice] =
        [&[][..], &[0, 2], &[1, 2], &[0, 2, 0, 2]].map(|places| of([places, places]));
    assert!((70..120).contains(&(relaxed - none)), "{none} {relaxed}");
    assert!((FENCE as u64..400).contains(&(released - relaxed)), "{relaxed} {released}");
    assert!((140..240).contains(&(twice - none)), "{none} {twice}");
    // Who comes late lets the other wait, which has work left; who has left is not waited for.
    let [late, early] = [&[3, 3, 0, 2][..], &[0, 2, 3, 3][..]];
    assert!(of([late, early]) > of([late, late]) + FENCE as u64, "{} {}", of([late, early]), of([late, late]));
    assert!(of([&[0, 2], &[]]) < relaxed + 20);
    // Nor does one count that has come and left: the other's rounds take as long as ever.
    let (left, alone) = (of([&[0, 2, 0, 2], &[0]]), of([&[0, 2, 0, 2], &[]]));
    assert!(left + 20 > alone, "{left} {alone}");
}

#[test]
fn who_waits_for_copies_waits_until_they_are_there() {
    let ops = |groups| {
        let copy = op("cp.async.cg.shared.global [%r1], [%rd1], 16;", Kind::Copy);
        let commit = op("cp.async.commit_group;", Kind::CopyCommit);
        vec![copy, commit, op("cp.async.wait_group 0;", Kind::CopyWait(groups))]
    };
    let steps: &[(u32, Option<AtBarrier>)] = &[(0, None), (1, None), (2, None)];
    let [all, one_may] = [0, 1].map(|groups| clocks(ops(Some(groups)), &[steps]));
    assert!(all > one_may + 200, "{all} {one_may}");
    // Without a number, it waits for those of no group, too.
    let open = clocks(ops(None), &[&[(0, None), (2, None)]]);
    assert!(open > one_may + 200, "{open} {one_may}");
}

#[test]
fn products_of_warp_groups_go_on_behind_the_warps_back() {
    let form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;";
    let ops = || {
        let wait = |groups| op("wgmma.wait_group.sync.aligned 0;", Kind::ProductWait(groups));
        let commit = op("wgmma.commit_group.sync.aligned;", Kind::ProductCommit);
        vec![op(form, Kind::Product), commit, wait(0), wait(1)]
    };
    let of = |places: &[u32]| {
        let steps: Vec<(u32, Option<AtBarrier>)> = places.iter().map(|place| (*place, None)).collect();
        clocks(ops(), &[&steps])
    };
    let [issued, waited, one_left] = [of(&[0, 1]), of(&[0, 1, 2]), of(&[0, 1, 3])];
    assert!(waited > issued + 100 && one_left < issued + 50, "{issued} {waited} {one_left}");
    // The tensor core does one after the other: each takes it 128 clocks.
    let four = of(&[0, 0, 0, 0, 1, 2]);
    assert!((3 * 128 - 8..3 * 128 + 8).contains(&(four - waited)), "{waited} {four}");
}

#[test]
fn who_waits_at_an_mbarrier_waits_for_all_that_arrive() {
    let ops = || {
        let arrive = op("mbarrier.arrive.shared.b64 %rd1, [%r1];", Kind::MbarrierArrive { copied: false });
        let wait = op("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;", Kind::MbarrierWait);
        let copy = op("cp.async.bulk.shared::cluster.global [%r1], [%rd1], 16, [%r2];", Kind::BulkLoad);
        vec![arrive, wait, copy, op("fence.acq_rel.gpu;", Kind::Fence { near: false })]
    };
    let of = |warps: [&[u32]; 2]| {
        let [one, two] = warps.map(|places| places.iter().map(|at| (*at, None)).collect::<Vec<_>>());
        clocks(ops(), &[&one, &two])
    };
    let [none, both, late] = [of([&[], &[]]), of([&[0, 1], &[0, 1]]), of([&[0, 1], &[3, 0, 1]])];
    assert!((25..90).contains(&(both - none)), "{none} {both}");
    assert!(late > both + FENCE as u64 - 20, "{both} {late}");
    // A copy arrives when it is there, and the thread that has begun it goes on meanwhile.
    let [begun, awaited, behind] = [of([&[2], &[]]), of([&[2], &[1]]), of([&[2, 3], &[1]])];
    assert!(awaited > begun + 200 && behind < awaited + 50, "{begun} {awaited} {behind}");
    // A phase without arrivals holds no warp up.
    assert!(of([&[1], &[]]) < none + 90);
}

#[test]
fn fences_of_a_block_do_not_go_to_l2() {
    let ops = || [true, false].map(|near| op("fence.acq_rel.cta;", Kind::Fence { near })).to_vec();
    let [none, near, far] = [&[][..], &[(0, None)], &[(1, None)]].map(|steps| clocks(ops(), &[steps]));
    assert!(near < none + 30 && far > none + FENCE as u64 - 20, "{none} {near} {far}");
}

#[test]
fn bulk_copies_out_of_shared_memory_hold_up_who_waits_for_them() {
    let ops = || {
        let store = op("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;", Kind::BulkStore);
        let commit = op("cp.async.bulk.commit_group;", Kind::BulkCommit);
        let wait = |groups| op("cp.async.bulk.wait_group.read 0;", Kind::BulkWait(groups));
        vec![store, commit, wait(0), wait(1)]
    };
    let of = |places: &[u32]| {
        let steps: Vec<(u32, Option<AtBarrier>)> = places.iter().map(|place| (*place, None)).collect();
        clocks(ops(), &[&steps])
    };
    let [awaited, one_left] = [of(&[0, 1, 2]), of(&[0, 1, 3])];
    assert!(awaited > one_left + 40, "{awaited} {one_left}");
}
