use super::*;
use crate::judgement::{Band, Beside, Code, Fast, Lean, Location, Part, Right, Sectors, Timing};

fn lean() -> Lean {
    Lean {
        shape: "N = 8".to_owned(),
        works: None,
        launches: Beside { yours: 1, needed: 1, unfused: 2 },
        dram_bytes: Beside::default(),
        requested_bytes: Beside::default(),
        sectors_per_request: Sectors::default(),
        bytes_per_access: Sectors::default(),
        allocations: 0,
        allocated_bytes: 0,
        unused_shared: None,
        summary: "3.0 N moved, 3.0 N needed".to_owned(),
    }
}

fn solved() -> Judgement {
    let fast =
        Fast { bar: 1.42, ideal: 1.67, timing: Some(Timing::predicted(1.0, 1.64, &Band::EXACT)), ..Fast::default() };
    let parts = Parts {
        right: Part::pass().with(Right { launches: 30, ..Right::default() }),
        lean: Part::pass().with(lean()),
        fast: Part::pass().with(fast),
    };
    Judgement { name: "add_gelu".to_owned(), day: 22, parts, ..Judgement::default() }.conclude()
}

fn refused() -> Judgement {
    let source = "line one\nout[i] = a[i + 1];\n";
    let mut failure = Failure::new(Code::Fault, "load of 4 bytes past the end of `a`").at("N = 1025");
    failure.fault = Some("E-OOB-GLOBAL".to_owned());
    failure.location = Some(Location::new("exercises/day22/src/mul_add.cu", 2, 10, source));
    failure.device = Some("Emulated H200".to_owned());
    let parts = Parts {
        right: Part::refused(failure.note("1 byte past it")),
        lean: Part::ungraded("not judged until it is right"),
        fast: Part::default(),
    };
    Judgement { name: "mul_add".to_owned(), day: 22, parts, ..Judgement::default() }.conclude()
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
fn a_pass_says_what_it_was_warned_of() {
    let mut judgement = solved();
    assert_eq!(details(&judgement, Look::default()), "");
    let mut race = Diagnostic::new("W-RACE-BENIGN", "every thread writes the same value");
    race.severity = Severity::Warning;
    race.source = vec![SourcePosition { file: "a.cu".to_owned(), line: 7, column: 1, function: None }];
    judgement.parts.right.advice = vec![race.clone(), Diagnostic { severity: Severity::Advice, ..race }];
    let expected = "\
day 22, add_gelu
pass, 1 warning; `--advice` shows all of it:
  W-RACE-BENIGN: every thread writes the same value (a.cu:7)

";
    assert_eq!(details(&judgement, Look::default()), expected);
    assert!(table(&[judgement], Look::default()).contains("| pass, 1 warning |"));
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

/// Lints beside wrong values, costs beside what is slow; and all of it when asked for.
#[test]
fn advice_is_told_where_it_may_explain_the_failure() {
    let told = |code: Code, look: Look| {
        let mut judgement = solved();
        judgement.parts.right.advice = vec![Diagnostic::new("L-RIGHT", "a lint")];
        judgement.parts.lean.advice = vec![Diagnostic::new("P-LEAN", "a cost")];
        judgement.parts.fast = Part::refused(Failure::new(code, "no"));
        let text = details(&judgement, look);
        ["L-RIGHT", "P-LEAN"].map(|code| text.contains(code))
    };
    assert_eq!(told(Code::Speed, Look::default()), [false, true]);
    assert_eq!(told(Code::Values, Look::default()), [true, false]);
    assert_eq!(told(Code::Crash, Look::default()), [false, false]);
    assert_eq!(told(Code::Crash, Look { advice: true, ..Look::default() }), [true, true]);
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
    let failure = judgement.parts.right.failure.as_mut().unwrap();
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
    let mismatch = &json["parts"]["right"]["failure"]["mismatch"];
    assert_eq!((&mismatch["actual"], &mismatch["worst_actual"]), (&"NaN".into(), &"-inf".into()));
    assert_eq!(json["verdict"], "fail");
    assert_eq!(json["parts"]["right"]["failure"]["code"], "fault");
    let back: Judgement = serde_json::from_value(json).unwrap();
    assert!(back.parts.right.failure.unwrap().mismatch.unwrap().actual.is_nan());
}

#[test]
fn an_edited_source_is_told_once() {
    let judgement = Judgement { changed: vec!["src/add_gelu.cu".to_owned()], ..solved() };
    let text = details(&judgement, Look::default());
    assert_eq!(text.matches("has changed since this was built").count(), 1, "{text}");
}

/// The first place that is known, in the file that is to be changed.
#[test]
fn the_next_step_names_a_line_where_one_is_known() {
    let kernel = ("exercises/day22/src/add_gelu.cu", 5);
    let at = |code: &str, (file, line): (&str, u32)| {
        let source = vec![SourcePosition { file: file.to_owned(), line, column: 1, function: None }];
        Diagnostic { source, ..Diagnostic::new(code, "told") }
    };
    let launch = Location::new("exercises/day22/src/add_gelu.rs", 20, 1, "");
    let wrong = || Failure::new(Code::Values, "no");
    let suspect = |place| Failure { also: vec![at(SUSPECT, place)], ..wrong() };
    let launched = || Failure { side: Some(Side::Launch), launched: Some(launch.clone()), ..wrong() };
    for (failure, lint, said) in [
        (wrong(), None, "exercises/day22/src/add_gelu.cu"),
        (wrong(), Some(at("L-RIGHT", kernel)), "exercises/day22/src/add_gelu.cu:5"),
        (suspect(kernel), None, "exercises/day22/src/add_gelu.cu:5"),
        (suspect(kernel), Some(at("L-RIGHT", (kernel.0, 9))), "exercises/day22/src/add_gelu.cu:5"),
        // A header is none of the learner's.
        (suspect(("reduce.cuh", 5)), None, "exercises/day22/src/add_gelu.cu"),
        (
            Failure { cause: Some(Box::new(at("cause", kernel))), ..launched() },
            None,
            "exercises/day22/src/add_gelu.rs:20",
        ),
        (launched(), Some(at("L-RIGHT", kernel)), "exercises/day22/src/add_gelu.rs:20"),
    ] {
        let mut judgement = solved();
        judgement.parts.right = Part { advice: lint.into_iter().collect(), ..Part::refused(failure) };
        assert_eq!(next(&judgement).as_deref(), Some(said));
    }
}
