use super::*;
use crate::judgement::{Beside, Code, Interval, Location};

fn solved() -> Judgement {
    Judgement {
        name: "add_gelu".to_owned(),
        day: 22,
        right: Right { verdict: Verdict::Pass, launches: 30, ..Right::default() },
        lean: Lean {
            verdict: Verdict::Pass,
            launches: Some(Beside { yours: 1, needed: 1, unfused: 2 }),
            summary: Some("3.0 N moved, 3.0 N needed".to_owned()),
            ..Lean::default()
        },
        fast: Fast {
            verdict: Verdict::Pass,
            ratio: Some(Interval::exact(1.64)),
            bar: Some(1.42),
            ideal: Some(1.67),
            ..Fast::default()
        },
        ..Judgement::default()
    }
    .conclude()
}

fn refused() -> Judgement {
    let source = "line one\nout[i] = a[i + 1];\n";
    let mut failure = Failure::new(Code::Fault, "load of 4 bytes past the end of `a`").at("N = 1025");
    failure.fault = Some("E-OOB-GLOBAL".to_owned());
    failure.location = Some(Location::new("exercises/day22/src/mul_add.cu", 2, 10, source));
    failure.device = Some("Emulated H200".to_owned());
    Judgement {
        name: "mul_add".to_owned(),
        day: 22,
        right: Right { verdict: Verdict::Fail, failure: Some(failure.note("1 byte past it")), ..Right::default() },
        lean: Lean { note: Some("not judged until it is right".to_owned()), ..Lean::default() },
        ..Judgement::default()
    }
    .conclude()
}

#[test]
fn a_plain_table_is_markdown() {
    let text = table(&[solved(), refused()], Look::default());
    let expected = "\
| exercise | right              | lean                                | fast                        | verdict |
|----------|--------------------|-------------------------------------|-----------------------------|---------|
| add_gelu | 30 launches        | 1 launch, 3.0 N moved, 3.0 N needed | 1.64x predicted, bar 1.42x  | pass    |
| mul_add  | fault E-OOB-GLOBAL | -                                   | -                           | fail    |";
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('-', "");
    assert_eq!(squeeze(&text), squeeze(expected), "\n{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_failure_shows_its_line_and_column() {
    let text = details(&refused(), Look::default());
    let expected = "\
day 22, mul_add
error[E-OOB-GLOBAL]: load of 4 bytes past the end of `a`
 --> exercises/day22/src/mul_add.cu:2:10
  |
2 | out[i] = a[i + 1];
  |          ^^^^^^^^
  |
  = note: N = 1025, on Emulated H200
  = note: 1 byte past it

for more: cargo xtask explain E-OOB-GLOBAL

";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn other_shapes_and_a_rival_are_told_shortly() {
    let mut judged = solved();
    judged.lean.shapes = vec![Lean::default(); 2];
    judged.fast.shapes =
        [1.7, 1.81].map(|ratio| Fast { ratio: Some(Interval::exact(ratio)), ..Fast::default() }).into();
    let contest = Contest { name: "the scalar kernel".to_owned(), bar: 1.1, ..Contest::default() };
    judged.fast.rival = Some(Contest { ratio: Some(Interval::exact(1.2)), ..contest });
    let text = table(&[judged], Look::default());
    assert!(text.contains("1 launch, 3.0 N moved, 3.0 N needed, 3 shapes"), "{text}");
    let fast = "1.64x predicted, bar 1.42x; 1.20x the scalar kernel, bar 1.10x; other shapes 1.70x, 1.81x";
    assert!(text.contains(fast), "{text}");
    let mut unmeasured = solved();
    unmeasured.fast.rival = Some(Contest { name: "the scalar kernel".to_owned(), ..Contest::default() });
    assert!(table(&[unmeasured], Look::default()).contains("bar 1.42x; the scalar kernel: judged on a GPU only"));
}

#[test]
fn a_pass_needs_no_details_and_colour_is_asked_for() {
    assert_eq!(details(&solved(), Look::default()), "");
    let look = Look { terminal: true, color: true, width: Some(100), advice: false };
    assert!(table(&[solved()], look).contains('\u{1b}'));
    assert!(failure(refused().failure().unwrap(), &[], look).contains('\u{1b}'));
}

#[test]
fn positions_outside_the_line_do_not_panic() {
    for (line, column) in [(0, 0), (1, 0), (2, 500), (99, 3)] {
        let mut failure = Failure::new(Code::Compile, "no");
        failure.location = Some(Location::new("a.cu", line, column, "äöü\n  b\n"));
        assert!(super::failure(&failure, &[], Look::default()).contains("a.cu"));
    }
}

#[test]
fn json_keeps_numbers_that_json_has_not() {
    let mut judgement = refused();
    let failure = judgement.right.failure.as_mut().unwrap();
    failure.mismatch = Some(crate::judgement::Mismatch {
        output: "out".to_owned(),
        index: 3,
        row: None,
        column: None,
        expected: 1.5,
        actual: f64::NAN,
        allowed: 0.1,
        block: Some(0),
        thread: Some(3),
        in_tail: true,
        unwritten: false,
        count: 1,
        total: 4,
        worst_index: 3,
        worst_expected: 1.5,
        worst_actual: f64::NEG_INFINITY,
    });
    let json = serde_json::to_value(&judgement).unwrap();
    let mismatch = &json["right"]["failure"]["mismatch"];
    assert_eq!((&mismatch["actual"], &mismatch["worst_actual"]), (&"NaN".into(), &"-inf".into()));
    assert_eq!(json["verdict"], "fail");
    assert_eq!(json["right"]["failure"]["code"], "fault");
    let back: Judgement = serde_json::from_value(json).unwrap();
    assert!(back.right.failure.unwrap().mismatch.unwrap().actual.is_nan());
}

#[test]
fn an_edited_source_is_told_once() {
    let judgement = Judgement { changed: vec!["src/add_gelu.cu".to_owned()], ..solved() };
    let text = details(&judgement, Look::default());
    assert_eq!(text.matches("has changed since this was built").count(), 1, "{text}");
}
