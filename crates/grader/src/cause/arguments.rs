//! The arguments of a launch, by what the kernel's source calls its parameters.

use fusion_course::{Case, Reference, Scalar};
use fusion_machine::{Argument, LaunchReport};

use super::{Cause, Seen, Swap, say, shifted};
use crate::judgement::{Code, Failure};
use crate::problem;

/// A number that a kernel may take, by the name that it has in the exercise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Count(u64),
    Scalar(Scalar),
}

/// Every parameter that is called as a buffer of the exercise received another one of them.
pub(super) fn order(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let named = launch.arguments.iter().enumerate().filter_map(|(index, argument)| {
        let name = argument.name.as_deref()?;
        let received = seen.at(argument.unsigned()?)?;
        let known = seen.buffers.iter().any(|buffer| buffer.param.name == name);
        known.then(|| Swap { index, name: name.to_owned(), received: received.name.to_owned(), buffer: true })
    });
    let swapped: Vec<Swap> = named.filter(|swap| swap.name != swap.received).collect();
    let decides = !swapped.is_empty() && (!only_inputs(&swapped, seen) || matters(failure, &swapped, seen));
    decides.then(|| Cause::Order { kernel: as_listed(launch, seen), swapped, order: names(launch) })
}

/// Whether the buffers are passed as the exercise lists them, whatever the kernel calls its parameters.
pub(super) fn as_listed(launch: &LaunchReport, seen: &Seen<'_>) -> bool {
    let passed = launch.arguments.iter().filter_map(|argument| seen.at(argument.unsigned()?));
    let listed = seen.exercise.inputs.iter().chain(seen.exercise.outputs).filter(|param| !param.behind);
    passed.map(|param| param.name).eq(listed.map(|param| param.name))
}

/// Whether all of them are inputs, and alike: the kernel reads other values, and nothing else changes.
fn only_inputs(swapped: &[Swap], seen: &Seen<'_>) -> bool {
    let input = |name: &str| seen.exercise.inputs.iter().find(|input| input.name == name);
    swapped.iter().all(|swap| match (input(&swap.name), input(&swap.received)) {
        (Some(one), Some(other)) => (one.dtype, one.extent) == (other.dtype, other.extent),
        _ => false,
    })
}

/// Whether the wrong value would be another one with these inputs in each other's places: the order of a and b in a + b
/// explains nothing.
fn matters(failure: &Failure, swapped: &[Swap], seen: &Seen<'_>) -> bool {
    let Some(mismatch) = failure.mismatch.as_ref().filter(|_| failure.code == Code::Values) else { return false };
    let place = |name: &str| seen.exercise.inputs.iter().position(|input| input.name == name);
    let mut case = seen.case.clone();
    for swap in swapped {
        let (Some(to), Some(from)) = (place(&swap.name), place(&swap.received)) else { return false };
        if let (Some(to), Some(from)) = (case.inputs.get_mut(to), seen.case.inputs.get(from)) {
            to.clone_from(from);
        }
    }
    let output = seen.exercise.outputs.iter().position(|output| output.name == mismatch.output);
    let value = |case: &Case| {
        let references = (seen.exercise.reference)(case);
        match references.get(output?)? {
            Reference::Close { values, .. } => values.get(mismatch.index as usize).map(|value| [*value; 2]),
            Reference::OneOf(values) => values.get(mismatch.index as usize).copied(),
        }
    };
    value(&case) != value(seen.case)
}

/// Two numbers that were each passed for the other.
pub(super) fn scalars(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let numbers = numbers(launch, seen);
    let received = |index: usize, of: usize| {
        let (Some((_, _, argument, _)), Some((_, _, _, number))) = (numbers.get(index), numbers.get(of)) else {
            return false;
        };
        is(argument, *number)
    };
    for one in 0..numbers.len() {
        for other in one + 1..numbers.len() {
            if received(one, one) || received(other, other) || !received(one, other) || !received(other, one) {
                continue;
            }
            let swap = |at: usize, from: usize| {
                let (index, name, ..) = numbers[at];
                Swap { index, name: name.to_owned(), received: numbers[from].1.to_owned(), buffer: false }
            };
            let swapped = vec![swap(one, other), swap(other, one)];
            // What the first of the two received comes first in the exercise, too: it is the kernel that has another order.
            let listed: Vec<&str> = listed(seen).collect();
            let place = |swap: &Swap| listed.iter().position(|name| *name == swap.received);
            let kernel = place(&swapped[0]) < place(&swapped[1]);
            return Some(Cause::Scalars { swapped, order: names(launch), kernel });
        }
    }
    None
}

/// What the launch function is given, in its order.
pub(super) fn listed(seen: &Seen<'_>) -> impl Iterator<Item = &'static str> {
    let sizes = seen.exercise.shapes.sizes(seen.shape());
    let buffers = seen.exercise.inputs.iter().chain(seen.exercise.outputs);
    let buffers = buffers.filter(|param| !param.behind).map(|param| param.name);
    // By what chooses a kernel no kernel need be told.
    let takes = |name: &str| {
        seen.launches().flat_map(|launch| &launch.arguments).any(|argument| argument.name.as_deref() == Some(name))
    };
    let choice = seen.exercise.choices.0;
    let scalars = seen.exercise.scalars.iter().copied().filter(move |name| *name != choice || takes(name));
    buffers.chain(scalars).chain(sizes.into_iter().map(|(name, _)| name))
}

/// A number of another width than the parameter's, which shows in the half that is right.
pub(super) fn width(seen: &Seen<'_>) -> Option<Cause> {
    let numbers = seen.launch().map(|launch| numbers(launch, seen))?;
    numbers.into_iter().filter(|(_, _, argument, number)| !is(argument, *number)).find_map(
        |(_, name, argument, number)| {
            match (number, argument.bytes.len(), argument.unsigned()?) {
                (Number::Count(value), 8, got) if got & 0xffff_ffff == value => {
                    let (name, stray) = (name.to_owned(), shifted::stray(argument, seen));
                    Some(Cause::Narrow { name, value: Some(value), stray, order: names(seen.launch()?) })
                }
                // Of an i64 it is the lower half.
                (Number::Scalar(Scalar::F32(value)), 4, got)
                    if argument.float && got != 0 && got as i32 as f32 == value =>
                {
                    Some(Cause::Integer { name: name.to_owned(), value: got as i32 })
                }
                (Number::Scalar(Scalar::F32(value)), 4, got) if argument.float => {
                    let lower = f64::from(value).to_bits() & 0xffff_ffff;
                    // Zeros are the lower half of many numbers.
                    (lower != 0 && got == lower)
                        .then(|| Cause::Double { name: name.to_owned(), value: f64::from(value) })
                }
                _ => None,
            }
        },
    )
}

/// A parameter for which the launch has fewer bytes than it has, by the place that they lie at.
pub(super) fn short(seen: &Seen<'_>) -> Option<Cause> {
    let arguments = &seen.launch()?.arguments;
    let (index, short) = arguments.iter().enumerate().find(|(_, argument)| argument.short)?;
    let name = short.name.clone().unwrap_or_else(|| (index + 1).to_string());
    Some(Cause::Narrow { name, value: None, stray: shifted::stray(short, seen), order: names(seen.launch()?) })
}

/// What is to be said of numbers that are not what they are in the exercise, whatever the reason; and what to do.
pub(super) fn odd(seen: &Seen<'_>) -> Option<(String, String)> {
    let launch = seen.launch()?;
    let odd = numbers(launch, seen).into_iter().filter(|(_, _, argument, number)| !is(argument, *number));
    let told: Vec<String> = odd
        .map(|(_, name, argument, number)| {
            let wanted = match number {
                Number::Count(count) => count.to_string(),
                Number::Scalar(scalar) => problem::number(scalar.to_f64()),
            };
            format!("`{name}` received {}, and in this problem {name} = {wanted}", value(argument))
        })
        .collect();
    let note = || format!("of the kernel's parameters, {}", told.join("; "));
    (!told.is_empty()).then(|| (note(), say::odd(&names(launch), seen)))
}

/// The parameters that are called as numbers of the exercise are: index, name, what they received, and what that number is.
fn numbers<'a>(launch: &'a LaunchReport, seen: &Seen<'_>) -> Vec<(usize, &'a str, &'a Argument, Number)> {
    let named = launch.arguments.iter().enumerate().filter_map(|(index, argument)| {
        let name = argument.name.as_deref()?;
        Some((index, name, argument, number(name, seen)?))
    });
    named.collect()
}

pub(super) fn number(name: &str, seen: &Seen<'_>) -> Option<Number> {
    let scalars = seen.exercise.scalars.iter().zip(&seen.case.scalars);
    let scalar = scalars.into_iter().find(|(known, _)| **known == name).map(|(_, scalar)| Number::Scalar(*scalar));
    scalar.or_else(|| {
        let sizes = seen.exercise.shapes.sizes(seen.shape());
        sizes.into_iter().find(|(known, _)| *known == name).map(|(_, size)| Number::Count(size as u64))
    })
}

/// Whether an argument is that number, in whatever type.
fn is(argument: &Argument, number: Number) -> bool {
    let Some(bits) = argument.unsigned() else { return false };
    match (number, argument.float, argument.bytes.len()) {
        (Number::Count(count), false, _) => bits == count,
        (Number::Count(count), true, 4) => f32::from_bits(bits as u32) == count as f32,
        (Number::Scalar(Scalar::F32(value)), true, 4) => bits == u64::from(value.to_bits()),
        (Number::Scalar(scalar), true, 8) => f64::from_bits(bits) == scalar.to_f64(),
        (Number::Scalar(Scalar::I32(value)), false, 4) => bits == u64::from(value as u32),
        (Number::Scalar(scalar), _, _) => bits as f64 == scalar.to_f64(),
        (Number::Count(_), true, _) => false,
    }
}

fn value(argument: &Argument) -> String {
    match (argument.unsigned(), argument.float, argument.bytes.len()) {
        (Some(bits), true, 4) => problem::number(f64::from(f32::from_bits(bits as u32))),
        (Some(bits), true, 8) => f64::from_bits(bits).to_string(),
        (Some(bits), false, _) => bits.to_string(),
        _ => format!("{} bytes", argument.bytes.len()),
    }
}

/// The kernel's parameters in their order.
fn names(launch: &LaunchReport) -> Vec<String> {
    launch.arguments.iter().map(|argument| argument.name.clone().unwrap_or_else(|| "_".to_owned())).collect()
}
