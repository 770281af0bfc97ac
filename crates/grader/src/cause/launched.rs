//! Which kernels were launched, and how often.

use fusion_course::{Case, Scalar};

use super::{Cause, Seen, say};
use crate::judgement::{Code, Failure};

/// The same launch twice, of an exercise that changes a buffer which it reads, or that leaves elements as they were.
pub(super) fn twice(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let updated = seen.exercise.outputs.iter().find(|output| output.updated).map(|output| output.name);
    match failure.code {
        Code::Values if updated.is_some() => {}
        Code::Unwritten | Code::Tail if seen.exercise.launches == 1 => {}
        _ => return None,
    }
    let launches: Vec<_> = seen.launches().collect();
    launches.iter().enumerate().find_map(|(at, launch)| {
        let same = launches.iter().filter(|other| {
            (&other.kernel, other.grid, &other.arguments) == (&launch.kernel, launch.grid, &launch.arguments)
        });
        let times = same.count();
        let first = || launches[..at].iter().all(|other| other.kernel != launch.kernel);
        (times > 1 && first()).then(|| Cause::Twice { kernel: launch.kernel.clone(), times, updated })
    })
}

/// The results are those of another choice than the one that was asked for: the kernel of that one was launched, or the kernel
/// does another's work.
pub(super) fn choice(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let mismatch = failure.mismatch.as_ref().filter(|wrong| failure.code == Code::Values && !wrong.unwritten)?;
    let place = seen.exercise.scalars.iter().position(|name| *name == seen.exercise.choices.0)?;
    let Scalar::I32(asked) = *seen.case.scalars.get(place)? else { return None };
    let output = seen.exercise.outputs.iter().position(|output| output.name == mismatch.output)?;
    let tolerance = seen.exercise.tolerances.get(output)?;
    let found = [(mismatch.index, mismatch.actual), (mismatch.worst_index, mismatch.worst_actual)];
    let gives = |choice: usize| {
        let mut case: Case = seen.case.clone();
        case.scalars[place] = Scalar::I32(choice as i32);
        let references = (seen.exercise.reference)(&case);
        let reference = references.get(output)?;
        let near = |(index, actual): (u64, f64)| {
            let near = |right: f64| (actual - right).abs() <= tolerance.absolute + tolerance.relative * right.abs();
            reference.expected(index as usize).into_iter().any(near)
        };
        Some(found.into_iter().all(near))
    };
    let names = seen.exercise.choices.1;
    let asked = usize::try_from(asked).ok()?;
    let mut others = (0..names.len()).filter(|&choice| choice != asked && gives(choice) == Some(true));
    // Of two that give the same here, nobody knows which it was.
    let given = others.next().filter(|_| others.next().is_none())?;
    let choice = |at: usize| (at, *names.get(at).unwrap_or(&""));
    let (kernel, scalar) = (launch.kernel.clone(), seen.exercise.choices.0);
    let told = launch
        .arguments
        .iter()
        .any(|argument| argument.name.as_deref() == Some(scalar) && argument.unsigned() == Some(asked as u64));
    Some(Cause::Choice { scalar, kernel, asked: choice(asked), given: choice(given), told })
}

/// Which kernel came to wrong results, where a source has several: the place is not told otherwise.
pub(super) fn of_several(failure: &Failure, seen: &Seen<'_>) -> Option<String> {
    let launch = seen.launch().filter(|_| matches!(failure.code, Code::Values | Code::Unwritten | Code::Tail))?;
    let text = &seen.source.text;
    let kernels = fusion_cpp::tokens(text).iter().filter(|token| token.text(text) == "__global__").count();
    (kernels > 1).then(|| say::of_several(&launch.kernel))
}
