//! Says where the time of one variant of an exercise goes, by the emulated device's clock. On a GPU it is launched once, for whoever
//! looks on.

use std::process::ExitCode;

use fusion_course::{Entry, Exercise, Shape, Submission};

use super::bench::{BUDGET, sound, untimed};
use super::judge::{tell, unable};
use super::{ProfileOptions, find};
use crate::bench;
use crate::fast::Plan;
use crate::judgement::RunError;
use crate::profile::{Launch, Predicted, Profiled};
use crate::protocol::{Message, OPENING};
use crate::rig::{Rig, Who};
use crate::session::{Session, within};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Spans of all launches together: the message that has them is one line, and whoever reads it takes no more than four megabytes.
const MOST_SPANS: usize = 60_000;

pub(super) fn run(options: &ProfileOptions, submission: &Submission, top: &[Entry]) -> ExitCode {
    let (top, submitted) = (find(top, &options.exercise), find(&submission.entries, &options.exercise));
    let Some(entry) = submitted else {
        return unable(RunError::new("unknown-target", format!("this program has no `{}`", options.exercise)));
    };
    let shapes = match options.size {
        Some(size) => bench::shapes(entry.exercise, &[size], false),
        None => entry.exercise.large(Plan::default().elements),
    };
    let Some(&shape) = shapes.first() else {
        return unable(RunError::new("unknown-size", "this exercise has no such size"));
    };
    let who = match variant(entry.exercise, shape, top.is_some(), options.rung.as_deref()) {
        Ok(found) => found,
        Err(names) => {
            let asked = options.rung.as_deref().unwrap_or_default();
            let message = format!("no rung is called `{asked}` at {shape}; there are {names}");
            return unable(RunError::new("unknown-rung", message));
        }
    };
    tell(OPENING.to_owned());
    let session = match Session::open_with(options.device.into(), false, within(BUDGET)) {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    match profile(&session, entry, top, who, shape, options) {
        Ok(profiled) => Message::Profiled { device: session.info.clone(), profiled: Box::new(profiled) }.send(),
        Err(trouble) => untimed(None, &trouble),
    }
    ExitCode::SUCCESS
}

/// What is to be launched, and its name; all names there are where nothing has this one. A rung goes by its number, too, from 1 on.
fn variant(
    exercise: &'static Exercise,
    shape: Shape,
    has_top: bool,
    asked: Option<&str>,
) -> Result<(Who, String), String> {
    let Some(asked) = asked else { return Ok((Who::Submission, "submission".to_owned())) };
    let rungs = exercise.rungs(shape).into_iter().map(|(index, rung)| (Who::Rung(index), rung.name));
    let ladder: Vec<(Who, &str)> = rungs.chain(has_top.then_some((Who::Top, "top"))).collect();
    let rival = exercise.rival.map(|rival| (Who::Rival, rival.name));
    let all: Vec<(Who, &str)> = ladder.iter().copied().chain(rival).chain([(Who::Unfused, "unfused")]).collect();
    let plain = |name: &str| name.to_lowercase().replace(['-', '_'], " ");
    let number = asked.parse::<usize>().ok().and_then(|number| ladder.get(number.checked_sub(1)?).copied());
    let named = all.iter().copied().find(|(_, name)| plain(name) == plain(asked));
    let names = || all.iter().map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    named.or(number).map(|(who, name)| (who, name.to_owned())).ok_or_else(names)
}

fn profile(
    session: &Session,
    entry: &Entry,
    top: Option<&Entry>,
    (who, variant): (Who, String),
    shape: Shape,
    options: &ProfileOptions,
) -> Result<Profiled, Trouble> {
    tell("compiling".to_owned());
    let program = session.compile(entry)?;
    let top = top.filter(|_| who == Who::Top).map(|entry| session.compile(entry).map(|program| (entry, program)));
    let top = top.transpose()?;
    let compiled = |mut predicted: Predicted| {
        let program = top.as_ref().map_or(&program, |(_, program)| program);
        for launch in predicted.launches.iter_mut().filter(|_| options.compiled) {
            launch.compiled(&session.device, program);
        }
        predicted
    };
    let trial = Trial::new(session, entry, &program, options.seed, &tell);
    let trial = trial.beside(top.as_ref().map(|(entry, program)| (*entry, program)));
    if session.judges_as_gpu() {
        tell(format!("launching {variant} at {shape}"));
        let mut rig = Rig::new(&trial, shape)?;
        rig.reset(who, 0).map_err(Trouble::driver("preparing a launch"))?;
        rig.run(who, 0)?;
        rig.finish()?;
        return Ok(profiled(variant, shape, Predicted::default()));
    }
    if who == Who::Submission {
        sound(&trial)?;
    }
    tell(format!("predicting {variant} at {shape}"));
    if let Some(mut predicted) = Rig::sampled(&trial, shape)?.predict_with(who, options.traced)? {
        shorten(&mut predicted.launches);
        return Ok(profiled(variant, shape, compiled(predicted)));
    }
    // What does not follow from single blocks is executed, at a size that can be.
    let small = entry.exercise.large(entry.exercise.surveyed).first().copied();
    let shape = small.filter(|small| small.elements() < shape.elements()).unwrap_or(shape);
    tell(format!("predicting {variant} at {shape}"));
    let predicted = Rig::new(&trial, shape)?.time(who)?;
    let none = || Trouble::Unable("the emulated device has no time for this launch".to_owned());
    Ok(profiled(variant, shape, compiled(predicted.ok_or_else(none)?)))
}

/// Leaves each launch's trace as many of its first spans as there is room for.
pub(super) fn shorten(launches: &mut [Launch]) {
    let each = MOST_SPANS / launches.len().max(1);
    for trace in launches.iter_mut().filter_map(|launch| launch.account.as_mut()?.trace.as_mut()) {
        trace.spans.truncate(each);
    }
}

fn profiled(variant: String, shape: Shape, predicted: Predicted) -> Profiled {
    Profiled { variant, shape: shape.to_string(), rows: shape.rows, columns: shape.columns, predicted }
}

#[cfg(test)]
mod tests {
    use fusion_course::day23::softmax;
    use fusion_machine::report::State;
    use fusion_machine::report::account::{Account, Span, Trace};

    use super::*;

    #[test]
    fn traces_of_many_launches_fit_into_a_message() {
        // With as many digits as there can be.
        let (from, to) = (123_456.78, 123_456.79);
        let span = Span { warp: 63, state: State::MathPipeThrottle, from, to, line: 999 };
        let trace = Some(Trace { spans: vec![span; MOST_SPANS], ..Trace::default() });
        let account = Some(Box::new(Account { trace, ..Account::default() }));
        for many in [1, 4] {
            let mut launches = vec![Launch { account: account.clone(), ..Launch::default() }; many];
            shorten(&mut launches);
            assert!(serde_json::to_string(&launches).is_ok_and(|text| text.len() < 4 << 20));
        }
    }

    #[test]
    fn rungs_go_by_name_and_number() {
        let of = |asked| variant(&softmax::EXERCISE, Shape::of(64, 1024), true, asked);
        assert_eq!(of(None), Ok((Who::Submission, "submission".to_owned())));
        for asked in ["naive", "1"] {
            assert_eq!(of(Some(asked)), Ok((Who::Rung(0), "naive".to_owned())));
        }
        assert_eq!(of(Some("One-Pass")), of(Some("2")));
        assert_eq!(of(Some("top")).map(|(who, _)| who), Ok(Who::Top));
        assert_eq!(of(Some("unfused")).map(|(who, _)| who), Ok(Who::Unfused));
        assert!(of(Some("fastest")).is_err_and(|names| names.contains("`naive`, `one pass`")));
    }
}
