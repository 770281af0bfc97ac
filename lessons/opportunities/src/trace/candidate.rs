//! Launches that might become one: chains, what follows a product, and launches side by side.

use std::collections::BTreeMap;

use fusion_machine::Profile;
use serde::Serialize;

use super::flow::{Flow, Step};
use super::memory::Piece;
use super::reason::Reason;
use crate::candidate::{Form, Verdict, WORTH};

/// Launches that are further apart than this are not looked at together.
const FAR: usize = 64;
/// A launch with so many times fewer blocks than the one before it, and fewer than the GPU has multiprocessors, sums up what that one made.
const FEWER: u64 = 8;
/// Launches side by side are one candidate if they share at least this part of their bytes.
const SHARED: f64 = 0.1;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Candidate {
    /// Kernels in the order of their launches.
    pub(crate) kernels: Vec<String>,
    pub(crate) form: Form,
    /// How often the program does this.
    pub(crate) times: u64,
    pub(crate) bytes_apart: u64,
    pub(crate) bytes_fused: u64,
    pub(crate) predicted_apart_ns: f64,
    pub(crate) predicted_fused_ns: f64,
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<Reason>,
}

impl Candidate {
    pub(crate) fn name(&self) -> String {
        self.kernels.join(" + ")
    }

    /// By the launches and the bytes that are saved. What else a kernel waits for stays.
    pub(crate) fn speedup(&self) -> f64 {
        self.predicted_apart_ns / self.predicted_fused_ns
    }

    /// Of all that the program does so, in nanoseconds: predicted.
    pub(crate) fn saved_ns(&self) -> f64 {
        self.times as f64 * (self.predicted_apart_ns - self.predicted_fused_ns)
    }
}

/// All candidates; what saves the program most comes first, and what should stay apart last.
pub(crate) fn find(flow: &Flow, profile: &Profile) -> Vec<Candidate> {
    let chains = chains(flow, profile);
    let group_of: BTreeMap<usize, usize> =
        chains.iter().enumerate().flat_map(|(group, members)| members.iter().map(move |&step| (step, group))).collect();
    let mut groups: Vec<(Form, Vec<usize>)> = chains.iter().map(|members| (Form::Chain, members.clone())).collect();
    let together =
        |first: usize, second: usize| group_of.get(&first).is_some_and(|group| group_of.get(&second) == Some(group));
    for (from, to) in flow.edges() {
        let (Some(first), Some(second)) = (flow.launch(from), flow.launch(to)) else { continue };
        if together(from, to) || to - from > FAR || first.kernel == second.kernel {
            continue;
        }
        let form = match (first.is_heavy(), second.is_heavy()) {
            (_, true) => Form::Prologue,
            (true, false) => Form::Epilogue,
            (false, false) => Form::Pair,
        };
        groups.push((form, vec![from, to]));
    }
    groups.extend(side_by_side(flow).into_iter().map(|members| (Form::SideBySide, members)));
    let mut candidates: Vec<Candidate> = Vec::new();
    for (form, members) in groups {
        let new = judge(flow, profile, form, &members);
        let same = |known: &&mut Candidate| {
            (&known.kernels, known.form, known.bytes_apart, known.bytes_fused, &known.reasons)
                == (&new.kernels, new.form, new.bytes_apart, new.bytes_fused, &new.reasons)
        };
        match candidates.iter_mut().find(same) {
            Some(known) => known.times += 1,
            None => candidates.push(new),
        }
    }
    candidates.sort_by(|a, b| {
        let apart = |candidate: &Candidate| candidate.verdict == Verdict::KeepApart;
        apart(a).cmp(&apart(b)).then(b.saved_ns().total_cmp(&a.saved_ns()))
    });
    candidates
}

/// The largest groups of launches, each with a kernel of its own, in which one reads what another wrote and none reads its bytes often.
///
/// A kernel stands in a group once. A program that does the same again and again would else be one group, whose steps depend on each other.
fn chains(flow: &Flow, profile: &Profile) -> Vec<Vec<usize>> {
    // The group of each step, and the steps of each group. A group that has joined another one is empty.
    let mut group_of: Vec<Option<usize>> = vec![None; flow.steps.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (from, to) in flow.edges() {
        let light = |step| flow.launch(step).is_some_and(|launch| !launch.is_heavy());
        if !light(from) || !light(to) || too_few_blocks(flow, profile, from, to).is_some() {
            continue;
        }
        let group = |step: usize| group_of.get(step).copied().flatten();
        let (a, b) = (group(from), group(to));
        if a.is_some() && a == b {
            continue;
        }
        let members_of =
            |group: Option<usize>, step| group.and_then(|at| groups.get(at).cloned()).unwrap_or(vec![step]);
        let mut members = [members_of(a, from), members_of(b, to)].concat();
        members.sort_unstable();
        let mut kernels: Vec<&str> =
            members.iter().filter_map(|&step| flow.launch(step)).map(|launch| launch.kernel.as_str()).collect();
        kernels.sort_unstable();
        let twice = kernels.windows(2).any(|pair| pair.first() == pair.last());
        let far = members.last().zip(members.first()).is_some_and(|(last, first)| last - first > FAR);
        if twice || far || flow.between(&members).is_some() {
            continue;
        }
        for joined in a.into_iter().chain(b) {
            groups.get_mut(joined).into_iter().for_each(Vec::clear);
        }
        for &member in &members {
            group_of.get_mut(member).into_iter().for_each(|group| *group = Some(groups.len()));
        }
        groups.push(members);
    }
    groups.retain(|members| !members.is_empty());
    groups.sort();
    groups
}

/// Neighbours of which neither needs the other, and that read the same bytes.
fn side_by_side(flow: &Flow) -> Vec<Vec<usize>> {
    let launches: Vec<usize> = (0..flow.steps.len()).filter(|&step| flow.launch(step).is_some()).collect();
    let pairs = launches.windows(2).filter_map(|pair| <[usize; 2]>::try_from(pair).ok());
    let fits = |&[first, second]: &[usize; 2]| {
        let shared = flow.pieces_of(&[first]);
        let shared = shared.filter(|piece| piece.readers.contains(&first) && piece.readers.contains(&second));
        let shared = sum(shared.map(|piece| piece.bytes));
        let all = sum([first, second].iter().filter_map(|&step| flow.steps.get(step)).map(Step::bytes));
        shared as f64 >= SHARED * all as f64 && shared > 0 && !flow.needs(first, second)
    };
    pairs.filter(fits).map(Vec::from).collect()
}

fn too_few_blocks(flow: &Flow, profile: &Profile, from: usize, to: usize) -> Option<Reason> {
    let (first, second) = (flow.launch(from)?, flow.launch(to)?);
    let few = second.blocks.saturating_mul(FEWER) <= first.blocks && second.blocks < u64::from(profile.sms);
    let (kernel, blocks, of) = (second.kernel.clone(), second.blocks, first.blocks);
    few.then_some(Reason::FewBlocks { kernel, blocks, of })
}

fn judge(flow: &Flow, profile: &Profile, form: Form, members: &[usize]) -> Candidate {
    let steps = || members.iter().filter_map(|&step| flow.steps.get(step));
    let launches = || members.iter().filter_map(|&step| flow.launch(step));
    let bytes_apart = sum(steps().map(Step::bytes));
    let bytes_fused = bytes_apart - saved(flow, members).min(bytes_apart);
    let predicted_apart_ns: f64 = launches().map(|launch| launch.ns).sum();
    let transfer = |bytes: u64| 1e9 * bytes as f64 / profile.dram_bandwidth;
    let launch_saved = (members.len() - 1) as f64 * profile.launch_overhead_ns;
    let least = profile.launch_overhead_ns + transfer(bytes_fused);
    let without = predicted_apart_ns - launch_saved - transfer(bytes_apart - bytes_fused);
    // A kernel that takes longer than its bytes goes on to do so.
    let predicted_fused_ns = without.max(least).min(predicted_apart_ns);
    let reasons = reasons(flow, profile, form, members);
    let speedup = predicted_apart_ns / predicted_fused_ns;
    let verdict = match () {
        () if reasons.iter().any(Reason::forbids) => Verdict::KeepApart,
        () if reasons.iter().any(Reason::is_a_doubt) || speedup < WORTH => Verdict::Measure,
        () => Verdict::Fuse,
    };
    let kernels = launches().map(|launch| launch.kernel.clone()).collect();
    Candidate {
        kernels,
        form,
        times: 1,
        bytes_apart,
        bytes_fused,
        predicted_apart_ns,
        predicted_fused_ns,
        verdict,
        reasons,
    }
}

/// A file may say anything.
fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// Bytes that one kernel need not move. It reads once what several of them read, and writes only what another step reads, or what is left at the end.
fn saved(flow: &Flow, members: &[usize]) -> u64 {
    let bytes = |piece: &Piece| {
        let inside = piece.readers.iter().filter(|reader| members.contains(reader)).count() as u64;
        let made_here = piece.writer.is_some_and(|writer| members.contains(&writer));
        let ends_here = made_here && inside > 0 && inside == piece.readers.len() as u64;
        let reads = if made_here { inside } else { inside.saturating_sub(1) };
        piece.bytes.saturating_mul(reads + u64::from(ends_here))
    };
    sum(flow.pieces_of(members).map(bytes))
}

fn reasons(flow: &Flow, profile: &Profile, form: Form, members: &[usize]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(step) = flow.between(members).and_then(|step| flow.steps.get(step)) {
        reasons.push(Reason::Between { step: step.name().to_owned() });
    }
    if let (Form::Pair | Form::Prologue | Form::Epilogue, &[first, second]) = (form, members) {
        reasons.extend(too_few_blocks(flow, profile, first, second));
        match (flow.launch(first), flow.launch(second)) {
            (_, Some(launch)) if launch.is_heavy() => {
                reasons.push(Reason::ReadOften { kernel: launch.kernel.clone(), times: launch.reuse });
            }
            (Some(launch), _) if launch.is_heavy() => {
                reasons.push(Reason::Epilogue { kernel: launch.kernel.clone() });
            }
            _ => {}
        }
    }
    let kept = flow.pieces_of(members).filter(|piece| {
        piece.writer.is_some_and(|writer| members.contains(&writer))
            && piece.readers.iter().any(|reader| members.contains(reader))
    });
    let elsewhere = kept.flat_map(|piece| &piece.readers).filter(|reader| !members.contains(reader));
    let mut by: Vec<&str> = elsewhere.filter_map(|&reader| flow.steps.get(reader)).map(Step::name).collect();
    by.sort_unstable();
    by.dedup();
    reasons.extend(by.into_iter().map(|by| Reason::ReadElsewhere { by: by.to_owned() }));
    reasons
}
