//! An argument too few, or one too many: all that come after it belong to the next parameter, or to the one before.

use fusion_course::Scalar;
use fusion_machine::Argument;

use super::{Cause, Seen, Swap, arguments, signature};
use crate::judgement::{Code, Failure};

/// The first parameter from which on every argument is the next one's, or every argument the last one's.
pub(super) fn arguments(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let names: Vec<String> =
        signature::parameters(&seen.source.text, &launch.kernel)?.into_iter().map(|declared| declared.name).collect();
    let passed = &launch.arguments;
    let fits = |at: usize, of: usize| names.get(of).is_some_and(|name| fits(&passed[at], name, seen));
    let first = (0..passed.len()).find(|&at| !fits(at, at))?;
    // A buffer in another's place tells; a number may be there by chance, unless it is known that one was not passed.
    let refused = failure.code == Code::Launch;
    let moved = |at: usize| refused || seen.at(passed[at].unsigned().unwrap_or(0)).is_some();
    let rest = first + 1..passed.len();
    let shifted = |from: usize, to: &dyn Fn(usize) -> usize| {
        let mut moving = (from..passed.len()).filter(|&at| to(at) < names.len());
        moving.clone().all(|at| fits(at, to(at))) && moving.any(|at| moved(at) && !fits(at, at))
    };
    // The bits of the number that is to come first, at the end: no chance, unless they are zeros.
    let last = passed.len() - 1;
    let bits = |at: usize| passed[at].bytes.iter().take(passed[first].bytes.len()).any(|byte| *byte != 0);
    let at_the_end = last > first && !fits(last, last) && fits(last, first) && bits(last);
    if !refused && at_the_end && (first..last).all(|at| fits(at, at + 1)) {
        return turned(first, &names, seen);
    }
    let received = seen.at(passed[first].unsigned()?).map(|param| param.name.to_owned());
    let (index, order) = (first, names.clone());
    let name = names.get(first)?.clone();
    if shifted(first, &|at| at + 1) {
        // What the first one lacks comes last.
        let last = passed.len() - 1;
        if !refused && last > first && fits(last, first) {
            return turned(first, &names, seen);
        }
        let own = !arguments::listed(seen).any(|listed| listed == name);
        return Some(Cause::Missing { index, name, received, order, own });
    }
    (!rest.is_empty() && shifted(first + 1, &|at| at - 1)).then_some(Cause::Surplus { index, name, received, order })
}

/// All parameters from one on received another's argument: the two orders differ by a turn.
fn turned(first: usize, names: &[String], seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let swap = |index: usize| {
        let received = names.get(if index + 1 < names.len() { index + 1 } else { first })?.clone();
        let buffer = seen.at(launch.arguments.get(index)?.unsigned()?).is_some();
        Some(Swap { index, name: names[index].clone(), received, buffer })
    };
    Some(Cause::Order {
        swapped: (first..launch.arguments.len()).map(swap).collect::<Option<_>>()?,
        order: names.to_vec(),
        kernel: arguments::as_listed(launch, seen) && !arguments::listed(seen).eq(names.iter().map(String::as_str)),
    })
}

/// Whether the bytes of an argument begin with what a name stands for in the exercise.
fn fits(argument: &Argument, name: &str, seen: &Seen<'_>) -> bool {
    if let Some(buffer) = seen.buffers.iter().find(|buffer| buffer.param.name == name) {
        return argument.unsigned() == Some(buffer.address);
    }
    let bytes = match arguments::number(name, seen) {
        Some(arguments::Number::Count(count)) => count.to_le_bytes().to_vec(),
        Some(arguments::Number::Scalar(Scalar::F32(value))) => value.to_le_bytes().to_vec(),
        Some(arguments::Number::Scalar(Scalar::I32(value))) => value.to_le_bytes().to_vec(),
        None => return false,
    };
    let both = bytes.len().min(argument.bytes.len());
    both > 0 && bytes[..both] == argument.bytes[..both]
}

/// A scalar of the exercise that a kernel does not take, and whose bytes an argument begins with.
pub(super) fn stray(argument: &Argument, seen: &Seen<'_>) -> Option<&'static str> {
    let taken = |name: &str| {
        seen.launches().flat_map(|launch| &launch.arguments).any(|argument| argument.name.as_deref() == Some(name))
    };
    seen.exercise.scalars.iter().copied().find(|name| !taken(name) && fits(argument, name, seen))
}
