//! What might be fused: chains, epilogues, operations side by side, and pairs that should stay apart.

use fusion_machine::Profile;
use serde::Serialize;

use crate::cost::{Cost, Needs, boundary, waits_for_memory};
use crate::graph::{Graph, Operation};
use crate::operation::Kind;
use crate::reason::Reason;
use crate::score::{self, Score};

/// A block of a matmul makes so many columns of the output.
const TILE: u64 = 128;
/// The least ideal speedup that is worth a kernel. The score ranks, and this decides: it is arithmetic and no opinion.
pub(crate) const WORTH: f64 = 1.1;
/// Below this share of the warps a reason is given.
const LOW_OCCUPANCY: f64 = 0.5;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Candidate {
    /// The operations' names, joined by `+`.
    pub(crate) name: String,
    pub(crate) form: Form,
    #[serde(skip)]
    pub(crate) operations: Vec<usize>,
    pub(crate) cost: Cost,
    pub(crate) needs: Needs,
    pub(crate) score: Score,
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<Reason>,
}

/// What kind of fusion it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// Producers and consumers, element by element or row by row.
    Chain,
    /// What follows a matmul or an attention, done before its result leaves.
    Epilogue,
    /// What comes before one.
    Prologue,
    /// Operations that do not need each other.
    SideBySide,
    /// A pair that is connected and cannot be one kernel for a reason.
    Pair,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Fuse,
    /// No kernel of one's own.
    AskTheLibrary,
    /// Fusing saves something, and it is little or costs something else.
    Measure,
    KeepApart,
}

impl Verdict {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Verdict::Fuse => "fuse",
            Verdict::AskTheLibrary => "ask the library",
            Verdict::Measure => "measure first",
            Verdict::KeepApart => "keep apart",
        }
    }
}

impl Form {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Form::Chain => "chain",
            Form::Epilogue => "epilogue",
            Form::Prologue => "prologue",
            Form::SideBySide => "side by side",
            Form::Pair => "pair",
        }
    }
}

/// All candidates, best score first; what should stay apart comes last.
pub(crate) fn find(graph: &Graph, profile: &Profile) -> Vec<Candidate> {
    let mut found: Vec<(Form, Vec<usize>)> = Vec::new();
    found.extend(chains(graph).into_iter().map(|operations| (Form::Chain, operations)));
    for (index, operation) in graph.operations.iter().enumerate() {
        if operation.kind().is_heavy() {
            found.extend(tail(graph, index).map(|operations| (Form::Epilogue, operations)));
        }
    }
    found.extend(side_by_side(graph).into_iter().map(|operations| (Form::SideBySide, operations)));
    for (producer, consumer) in edges(graph) {
        if found.iter().any(|(_, operations)| operations.contains(&producer) && operations.contains(&consumer)) {
            continue;
        }
        let into_heavy = graph.operations.get(consumer).is_some_and(|operation| operation.kind().is_heavy());
        found.push((if into_heavy { Form::Prologue } else { Form::Pair }, vec![producer, consumer]));
    }
    let mut candidates: Vec<Candidate> =
        found.into_iter().map(|(form, operations)| judge(graph, profile, form, operations)).collect();
    overlaps(&mut candidates);
    candidates.sort_by(|a, b| {
        let apart = |candidate: &Candidate| candidate.verdict == Verdict::KeepApart;
        apart(a).cmp(&apart(b)).then(b.score.total.total_cmp(&a.score.total))
    });
    candidates
}

/// A candidate with everything that is known of it, except what it shares with others.
pub(crate) fn judge(graph: &Graph, profile: &Profile, form: Form, operations: Vec<usize>) -> Candidate {
    let cost = Cost::of(graph, profile, &operations);
    let needs = Needs::of(graph, profile, &operations);
    let reasons = reasons(graph, profile, form, &operations, &needs);
    let library_lost = reasons.iter().any(|reason| matches!(reason, Reason::LibraryLost { .. }));
    let score = Score::of(graph, profile, &operations, &cost, &needs, library_lost);
    let verdict = match () {
        () if reasons.iter().any(Reason::forbids) => Verdict::KeepApart,
        () if library_lost => Verdict::Measure,
        () if reasons.iter().any(Reason::is_a_call) => Verdict::AskTheLibrary,
        () if cost.ideal_speedup() >= WORTH => Verdict::Fuse,
        () => Verdict::Measure,
    };
    let names: Vec<&str> =
        operations.iter().filter_map(|&i| graph.operations.get(i)).map(|operation| operation.name.as_str()).collect();
    Candidate { name: names.join("+"), form, operations, cost, needs, score, verdict, reasons }
}

/// Pairs of producer and consumer.
fn edges(graph: &Graph) -> Vec<(usize, usize)> {
    let mut edges: Vec<(usize, usize)> = (graph.tensors.iter())
        .flat_map(|tensor| tensor.consumers.iter().filter_map(|&consumer| Some((tensor.producer?, consumer))))
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Whether a consumer's blocks have what they need of the producer: the same rows, or the same elements.
fn same_pieces(producer: &Operation, consumer: &Operation) -> bool {
    use Kind::{Elementwise, Reduce, Row, Split, Transpose};
    match (producer.kind(), consumer.kind()) {
        (Elementwise | Split, Elementwise | Row | Reduce | Split) => true,
        (Row, Elementwise | Row | Split) => true,
        (Row, Reduce) => !consumer.other_axis,
        // A block that has reduced its row has what every element of that row needs.
        (Reduce, Elementwise) => !producer.other_axis,
        (Elementwise, Transpose) | (Transpose, Elementwise) => true,
        _ => false,
    }
}

/// The largest groups of light operations in which everything follows from what a block has.
fn chains(graph: &Graph) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..graph.operations.len()).collect();
    for (producer, consumer) in edges(graph) {
        let (Some(p), Some(c)) = (graph.operations.get(producer), graph.operations.get(consumer)) else { continue };
        let (Some(&a), Some(&b)) = (group.get(producer), group.get(consumer)) else { continue };
        if p.kind().is_heavy() || c.kind().is_heavy() || a == b || !same_pieces(p, c) {
            continue;
        }
        let members: Vec<usize> =
            (0..group.len()).filter(|&i| group.get(i).is_some_and(|&of| of == a || of == b)).collect();
        if one_row_length(graph, &members) && is_convex(graph, &members) {
            for member in members {
                if let Some(slot) = group.get_mut(member) {
                    *slot = a;
                }
            }
        }
    }
    let mut chains: Vec<Vec<usize>> = (0..group.len())
        .map(|root| (0..group.len()).filter(|&i| group.get(i) == Some(&root)).collect::<Vec<_>>())
        .filter(|members| members.len() > 1)
        .collect();
    chains.sort();
    chains
}

/// All that go by rows go by the same rows, and a reduction along another axis has no company of that kind.
fn one_row_length(graph: &Graph, members: &[usize]) -> bool {
    let by_row = members.iter().filter_map(|&i| graph.operations.get(i));
    let by_row = by_row.filter(|operation| matches!(operation.kind(), Kind::Row | Kind::Reduce));
    let mut pieces: Vec<(bool, u64)> = by_row
        .map(|operation| (operation.other_axis, graph.tensors_of(&operation.inputs).next().map_or(0, |x| x.row())))
        .collect();
    pieces.dedup();
    pieces.len() < 2
}

/// No path leaves the group and comes back: the kernel would wait for somebody who waits for it.
fn is_convex(graph: &Graph, members: &[usize]) -> bool {
    (0..graph.operations.len()).filter(|outside| !members.contains(outside)).all(|outside| {
        let after = members.iter().any(|&member| graph.reaches(member, outside));
        let before = members.iter().any(|&member| graph.reaches(outside, member));
        !(after && before)
    })
}

/// A matmul or attention with the elementwise operations that follow one another from it.
fn tail(graph: &Graph, heavy: usize) -> Option<Vec<usize>> {
    let mut operations = vec![heavy];
    let mut last = heavy;
    loop {
        let outputs = &graph.operations.get(last)?.outputs;
        let mut next = graph.tensors_of(outputs).flat_map(|tensor| tensor.consumers.iter().copied());
        let (Some(consumer), None) = (next.next(), next.next()) else { break };
        if graph.operations.get(consumer)?.kind() != Kind::Elementwise {
            break;
        }
        operations.push(consumer);
        if !is_convex(graph, &operations) || waits_for_another_heavy(graph, heavy, consumer) {
            operations.pop();
            break;
        }
        last = consumer;
    }
    (operations.len() > 1).then_some(operations)
}

/// Whether another matmul or attention feeds the operation at first hand: both results are only there when both are done.
fn waits_for_another_heavy(graph: &Graph, heavy: usize, operation: usize) -> bool {
    let Some(operation) = graph.operations.get(operation) else { return false };
    graph
        .tensors_of(&operation.inputs)
        .filter_map(|tensor| tensor.producer)
        .any(|p| p != heavy && graph.operations.get(p).is_some_and(|other| other.kind().is_heavy()))
}

/// Operations of one kind and shape that take a common input and do not need each other.
fn side_by_side(graph: &Graph) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    for tensor in &graph.tensors {
        let mut left: Vec<usize> = tensor.consumers.clone();
        while let Some(&first) = left.first() {
            let alike = |&other: &usize| {
                let (Some(a), Some(b)) = (graph.operations.get(first), graph.operations.get(other)) else {
                    return false;
                };
                let shape = |operation: &Operation| {
                    let shapes = graph.tensors_of(&operation.inputs).map(|tensor| tensor.shape.clone());
                    shapes.collect::<Vec<_>>()
                };
                first == other
                    || (a.operator.name == b.operator.name
                        && shape(a) == shape(b)
                        && a.kind() != Kind::Attention
                        && !graph.reaches(first, other)
                        && !graph.reaches(other, first))
            };
            let group: Vec<usize> = left.iter().copied().filter(alike).collect();
            left.retain(|operation| !group.contains(operation));
            if group.len() > 1 && !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups
}

fn reasons(graph: &Graph, profile: &Profile, form: Form, operations: &[usize], needs: &Needs) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let of = |index: usize| graph.operations.get(index);
    for (producer, consumer) in edges(graph) {
        if let (true, true, Some(p), Some(c)) =
            (operations.contains(&producer), operations.contains(&consumer), of(producer), of(consumer))
        {
            between(graph, profile, p, c, &mut reasons);
        }
    }
    let between = |outside: &usize| {
        let waits = |&member: &usize| graph.reaches(member, *outside);
        !operations.contains(outside)
            && operations.iter().any(waits)
            && operations.iter().any(|&member| graph.reaches(*outside, member))
    };
    if let Some(operation) = (0..graph.operations.len()).find(between).and_then(of) {
        reasons.push(Reason::Between { operation: operation.name.clone() });
    }
    if form == Form::Epilogue {
        let heavy = operations.iter().filter_map(|&i| of(i)).find(|operation| operation.kind().is_heavy());
        let mut rest = operations.iter().filter_map(|&i| of(i)).filter(|operation| !operation.kind().is_heavy());
        if let Some(heavy) = heavy {
            let operation = heavy.name.clone();
            reasons.push(match heavy.kind() == Kind::Matmul && rest.all(|other| other.operator.epilogue) {
                true => Reason::LibraryEpilogue { operation },
                false => Reason::LibraryLost { operation },
            });
        }
    }
    let first = operations.first().and_then(|&i| of(i));
    if let (Form::SideBySide, Some(matmul)) = (form, first.filter(|operation| operation.kind() == Kind::Matmul)) {
        reasons.push(Reason::OneMatmul { operation: matmul.name.clone(), times: operations.len() as u64 });
    }
    let (_, writes) = boundary(graph, operations);
    for tensor in graph.tensors_of(&writes) {
        let inside = tensor.consumers.iter().any(|consumer| operations.contains(consumer));
        let outside = tensor.consumers.iter().find(|consumer| !operations.contains(consumer)).and_then(|&i| of(i));
        if inside {
            let by =
                outside.map_or_else(|| "somebody outside the graph".to_owned(), |operation| operation.name.clone());
            reasons.push(Reason::NeededElsewhere { tensor: tensor.name.clone(), by });
        }
    }
    let most = u64::from(profile.shared_per_block_optin);
    if needs.shared > most {
        reasons.push(Reason::SharedMemory { needed: needs.shared, most });
    }
    let light = operations.iter().filter_map(|&i| of(i)).all(|operation| !operation.kind().is_heavy());
    if light && needs.registers > score::REGISTERS {
        reasons.push(Reason::Registers { estimate: needs.registers, threshold: score::REGISTERS });
    }
    if light && needs.occupancy > 0.0 && needs.occupancy < LOW_OCCUPANCY {
        reasons.push(Reason::Occupancy { percent: (100.0 * needs.occupancy).round() as u32 });
    }
    reasons
}

/// What stands between a producer and its consumer.
fn between(graph: &Graph, profile: &Profile, p: &Operation, c: &Operation, reasons: &mut Vec<Reason>) {
    let (first, second) = (p.name.clone(), c.name.clone());
    match (p.kind(), c.kind()) {
        // The slices are read in place.
        (Kind::Split, Kind::Attention) => {}
        (_, Kind::Matmul | Kind::Attention) => {
            let columns = match c.kind() {
                // Every tile of queries reads all keys and values.
                Kind::Attention => graph.tensors_of(&c.inputs).next().map_or(1, |q| q.elements() / q.row().max(1)),
                _ => graph.tensors_of(&c.outputs).next().map_or(1, |out| out.row()),
            };
            reasons.push(Reason::Recomputed { operation: first.clone(), times: columns.div_ceil(TILE) });
            reasons.push(Reason::LibraryLost { operation: second.clone() });
            bottleneck(graph, profile, c, p, reasons);
        }
        (Kind::Matmul | Kind::Attention, Kind::Row | Kind::Reduce) => {
            let columns = graph.tensors_of(&p.outputs).next().map_or(1, |out| out.row());
            reasons.push(Reason::RowAcrossTiles { operation: first.clone(), tiles: columns.div_ceil(TILE) });
            reasons.push(Reason::LibraryLost { operation: first.clone() });
            bottleneck(graph, profile, p, c, reasons);
        }
        (Kind::Matmul | Kind::Attention, Kind::Split | Kind::Transpose) => {
            reasons.push(Reason::LibraryLost { operation: first });
        }
        (Kind::Matmul | Kind::Attention, Kind::Elementwise) => {}
        _ if same_pieces(p, c) => {}
        _ => reasons.push(Reason::OtherAxis { first, second }),
    }
}

fn bottleneck(graph: &Graph, profile: &Profile, heavy: &Operation, light: &Operation, reasons: &mut Vec<Reason>) {
    if !waits_for_memory(graph, profile, heavy) && waits_for_memory(graph, profile, light) {
        reasons.push(Reason::OtherBottleneck { arithmetic: heavy.name.clone(), memory: light.name.clone() });
    }
}

/// Tells candidates that are no lost cause which better one takes their operations.
fn overlaps(candidates: &mut [Candidate]) {
    let open = |candidate: &Candidate| candidate.verdict != Verdict::KeepApart;
    let all: Vec<(String, Vec<usize>, f64)> = (candidates.iter().filter(|candidate| open(candidate)))
        .map(|candidate| (candidate.name.clone(), candidate.operations.clone(), candidate.score.total))
        .collect();
    for candidate in candidates.iter_mut().filter(|candidate| candidate.verdict != Verdict::KeepApart) {
        for (with, operations, _) in &all {
            let shared = operations.iter().any(|operation| candidate.operations.contains(operation));
            if shared && *with != candidate.name {
                candidate.reasons.push(Reason::Overlap { with: with.clone() });
            }
        }
    }
}

/// The candidates to take: best first, and none that shares an operation with one taken before.
pub(crate) fn choose(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut taken: Vec<&Candidate> = Vec::new();
    for candidate in candidates {
        let good = matches!(candidate.verdict, Verdict::Fuse | Verdict::AskTheLibrary);
        let free = |other: &&Candidate| candidate.operations.iter().all(|i| !other.operations.contains(i));
        if good && taken.iter().all(free) {
            taken.push(candidate);
        }
    }
    taken
}
