//! `cargo xtask grade TARGET --hint [N]`: hints instead of a verdict.

use fusion_course::Exercise;

use crate::output;
use crate::target;

/// Prints the first `count` hints of each exercise and returns the exit code.
pub(crate) fn run(targets: &[String], count: usize) -> u8 {
    match target::resolve(targets, fusion_course::days()) {
        Ok(selections) => {
            let exercises = selections.iter().flat_map(|selection| &selection.exercises);
            let texts: Vec<String> = exercises.map(|exercise| hints(exercise, count)).collect();
            if output::print(&texts.join("\n")) { 0 } else { 2 }
        }
        Err(unknown) => {
            output::note(&format!("error: {unknown}"));
            2
        }
    }
}

fn hints(exercise: &Exercise, count: usize) -> String {
    let total = exercise.hints.len();
    let mut text = format!("{}: {}\n", exercise.name, exercise.definition);
    for (index, hint) in exercise.hints.iter().take(count).enumerate() {
        text += &format!("hint {} of {total}: {hint}\n", index + 1);
    }
    if count > total {
        text += "there are no more hints\n";
    }
    if count < total {
        text += &format!("more: {} grade {} --hint {}\n", crate::grade::program(), exercise.name, count + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_one_at_a_time_and_say_whether_there_are_more() {
        let exercise = fusion_course::find("mul_add").unwrap();
        let one = hints(exercise, 1);
        assert!(one.contains("hint 1 of 3") && !one.contains("hint 2 of") && one.contains("--hint 2"), "{one}");
        let all = hints(exercise, 9);
        assert!(all.contains("hint 3 of 3") && !all.contains("more:") && all.ends_with("no more hints\n"), "{all}");
    }
}
