//! Why a submission failed, where what the device saw leaves no doubt.
//!
//! Causes are looked for in the order in which they come about: what was launched, what the kernel took that for, and then what
//! it did. Where the evidence does not decide, the failure stands as it is: a wrong cause is worse than none.

mod arguments;
mod elements;
mod launched;
pub(crate) mod otherwise;
mod roles;
mod say;
mod shared;
mod shifted;
mod short;
pub(crate) mod signature;
mod threads;

use fusion_course::{Case, DType, Exercise, Param, Shape, Source};
use fusion_cpp::Token;
use fusion_machine::report::Kind;
use fusion_machine::report::kind::Refusal;
use fusion_machine::{Fault, LaunchReport, Report};

use crate::judgement::{Code, Failure, Side};
use crate::site::{self, About};
pub(crate) use short::Short;

/// What is known of a launch that failed.
pub(crate) struct Seen<'a> {
    pub(crate) exercise: &'static Exercise,
    pub(crate) source: &'a Source,
    /// The file with the launch function, where its text is known.
    pub(crate) rust: Option<&'a Source>,
    pub(crate) case: &'a Case,
    pub(crate) buffers: Vec<Buffer<'a>>,
    /// What the emulated device reported of it.
    pub(crate) report: &'a Report,
}

/// A buffer that the launch function was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer<'a> {
    pub(crate) param: &'a Param,
    pub(crate) address: u64,
}

/// What can be said for certain, as data; [`say`] has the words.
#[derive(Clone, Debug, PartialEq)]
enum Cause {
    /// Buffers that parameters received which are called as others are.
    ///
    /// `kernel`: the launch passes them in the exercise's order, and the kernel has another one.
    Order { swapped: Vec<Swap>, order: Vec<String>, kernel: bool },
    /// No argument for a parameter: it received the next one's, and so do all that follow.
    ///
    /// `own`: it is called as nothing in the exercise.
    Missing { index: usize, name: String, received: Option<String>, order: Vec<String>, own: bool },
    /// An argument that no parameter is for: all that follow receive the one before theirs.
    Surplus { index: usize, name: String, received: Option<String>, order: Vec<String> },
    /// The same launch more than once; `updated`: what each changes that the next one reads.
    Twice { kernel: String, times: usize, updated: Option<&'static str> },
    /// The results of another choice than the one that was asked for: each by number and name.
    ///
    /// `told`: the kernel received the number that was asked for.
    Choice {
        scalar: &'static str,
        kernel: String,
        asked: (usize, &'static str),
        given: (usize, &'static str),
        told: bool,
    },
    /// Numbers that were passed for one another. `kernel`: as above.
    Scalars { swapped: Vec<Swap>, order: Vec<String>, kernel: bool },
    /// Pointers that are called as no buffer of the exercise: what is written received an input, and what is only read an output.
    Roles { written: Role, read: Role, order: Vec<String>, kernel: bool },
    /// Memory that is none of the exercise's, under the name of a buffer, in which nothing was ever written.
    OtherMemory { index: usize, name: String },
    /// Fewer bytes than the eight that the kernel takes; an integer of four where its value is known.
    ///
    /// `stray`: a scalar that the kernel does not take, of the same value.
    Narrow { name: String, value: Option<u64>, stray: Option<&'static str>, order: Vec<String> },
    /// An `f64` where the kernel takes a `float`.
    Double { name: String, value: f64 },
    /// An integer of the right value where the kernel takes a `float`.
    Integer { name: String, value: i32 },
    /// A parameter declared with elements of another type than the buffer's.
    ///
    /// `packs`: one that may stand for several numbers.
    Elements { name: String, declared: String, takes: usize, packs: bool, has: DType },
    /// Memory whose size the launch decides, of which it asked for none.
    NoShared { bytes: u64 },
    /// As many bytes of it as there are columns, or elements.
    SharedInElements { dynamic: u64, count: &'static str, each: u64 },
    /// Less of it than a row takes of the elements that the kernel's array has. `wider`: than those of the exercise's inputs.
    SharedTooSmall { dynamic: u64, columns: u64, each: u64, wider: bool },
    /// A function of the course's headers for another number of threads than a block has.
    Reduction { function: &'static str, expects: u64, threads: u64 },
    /// More blocks than rows, in a kernel whose blocks have a row each.
    TooManyBlocks { blocks: u64, rows: u64, block: u64 },
    /// Fewer threads than the elements need, of which each has stored so many.
    TooFewThreads { blocks: u64, threads: u64, elements: u64, each: u64 },
    /// Fewer blocks than the rows need, of which each has stored so many.
    TooFewBlocks { blocks: u64, threads: u64, rows: u64, each: u64 },
    /// Fewer threads than a kernel with a loop over the whole grid gets through: so many elements for each of them.
    TooMuchEach { blocks: u64, threads: u64, elements: u64, each: u64 },
    /// Blocks along an axis of the grid, or threads along one of a block, that the kernel never asks for.
    ///
    /// `instead`: another axis that it asks for, along which there is one.
    Axis { of: Axes, sizes: [u32; 3], axis: char, instead: Option<char> },
    /// An output is read that holds nothing before the launch. `other`: the parameter that received it, where it is called otherwise.
    ReadsOutput { name: &'static str, other: Option<(usize, String)> },
    /// The same thread of every block writes the same element.
    SameElements { one: u64, other: u64, element: Option<String> },
}

/// What has three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axes {
    Grid,
    Block,
}

/// Which parameter received what.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Swap {
    /// Counted from 0.
    index: usize,
    name: String,
    received: String,
    /// Whether it is a buffer, and no number.
    buffer: bool,
}

/// A pointer that received a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Role {
    /// Counted from 0.
    index: usize,
    name: String,
    received: &'static str,
}

impl Cause {
    /// The file that is to be changed.
    fn side(&self) -> Side {
        match self {
            Cause::Elements { .. }
            | Cause::SameElements { .. }
            | Cause::ReadsOutput { .. }
            | Cause::Order { kernel: true, .. }
            | Cause::Scalars { kernel: true, .. }
            | Cause::Roles { kernel: true, .. }
            | Cause::Axis { instead: Some(_), .. } => Side::Kernel,
            // A kernel that is called what was asked for, or was told, computes something else.
            Cause::Choice { kernel, asked: (_, asked), told, .. } if *told || kernel.contains(asked) => Side::Kernel,
            _ => Side::Launch,
        }
    }

    /// What of the launch is to be changed.
    fn about(&self) -> About {
        match self {
            Cause::NoShared { .. } | Cause::SharedInElements { .. } | Cause::SharedTooSmall { .. } => About::Shared,
            Cause::Reduction { .. } | Cause::Axis { of: Axes::Block, .. } => About::Block,
            Cause::TooManyBlocks { .. }
            | Cause::TooFewThreads { .. }
            | Cause::TooFewBlocks { .. }
            | Cause::TooMuchEach { .. }
            | Cause::Axis { of: Axes::Grid, .. } => About::Grid,
            _ => About::Launch,
        }
    }
}

/// The failure with its cause, if there is one that is certain, and with the numbers that the kernel received.
pub(crate) fn explain(mut failure: Failure, seen: &Seen<'_>) -> Failure {
    // What was refused was refused for a reason, unless it is a parameter that nothing was passed for.
    let parameters = || seen.faults().any(|fault| matches!(fault.kind, Kind::Refusal(Refusal::Parameters { .. })));
    let found = match failure.code {
        _ if failure.cause.is_some() => return failure,
        Code::Values | Code::Unwritten | Code::Tail | Code::Inputs | Code::RedZone | Code::Fault => {
            find(&failure, seen)
        }
        Code::Launch if parameters() => shifted::arguments(&failure, seen),
        _ => return failure,
    };
    if let Some(cause) = found {
        failure.side = Some(cause.side());
        let kernel = seen.launches().last().map_or("", |launch| &launch.kernel);
        let launch = seen.rust.filter(|_| cause.side() == Side::Launch);
        failure.launched = launch.and_then(|rust| site::of_launch(rust, kernel, cause.about()));
        failure.cause = Some(Box::new(cause.say(seen)));
        return failure;
    }
    // No cause, but a fact that may lead to one.
    let facts = [
        threads::beside_shared(seen),
        elements::as_integers(&failure, seen),
        threads::part_of_a_warp(&failure, seen),
        threads::of_tiles(&failure, seen),
        shared::at_one_place(seen),
    ];
    for note in facts.into_iter().flatten() {
        failure.lead_with(note);
    }
    if let Some(note) = launched::of_several(&failure, seen) {
        failure.add_note(note);
    }
    if let Some(note) = roles::not_cleared(seen) {
        failure.lead_with(note);
        failure.side = Some(Side::Launch);
    }
    if let Some(note) = threads::reached(&failure, seen) {
        failure.lead_with(note);
        failure.side = Some(Side::Launch);
    }
    if let Some((note, help)) = arguments::odd(seen) {
        failure.lead_with(note);
        failure.side = Some(Side::Launch);
        // What a kernel does with other numbers than it should have is no matter of the kernel's.
        if let Some(told) = failure.diagnostic.as_mut() {
            told.help = vec![help];
        }
    } else if threads::parts_of_warps(&failure, seen) {
        failure.side = Some(Side::Launch);
    }
    failure
}

fn find(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    launched::twice(failure, seen)
        .or_else(|| shifted::arguments(failure, seen))
        .or_else(|| arguments::order(failure, seen))
        .or_else(|| arguments::scalars(seen))
        .or_else(|| arguments::width(seen))
        .or_else(|| arguments::short(seen))
        .or_else(|| threads::reduction(seen))
        .or_else(|| shared::size(seen))
        .or_else(|| threads::too_many(seen))
        .or_else(|| threads::too_few(failure, seen))
        .or_else(|| threads::too_few_rows(failure, seen))
        .or_else(|| threads::too_much_each(seen))
        .or_else(|| elements::of_another_type(seen))
        .or_else(|| roles::swapped(seen))
        .or_else(|| roles::other_memory(seen))
        .or_else(|| threads::axis(failure, seen))
        .or_else(|| threads::same_elements(failure, seen))
        .or_else(|| elements::read_before(seen))
        .or_else(|| launched::choice(failure, seen))
}

/// The token that is a kernel's name before its parameters.
fn declared(tokens: &[Token], source: &str, kernel: &str) -> Option<usize> {
    let words = |pair: &[Token]| [pair[0].text(source), pair[1].text(source)] == [kernel, "("];
    tokens.windows(2).position(|pair| pair[0].kind == fusion_cpp::Kind::Word && words(pair))
}

impl<'a> Seen<'a> {
    fn shape(&self) -> Shape {
        self.case.shape
    }

    /// The launches, with the one that was stopped last.
    fn launches(&self) -> impl Iterator<Item = &'a LaunchReport> {
        self.report.launches.iter().chain(&self.report.stopped)
    }

    /// The launch, where there was only one.
    fn launch(&self) -> Option<&'a LaunchReport> {
        let mut launches = self.launches();
        launches.next().filter(|_| launches.next().is_none())
    }

    fn faults(&self) -> impl Iterator<Item = &'a Fault> {
        self.report.faults.iter()
    }

    /// The buffer that begins at an address.
    fn at(&self, address: u64) -> Option<&'a Param> {
        self.buffers.iter().find(|buffer| buffer.address == address).map(|buffer| buffer.param)
    }
}
