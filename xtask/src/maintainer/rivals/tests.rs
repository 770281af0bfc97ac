use fusion_grader::bench::{At, Ceilings, Variant};
use fusion_grader::render::Look;

use super::*;

fn measured(time: f64) -> Timing {
    let time_ns = Interval::exact(time);
    Timing::Measured { time_ns, other_ns: None, speedup: None, pairs: 31, dropped: 0 }
}

/// An elementwise operation of so many elements that takes so long, beside one other.
fn row_of(elements: usize, ours_ns: f64, theirs_ns: f64) -> Row {
    let exercise = fusion_course::find("add_gelu").unwrap();
    let shape = Shape::flat(elements);
    let variant = |role, time| Variant { role, timing: Some(measured(time)), ..Variant::default() };
    let size = Size {
        shape: shape.to_string(),
        rows: 1,
        columns: elements,
        needed_bytes: exercise.minimum_bytes(shape),
        ceilings: Some(Ceilings { mix_gb_per_s: 4300.0, copy_gb_per_s: 4000.0, peak_gflop_per_s: None }),
        variants: vec![variant(Role::Unfused, 2.0 * ours_ns), variant(Role::Submission, ours_ns)],
        ..Size::default()
    };
    let rival =
        Rival { variant: "torch.compile".to_owned(), time_ns: Some(Interval::exact(theirs_ns)), ..Rival::default() };
    let wrong = Rival { variant: "eager".to_owned(), wrong: Some("no".to_owned()), ..Rival::default() };
    row(exercise, &size, vec![wrong, rival], Some(4200.0))
}

#[test]
fn bars_go_by_size_and_by_the_best_other() {
    // 1.2 GB at 4200 GB/s, the better of the two copies, are 285714 ns.
    let large = row_of(100_000_000, 288_000.0, 285_000.0);
    assert_eq!(large.ceiling_gb_per_s, 4200.0);
    let met: Vec<(f64, bool)> = large.bars.iter().map(|bar| (bar.limit, bar.met)).collect();
    assert_eq!(met, [(0.98, true), (1.02, true)]);
    let slow = row_of(100_000_000, 300_000.0, 285_000.0);
    assert!(slow.bars.iter().all(|bar| !bar.met), "{:?}", slow.bars);
    let small = row_of(1_000_000, 5200.0, 5000.0);
    let limits: Vec<(f64, bool)> = small.bars.iter().map(|bar| (bar.limit, bar.met)).collect();
    assert_eq!(limits, [(1.05, true)]);
}

#[test]
fn the_table_names_what_is_missed() {
    let report = Report {
        version: 1,
        command: "cargo xtask rivals".to_owned(),
        date: "2026-11-21".to_owned(),
        device: None,
        versions: Default::default(),
        rows: vec![row_of(100_000_000, 300_000.0, 285_000.0)],
        notes: Vec::new(),
        error: None,
    };
    let text = table::text(&report, Look::default());
    assert!(text.contains("| wrong | 285.0 (100%)"), "{text}");
    assert!(
        text.contains("MISSED: share of the copy 0.952, bar 0.98; MISSED: time over the best other's 1.053"),
        "{text}"
    );
    assert!(text.contains("0 of 2 bars are met") && !text.contains("new processes"), "{text}");
    let mut decided = report;
    decided.rows[0].rounds = vec![Round { solution_ns: 300.0, best_ns: 300.0 }; 2];
    let text = table::text(&decided, Look::default());
    assert!(text.contains("| 1.000 (1.053, 1.000, 1.000) |") && text.contains("in new processes"), "{text}");
}

/// What decides is the middle of the rounds, of an even number the worse of the middle ones; after each round, as an interrupt
/// may come between them.
#[test]
fn more_rounds_decide_what_one_does_not() {
    let mut rows = [row_of(1_000_000, 5_000.0, 5_000.0), row_of(10_000_000, 30_900.0, 30_000.0)];
    let exercise = fusion_course::find("add_gelu").unwrap();
    let mut after = |solution_ns, best_ns| {
        rounds::add(&mut rows, exercise, (1, 10_000_000), Round { solution_ns, best_ns });
        assert!(rows[0].rounds.is_empty());
        (rows[1].over_best().unwrap(), rows[1].bars.iter().all(|bar| bar.met))
    };
    assert_eq!(after(30.0, 30.0), (1.03, false));
    assert_eq!(after(30.3, 30.0), (1.01, true));
    assert_eq!(after(33.0, 30.0), (1.03, false));
    assert_eq!(after(33.0, 30.0), (1.03, false));
}

#[test]
fn a_round_takes_the_best_that_it_finds() {
    let rivals = [("eager", Some(9.0)), ("triton", Some(4.0)), ("liger", None)].map(|(variant, time)| Rival {
        variant: variant.to_owned(),
        time_ns: time.map(Interval::exact),
        ..Rival::default()
    });
    let ours = Variant { role: Role::Submission, timing: Some(measured(5.0)), ..Variant::default() };
    let size = Size { variants: vec![ours], ..Size::default() };
    assert_eq!(Round::new(Some(&size), &rivals), Some(Round { solution_ns: 5.0, best_ns: 4.0 }));
    assert_eq!(Round::new(Some(&size), &rivals[2..]), None);
    assert_eq!(Round::new(Some(&Size::default()), &rivals), None);
    // A prediction is no time to hold against others' measurements.
    let predicted = Variant {
        role: Role::Submission,
        timing: Some(Timing::predicted(5.0, 5.0, &fusion_grader::judgement::Band::EXACT)),
        ..Variant::default()
    };
    assert_eq!(Round::new(Some(&Size { variants: vec![predicted], ..Size::default() }), &rivals), None);
}

#[test]
fn only_what_misses_its_bar_or_is_near_it_is_timed_again() {
    let rows = [29_000.0, 30_100.0, 30_200.0, 40_000.0].map(|ours| row_of(10_000_000, ours, 30_000.0));
    let is_open = rows.each_ref().map(|row| row.bars.iter().any(bars::Bar::is_open));
    assert_eq!(is_open, [false, false, true, true]);
    let open = rounds::open(&rows);
    assert_eq!(
        open.iter().map(|(exercise, shapes)| (exercise.name, shapes.len())).collect::<Vec<_>>(),
        [("add_gelu", 2)]
    );
    // A share of the copy differs little from process to process.
    let slow = row_of(100_000_000, 300_000.0, 310_000.0);
    assert_eq!(
        slow.bars.iter().map(|bar| (bar.met, bar.is_open())).collect::<Vec<_>>(),
        [(false, false), (true, false)]
    );
}

#[test]
fn rows_are_as_long_as_the_exercise_has_them() {
    let exercise = Exercise { shapes: Shapes::Rows { columns: &[1, 1024], timed: &[64, 1024] }, ..Exercise::TEMPLATE };
    let found: Vec<(usize, usize)> = shapes(&exercise).iter().map(|shape| (shape.rows, shape.columns)).collect();
    assert_eq!(found, [(2048, 768), (65536, 1024), (1 << 20, 64)]);
    let exercise = Exercise { shapes: Shapes::Rows { columns: &[1], timed: &[16384, 32768] }, ..Exercise::TEMPLATE };
    let found: Vec<(usize, usize)> = shapes(&exercise).iter().map(|shape| (shape.rows, shape.columns)).collect();
    assert_eq!(found, [(4096, 16384), (2048, 32768)]);
    assert_eq!(shapes(&Exercise::TEMPLATE).len(), ELEMENTS.len());
}

/// Of the activations that sizes draw, PyTorch's side has one.
#[test]
fn activations_are_compared_with_themselves() {
    let exercise = fusion_course::find("add_residual_act").unwrap();
    let shapes = shapes(exercise);
    assert!(shapes.len() >= 5 && !shapes.contains(&Shape::flat(500_000)), "{shapes:?}");
}

#[test]
fn workers_take_every_size() {
    for exercise in fusion_course::days().iter().flat_map(|day| day.exercises) {
        let mut wanted = shapes(exercise);
        let sizes: Vec<At> = wanted.iter().map(|&shape| size(exercise, shape).parse().unwrap()).collect();
        wanted.sort_by_key(|shape| (shape.elements(), shape.columns));
        assert_eq!(fusion_grader::bench::shapes(exercise, &sizes, false), wanted, "{}", exercise.name);
    }
}
