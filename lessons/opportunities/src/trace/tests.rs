//! Traces by hand: what is one candidate, what it saves, and what speaks against it.

use fusion_machine::report::{Moved, Task, Trace, When, Work};

use super::candidate::{Candidate, find};
use super::flow::Flow;
use super::reason::Reason;
use crate::candidate::{Form, Verdict};

/// A buffer of 1 MB by its number.
fn buffer(number: u64) -> (u64, u64) {
    ((number + 1) << 24, ((number + 1) << 24) + (1 << 20))
}

fn launch(kernel: &str, read: &[u64], written: &[u64]) -> Work {
    heavy(kernel, read, written, 1)
}

/// A launch that asks for each byte so many times.
fn heavy(kernel: &str, read: &[u64], written: &[u64], times: u64) -> Work {
    let loaded_bytes = times * read.len() as u64 * (1 << 20);
    let ranges = |numbers: &[u64]| numbers.iter().map(|&number| buffer(number)).collect();
    let task = Task::Launch {
        kernel: kernel.to_owned(),
        grid: [64, 1, 1],
        block: [256, 1, 1],
        loaded_bytes,
        tensor_operations: 0,
        predicted_ns: 5_000.0,
    };
    Work { task, when: When::default(), read: ranges(read), written: ranges(written) }
}

fn to_host(number: u64) -> Work {
    Work { task: Task::Move(Moved::ToHost), when: When::default(), read: vec![buffer(number)], written: Vec::new() }
}

fn candidates(work: Vec<Work>) -> Vec<Candidate> {
    let flow = Flow::new(&Trace { command: vec!["program".to_owned()], device: "Emulated H200".to_owned(), work });
    find(&flow, &fusion_lesson::profile("h200").expect("one of the course"))
}

#[test]
fn a_chain_reads_its_inputs_and_writes_its_result() {
    let found = candidates(vec![
        launch("add", &[0, 1], &[2]),
        launch("scale", &[2], &[3]),
        launch("exp", &[3], &[4]),
        to_host(4),
    ]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kernels, ["add", "scale", "exp"]);
    assert_eq!((found[0].form, found[0].verdict), (Form::Chain, Verdict::Fuse));
    assert_eq!((found[0].bytes_apart, found[0].bytes_fused), (7 << 20, 3 << 20));
    assert!(found[0].reasons.is_empty());
}

#[test]
fn an_intermediate_that_the_host_takes_is_written_all_the_same() {
    let found = candidates(vec![launch("a", &[0], &[1]), to_host(1), launch("b", &[1], &[2]), to_host(2)]);
    assert_eq!((found[0].bytes_apart, found[0].bytes_fused), (4 << 20, 3 << 20));
    assert_eq!(found[0].reasons, [Reason::ReadElsewhere { by: "a copy to the host".to_owned() }]);
}

#[test]
fn what_is_done_again_and_again_is_one_candidate() {
    let turn = || [launch("a", &[0], &[1]), launch("b", &[1], &[0])];
    let found = candidates((0..5).flat_map(|_| turn()).collect());
    // What the last turn writes is read by no later step, so it stays needed.
    assert!(found.iter().all(|candidate| candidate.kernels.len() == 2), "{found:?}");
    assert_eq!(found.iter().filter(|c| c.kernels == ["a", "b"]).map(|c| c.times).sum::<u64>(), 5);
}

#[test]
fn a_kernel_does_not_become_one_with_itself() {
    assert!(candidates((0..4).map(|i| launch("step", &[i], &[i + 1])).collect()).is_empty());
}

#[test]
fn what_stands_between_forbids() {
    // `c` needs `a` itself, and `b` by way of the heavy one.
    let found = candidates(vec![
        launch("a", &[0], &[1]),
        heavy("matmul", &[1, 2], &[3], 64),
        launch("c", &[1, 3], &[4]),
        to_host(4),
    ]);
    let of = |kernels: [&str; 2]| found.iter().find(|candidate| candidate.kernels == kernels).expect("a candidate");
    assert_eq!(of(["a", "c"]).verdict, Verdict::KeepApart);
    assert!(of(["a", "c"]).reasons.contains(&Reason::Between { step: "matmul".to_owned() }));
    assert_eq!((of(["a", "matmul"]).form, of(["a", "matmul"]).verdict), (Form::Prologue, Verdict::KeepApart));
    assert_eq!((of(["matmul", "c"]).form, of(["matmul", "c"]).verdict), (Form::Epilogue, Verdict::Measure));
}

#[test]
fn a_sum_of_all_blocks_is_to_be_measured() {
    // As few blocks as rows are enough where there are more of them than multiprocessors.
    let rows = |kernel, read, written, blocks| {
        let mut work = launch(kernel, &[read], &[written]);
        if let Task::Launch { grid, .. } = &mut work.task {
            *grid = [blocks, 1, 1];
        }
        work
    };
    let found = candidates(vec![rows("add", 0, 1, 4096), rows("norm", 1, 2, 256), to_host(2)]);
    assert_eq!((found[0].form, found[0].verdict), (Form::Chain, Verdict::Fuse));
    let mut last = launch("finish", &[1], &[2]);
    if let Task::Launch { grid, .. } = &mut last.task {
        *grid = [1, 1, 1];
    }
    let found = candidates(vec![launch("sum", &[0], &[1]), last, to_host(2)]);
    assert_eq!((found[0].form, found[0].verdict), (Form::Pair, Verdict::Measure));
    assert_eq!(found[0].reasons, [Reason::FewBlocks { kernel: "finish".to_owned(), blocks: 1, of: 64 }]);
}

#[test]
fn neighbours_that_read_the_same_stand_side_by_side() {
    let found = candidates(vec![launch("q", &[0, 1], &[2]), launch("k", &[0, 3], &[4]), to_host(2), to_host(4)]);
    assert_eq!((found.len(), found[0].form), (1, Form::SideBySide));
    assert_eq!(found[0].bytes_apart - found[0].bytes_fused, 1 << 20);
}

#[test]
fn parts_of_buffers_count_for_what_they_are() {
    let (start, end) = buffer(1);
    let mut second = launch("b", &[], &[2]);
    second.read = vec![(start + (1 << 19), end)];
    let found = candidates(vec![launch("a", &[0], &[1]), second, to_host(2)]);
    // Half of what `a` writes is read by `b` alone, and the other half is left at the end.
    assert_eq!(found[0].bytes_apart - found[0].bytes_fused, 1 << 20);
}

#[test]
fn ranges_of_any_kind_are_taken() {
    for ranges in [vec![(5, 5)], vec![(9, 3)], vec![(0, u64::MAX), (3, 7)], vec![(u64::MAX - 1, u64::MAX); 3]] {
        let work =
            Work { task: Task::Move(Moved::Memset), when: When::default(), read: ranges.clone(), written: ranges };
        candidates(vec![work.clone(), launch("a", &[0], &[1]), work]);
    }
}
