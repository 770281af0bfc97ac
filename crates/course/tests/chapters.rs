//! The chapters name a day's exercises in the order of the course, in which `cargo xtask grade` names the next one.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use fusion_course::days;

fn page(day: u32, name: &str) -> String {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src");
    std::fs::read_to_string(book.join(format!("day{day}/{name}"))).unwrap()
}

/// What stands between backquotes and is an exercise's name.
fn named<'a>(text: &'a str, exercises: &[&str]) -> Vec<&'a str> {
    text.split('`').skip(1).step_by(2).filter(|code| exercises.contains(code)).collect()
}

#[test]
fn chapters_keep_the_order_of_the_course() {
    for day in days() {
        let exercises: Vec<&str> = day.exercises.iter().map(|exercise| exercise.name).collect();
        let table: String = page(day.number, "exercises.md")
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(named(&table, &exercises), exercises, "the table of day {}", day.number);
        let index = page(day.number, "index.md");
        let schedule = index.lines().find(|line| line.contains("](exercises.md) |")).unwrap();
        assert_eq!(named(schedule, &exercises), exercises, "the schedule of day {}", day.number);
    }
}
