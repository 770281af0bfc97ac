use fusion_grader::bench::{Accuracy, Ceilings, Percentiles, StepBytes};
use fusion_grader::judgement::{Band, Timing};
use fusion_grader::render::Look;

use super::*;

fn size(rows: usize, submission_ns: f64) -> Size {
    let variant = |role, name: &str, time: f64| Variant {
        role,
        name: name.to_owned(),
        timing: Some(Timing::predicted(time, 20_000.0, &Band::EXACT)),
        accuracy: vec![Accuracy {
            output: "out".to_owned(),
            elements: 5,
            ulp: Percentiles { p50: 0.25, p90: 0.5, p99: 1.0, max: 2.5 },
            ..Accuracy::default()
        }],
        ..Variant::default()
    };
    Size {
        exercise: "add_gelu".to_owned(),
        shape: format!("N = {rows}"),
        rows,
        columns: 1,
        written_bytes: 4000,
        needed_bytes: 12_000,
        unfused_bytes: 20_000,
        flops: Some(10_000.0),
        ceilings: Some(Ceilings { mix_gb_per_s: 4.0, copy_gb_per_s: 4.0, peak_gflop_per_s: Some(100.0) }),
        steps: vec![StepBytes { kernel: "add".to_owned(), read: 8000, written: 4000 }],
        fused: vec![StepBytes { kernel: "add_gelu".to_owned(), read: 8000, written: 4000 }],
        variants: vec![
            variant(Role::Unfused, "unfused", 20_000.0),
            variant(Role::Submission, "submission", submission_ns),
        ],
        ..Size::default()
    }
}

fn report() -> Report {
    let mut benched = Benched {
        name: "add_gelu".to_owned(),
        day: 22,
        definition: "gelu(a + b)".to_owned(),
        measured: false,
        device: None,
        sizes: Vec::new(),
        notes: Vec::new(),
    };
    let swept = |sizes, notes| Swept { device: None, sizes, notes };
    benched.add(Kind::Solution, swept(vec![size(1000, 8000.0), size(10, 9000.0)], Vec::new()));
    benched.add(Kind::Exercise, swept(vec![size(1000, 16_000.0)], vec!["N = 10: too slow".to_owned()]));
    Report { version: 1, command: "cargo xtask bench".to_owned(), date: None, exercises: vec![benched], error: None }
}

#[test]
fn yours_stands_between_the_chain_and_the_solution() {
    let report = report();
    let sizes = &report.exercises[0].sizes;
    let names = |size: &Size| size.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>();
    assert_eq!((sizes[0].rows, names(&sizes[0])), (10, vec!["unfused".to_owned(), "solution".to_owned()]));
    assert_eq!(names(&sizes[1]), ["unfused", "yours", "solution"]);
    assert_eq!(report.exercises[0].notes, ["yours: N = 10: too slow"]);
}

#[test]
fn every_row_with_a_time_says_that_it_is_predicted() {
    let text = tables::text(&report(), Look::default());
    for line in text.lines().filter(|line| line.starts_with("| N = ") && !line.contains("| out")) {
        assert!(line.contains("PREDICTED"), "{line}");
    }
    assert!(
        text.contains("| N = 1000 | solution | PREDICTED | 8.000   | 8.000-8.000 | 2    | 38%        | 2.50x   |"),
        "{text}"
    );
    assert!(text.contains("| N = 1000   | PREDICTED | 1.00x   | 2.50x    | 1.25x | 1.67x       |"), "{text}");
    assert!(text.contains("| ULP      | 0.25 | 0.50 | 1.00 | 2.50 |"), "{text}");
    assert!(!text.contains("measured on"));
}

#[test]
fn values_have_a_line_for_each_variant_and_size() {
    let text = csv::text(&report().exercises);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 5);
    let fields = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| fields(line) == fields(lines[0])), "{text}");
    assert!(lines[1].starts_with("add_gelu,22,,PREDICTED,10,1,unfused,20000,"), "{text}");
    assert!(lines[0].ends_with(",pairs,absolute_p50,absolute_p90,absolute_p99,absolute_max,relative_p50,relative_p90,relative_p99,relative_max,ulp_p50,ulp_p90,ulp_p99,ulp_max"), "{text}");
    assert!(lines[1].ends_with(",0,0,0,0,0,0,0,0,0,0.25,0.5,1,2.5"), "{text}");
}

#[test]
fn json_has_what_the_tables_have() {
    let value: serde_json::Value = serde_json::from_str(&json::text(&report()).unwrap()).unwrap();
    let solution = &value["exercises"][0]["sizes"][1]["variants"][2];
    assert_eq!((&solution["name"], &solution["basis"]), (&"solution".into(), &"PREDICTED".into()));
    assert_eq!((solution["gb_per_s"].as_f64(), solution["share"].as_f64()), (Some(1.5), Some(0.375)));
    assert!(solution["flop_per_byte"].as_f64().is_some() && solution["accuracy"][0]["ulp"]["max"] == 2.5, "{solution}");
}

/// Points of several row lengths with as many elements would stand above each other.
#[test]
fn rows_are_drawn_over_their_length() {
    let mut report = report();
    let row = |rows, columns, time| Size { columns, shape: format!("{rows} x {columns}"), ..size(rows, time) };
    report.exercises[0].sizes = vec![row(4, 16, 9e3), row(256, 64, 9e3), row(1024, 16, 8e3), row(64, 256, 7e3)];
    let pictures = pictures::all(&report.exercises[0], &report);
    let speed = &pictures.iter().find(|(name, _)| name == "add_gelu-speed.svg").unwrap().1;
    assert!(speed.contains("over row length, 16384 elements") && speed.contains(">elements a row<"), "{speed}");
    assert!(speed.contains("unfused: 600 MB/s at 16 to 600 MB/s at 256."), "{speed}");
}

#[test]
fn pictures_are_named_for_the_exercise_and_say_what_they_rest_on() {
    let report = report();
    let pictures = pictures::all(&report.exercises[0], &report);
    let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["add_gelu-time.svg", "add_gelu-speed.svg", "add_gelu-traffic.svg", "add_gelu-roofline.svg"]);
    for (name, text) in &pictures {
        let basis = if name.contains("traffic") { "(counted)" } else { "(predicted)" };
        assert!(text.contains(basis) && text.starts_with("<svg"), "{name}");
    }
}
