use std::path::Path;

use super::*;
use crate::candidate::{Candidate, Verdict};
use crate::reason::Reason;

const LAYERNORM_GELU: &str = include_str!("../graphs/layernorm-gelu.json");
const MATMUL_LAYERNORM: &str = include_str!("../graphs/matmul-layernorm.json");

fn graph(text: &str) -> Result<Graph, GraphError> {
    Graph::new(File::parse("graph.json", text)?)
}

fn found(text: &str) -> Vec<Candidate> {
    candidate::find(&graph(text).unwrap_or_else(|error| panic!("{error}")), &Profile::default())
}

fn named<'a>(candidates: &'a [Candidate], name: &str) -> &'a Candidate {
    let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    candidates.iter().find(|candidate| candidate.name == name).unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

/// A graph of these inputs and operations, each `name op in,in -> out`.
fn written(inputs: &[(&str, &[u64])], operations: &[&str]) -> String {
    let inputs: serde_json::Map<_, _> = (inputs.iter())
        .map(|(name, shape)| ((*name).to_owned(), serde_json::json!({ "shape": shape, "dtype": "f32" })))
        .collect();
    let operations: Vec<_> = (operations.iter())
        .map(|line| {
            let (left, outputs) = line.split_once(" -> ").unwrap_or_default();
            let mut words = left.split(' ');
            let (name, op) = (words.next(), words.next().unwrap_or_default());
            let (op, axis) = op.split_once('@').map_or((op, None), |(op, axis)| (op, axis.parse::<usize>().ok()));
            let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
            let inputs = list(words.next().unwrap_or_default());
            serde_json::json!({ "name": name, "op": op, "inputs": inputs, "outputs": list(outputs), "axis": axis })
        })
        .collect();
    serde_json::json!({ "name": "test", "inputs": inputs, "operations": operations, "outputs": [] }).to_string()
}

/// 2 N moved twice becomes 2 N once, but for gamma and beta.
#[test]
fn layernorm_and_gelu_save_half() {
    let candidates = found(LAYERNORM_GELU);
    let both = named(&candidates, "layernorm+gelu");
    let n = 4096 * 4096 * 4;
    assert_eq!(both.cost.unfused_bytes, 4 * n + 2 * 4096 * 4);
    assert_eq!(both.cost.fused_bytes, 2 * n + 2 * 4096 * 4);
    assert_eq!((both.cost.unfused_launches, both.cost.fused_launches), (2, 1));
    assert_eq!(both.verdict, Verdict::Fuse);
    assert!(both.reasons.is_empty(), "{:?}", both.reasons);
}

#[test]
fn matmul_and_layernorm_stay_apart() {
    let candidates = found(MATMUL_LAYERNORM);
    let both = named(&candidates, "matmul+layernorm");
    assert_eq!(both.verdict, Verdict::KeepApart);
    let has = |wanted: &Reason| assert!(both.reasons.contains(wanted), "{wanted:?} in {:?}", both.reasons);
    has(&Reason::RowAcrossTiles { operation: "matmul".to_owned(), tiles: 32 });
    has(&Reason::LibraryLost { operation: "matmul".to_owned() });
    has(&Reason::OtherBottleneck { arithmetic: "matmul".to_owned(), memory: "layernorm".to_owned() });
    // 128 rows of 4096 floats, and two stages of tiles.
    has(&Reason::SharedMemory { needed: 128 * 4096 * 4 + 32768, most: 227 << 10 });
}

#[test]
fn the_transformer_layer() {
    let candidates = found(TRANSFORMER_LAYER);
    // The residual is written all the same: another add takes it.
    let add_norm = named(&candidates, "add_residual+norm2");
    assert_eq!(add_norm.verdict, Verdict::Fuse);
    let needed = Reason::NeededElsewhere { tensor: "x2".to_owned(), by: "add_residual2".to_owned() };
    assert!(add_norm.reasons.contains(&needed), "{:?}", add_norm.reasons);
    assert_eq!(named(&candidates, "silu+mul").verdict, Verdict::Fuse);
    assert_eq!(named(&candidates, "gate+up").verdict, Verdict::AskTheLibrary);
    assert_eq!(named(&candidates, "down+add_residual2").verdict, Verdict::AskTheLibrary);
    assert_eq!(named(&candidates, "attention+add_residual").verdict, Verdict::Measure);
    assert_eq!(named(&candidates, "layernorm+linear").verdict, Verdict::KeepApart);
    let chosen: Vec<&str> = candidate::choose(&candidates).iter().map(|candidate| candidate.name.as_str()).collect();
    assert!(chosen.contains(&"add_residual+norm2") && chosen.contains(&"silu+mul"), "{chosen:?}");
}

#[test]
fn chains_join_what_a_block_has() {
    let operations = ["a add x,y -> t", "b relu t -> u", "c softmax u -> v", "d scale v -> z"];
    let text = written(&[("x", &[64, 128]), ("y", &[64, 128])], &operations);
    let candidates = found(&text);
    let all = named(&candidates, "a+b+c+d");
    // Two read and one written, where three, two, two and two were.
    assert_eq!((all.cost.unfused_bytes, all.cost.fused_bytes), (9 * 32768, 3 * 32768));
    assert_eq!(candidates.len(), 1);
}

#[test]
fn a_reduction_along_another_axis_ends_a_chain() {
    let text = written(&[("x", &[64, 128])], &["norm softmax x -> t", "columns sum@0 t -> s"]);
    let candidates = found(&text);
    let both = named(&candidates, "norm+columns");
    assert_eq!(both.verdict, Verdict::KeepApart);
    let other = Reason::OtherAxis { first: "norm".to_owned(), second: "columns".to_owned() };
    assert_eq!(both.reasons, [other]);
    // Along the rows it is one kernel.
    let text = written(&[("x", &[64, 128])], &["norm softmax x -> t", "rows sum@1 t -> s"]);
    assert_eq!(named(&found(&text), "norm+rows").reasons, []);
}

/// Day 23's chains, step by step: what is reduced over a row goes back to the row's elements.
#[test]
fn a_row_may_be_reduced_and_used_again() {
    let x: &[(&str, &[u64])] = &[("x", &[64, 128])];
    let steps = ["square mul x,x -> s", "total sum s -> t", "length sqrt t -> l", "scale div x,l -> y"];
    let norm = found(&written(x, &steps));
    let all = named(&norm, "square+total+length+scale");
    // One read and one written; of what is reduced, nothing leaves the chip.
    assert_eq!((all.cost.fused_bytes, all.verdict, &all.reasons[..]), (2 * 32768, Verdict::Fuse, &[][..]));
    let steps = ["top max x -> m", "d sub x,m -> d", "e exp d -> e", "total sum e -> t", "out div e,t -> y"];
    assert_eq!(named(&found(&written(x, &steps)), "top+d+e+total+out").verdict, Verdict::Fuse);
    // A sum over the columns is there when the whole grid is done.
    let columns = found(&written(x, &["total sum@0 x -> t", "out div x,t -> y"]));
    assert_eq!(named(&columns, "total+out").verdict, Verdict::KeepApart);
}

#[test]
fn numbers_of_operations_beyond_64_bits_are_held_there() {
    let side = 1 << 25;
    let text = written(&[("x", &[side, side]), ("w", &[side, side])], &["a matmul x,w -> t", "b matmul t,w -> u"]);
    assert_eq!(named(&found(&text), "a+b").cost.flops, u64::MAX);
}

/// The chain may not go around a matmul that needs its beginning and feeds its end.
#[test]
fn a_chain_does_not_wait_for_itself() {
    let operations = ["a relu x -> t", "m matmul t,w -> u", "b add t,u -> z"];
    let text = written(&[("x", &[128, 128]), ("w", &[128, 128])], &operations);
    let candidates = found(&text);
    assert!(candidates.iter().all(|candidate| candidate.name != "a+m+b"));
    let around = candidates.iter().find(|candidate| candidate.name == "a+b");
    assert!(around.is_none_or(|candidate| candidate.verdict == Verdict::KeepApart), "{around:?}");
}

#[test]
fn operations_side_by_side_share_their_input() {
    let text = written(&[("x", &[64, 128])], &["a relu x -> t", "b relu x -> u"]);
    let candidates = found(&text);
    let both = named(&candidates, "a+b");
    assert_eq!((both.cost.unfused_bytes, both.cost.fused_bytes), (4 * 32768, 3 * 32768));
}

/// Every graph that is shipped can be read, has candidates, and explains each.
#[test]
fn shipped_graphs_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs");
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let arguments = |more: &[&str]| {
            let path = path.display().to_string();
            let all = ["lesson", "--graph", &path].into_iter().chain(more.iter().copied());
            report(&Arguments::parse_from(all.map(str::to_owned).collect::<Vec<_>>()))
        };
        let json: serde_json::Value =
            serde_json::from_str(&arguments(&["--json"]).unwrap_or_default()).unwrap_or_default();
        let candidates = json["candidates"].as_array().cloned().unwrap_or_default();
        assert!(!candidates.is_empty(), "{}", path.display());
        assert!(arguments(&[]).unwrap_or_default().contains("Candidates"), "{}", path.display());
        for candidate in candidates {
            let name = candidate["name"].as_str().unwrap_or_default();
            let text = arguments(&["--explain", name]).unwrap_or_else(|error| panic!("{error}"));
            assert!(text.contains("Verdict"), "{text}");
        }
    }
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let said = graph(text).map(|_| ()).map_err(|error| error.to_string()).err().unwrap_or_default();
    for part in parts {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn errors_teach() {
    refused("{\n  \"name\": \"x\",\n  \"inputs\": }", &["graph.json:3:13", "\"inputs\": }"]);
    refused("{\"name\": \"x\", \"input\": {}}", &["unknown field `input`", "graph.json:1:"]);
    let x: &[(&str, &[u64])] = &[("x", &[4, 8]), ("w", &[4, 4])];
    refused(&written(x, &[]), &["no operations"]);
    refused(&written(x, &["a gleu x -> t"]), &["no operator `gleu`", "Did you mean `gelu`?"]);
    refused(&written(x, &["a add x -> t"]), &["takes 2 inputs, and 1"]);
    refused(&written(x, &["a relu xx -> t"]), &["`a` names the tensor `xx`", "Did you mean `x`?"]);
    refused(&written(x, &["a relu t -> u", "b relu u -> t"]), &["wait for each other", "a -> b"]);
    refused(&written(x, &["a matmul x,w -> t"]), &["inner sizes differ, 8 and 4"]);
    refused(&written(x, &["a add x,w -> t"]), &["[4, 4]", "a bias of [8]", "a sum of each row"]);
    refused(&written(x, &["a relu x -> t", "b relu x -> t"]), &["`t` is the name of two tensors"]);
    refused(&written(x, &["a relu x -> t", "a relu x -> u"]), &["`a` is the name of two operations"]);
    refused(&written(x, &["a sum@2 x -> t"]), &["axis 2"]);
    refused(&written(x, &["a split x -> t,u,v"]), &["cannot be split into 3"]);
    refused(&written(x, &["a relu x -> t,u"]), &["only split has more"]);
    let long: &[(&str, &[u64])] = &[("x", &[1 << 40, 1]), ("w", &[1, 1 << 40])];
    refused(&written(long, &["a matmul x,w -> t"]), &["no GPU holds"]);
    refused(&written(&[("x", &[0])], &["a relu x -> t"]), &["no shape"]);
}

#[test]
fn a_candidate_that_is_not_there_is_named() {
    let said = report(&Arguments::parse_from(["lesson", "--explain", "silu+mull"]));
    let said = said.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("Did you mean `silu+mul`?"), "{said}");
}
