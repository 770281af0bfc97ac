//! `cargo xtask` alone: where the learner is, and the one command to type.

use fusion_course::{DaySpec, Exercise};
use fusion_grader::render::Look;

use super::choice::{Learner, tell};
use super::next;
use super::state::{Attempts, Standing, exercises};
use crate::command::program;
use crate::output;
use crate::paint::Paint;

/// Prints and returns the exit code.
pub(crate) fn run() -> u8 {
    tell(Learner::find().map(|learner| text(&learner.attempts, output::look())))
}

fn text(attempts: &Attempts, look: Look) -> String {
    let title = Paint::Bold.on("Kernel fusion in Rust and CUDA", look);
    let all = exercises().collect::<Vec<_>>();
    let mut text = format!("{title}: {}.\n\n", tally(attempts, &all));
    let wide = fusion_course::days().iter().map(|day| day.title.len()).max().unwrap_or_default();
    for day in fusion_course::days() {
        let (bar, title) = (bar(attempts, day, look), day.title);
        text += &format!("  day {}  {title:wide$}  {bar}  {}\n", day.number, tally(attempts, day.exercises));
    }
    match attempts.next() {
        Some(exercise) => {
            let word = if attempts.standing(exercise) == Standing::New { "Next" } else { "You are at" };
            text += &format!("\n{word} {}", next::text(exercise, look));
            text += &format!("\n  {}\n", Paint::Green.on(&format!("{} watch", program()), look));
        }
        None => text += &format!("\nHow fast are they, at which size?\n\n  {} bench\n", program()),
    }
    text += &format!("\nAll exercises: {0} list. All commands: {0} --help\n", program());
    text
}

/// `3 of 5 pass, 1 is right and lean`.
fn tally(attempts: &Attempts, exercises: &[&Exercise]) -> String {
    let count = |wanted| exercises.iter().filter(|exercise| attempts.standing(exercise) == wanted).count();
    let passed = count(Standing::Passed);
    let pass = if passed == 1 { "passes" } else { "pass" };
    let undecided = match count(Standing::Undecided) {
        0 => String::new(),
        1 => ", 1 more is right and lean".to_owned(),
        more => format!(", {more} more are right and lean"),
    };
    format!("{passed} of {} {pass}{undecided}", exercises.len())
}

/// One mark for each exercise, as wide as the longest day's.
fn bar(attempts: &Attempts, day: &DaySpec, look: Look) -> String {
    let widest = fusion_course::days().iter().map(|day| day.exercises.len()).max().unwrap_or_default();
    let marks = day.exercises.iter().map(|exercise| mark(attempts.standing(exercise), look));
    marks.collect::<String>() + &" ".repeat(widest - day.exercises.len())
}

/// How an exercise stands, in one character.
fn mark(standing: Standing, look: Look) -> String {
    let (drawn, plain, paint) = match standing {
        Standing::New => ("□", ".", Paint::Dim),
        Standing::Begun => ("◧", "o", Paint::Yellow),
        Standing::Undecided => ("▣", "+", Paint::Cyan),
        Standing::Passed => ("■", "#", Paint::Green),
    };
    paint.on(if look.terminal { drawn } else { plain }, look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::state::Attempt;
    use fusion_grader::judgement::{Judgement, Verdict};

    #[test]
    fn the_screen_says_where_one_is_and_what_to_type() {
        let judged = [("mul_add", Verdict::Pass), ("add_gelu", Verdict::Inconclusive), ("add_mul_relu", Verdict::Fail)];
        let attempt = |(name, verdict): (&str, Verdict)| {
            let judgement = Judgement { name: name.to_owned(), verdict, ..Judgement::default() };
            Attempt::new("1", &judgement, None)
        };
        let attempts = Attempts { all: judged.map(attempt).into(), ..Attempts::default() };
        let text = text(&attempts, Look::default());
        assert!(
            text.starts_with("Kernel fusion in Rust and CUDA: 1 of ")
                && text.contains(" passes, 1 more is right and lean.\n"),
            "{text}"
        );
        assert!(text.contains("  #o.+.   1 of 5 passes"), "{text}");
        assert!(text.contains("\nYou are at add_mul_relu: max(0, (a + b) * a) (day 22)\n"), "{text}");
        assert!(text.contains("chapter  book/src/day22/exercises.md\n"), "{text}");
        assert!(text.contains(" watch\n"), "{text}");
    }
}
