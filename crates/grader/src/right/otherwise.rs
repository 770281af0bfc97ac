//! Whether what failed would be right, were it launched otherwise: the kernel is launched again, with the arguments that it was given.

#![allow(unsafe_code)] // Launches a submission's kernel.

use cudarc::driver::sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use fusion_course::{Case, Inputs, Shape};
use fusion_device::recording::{Launch, Work};
use fusion_machine::report::Dry;
use fusion_machine::{Argument, LaunchReport};

use super::bench::{Bench, Ran};
use super::check;
use crate::cause::otherwise::{Other, worth_trying};
use crate::judgement::Code;
use crate::trouble::Trouble;

/// The least rows and columns of a problem that tells: more than a warp, and more than a tile.
const MORE: usize = 33;

/// A failure with the launch as its cause, where another one is right with the problem that failed and with a larger one.
pub(super) fn compare(trouble: Trouble, bench: &mut Bench<'_>, shape: Shape) -> Trouble {
    match trouble {
        Trouble::Failure(failure) if failure.cause.is_none() && is_open(failure.code) => {
            let Some((other, launch, tried)) = find(bench, shape) else { return Trouble::Failure(failure) };
            let tried: Vec<String> = tried.into_iter().map(|shape| bench.trial.name(shape)).collect();
            other.explain(*failure, &launch, bench.trial.entry, &tried).into()
        }
        trouble => trouble,
    }
}

/// What a kernel may come to that was launched wrongly.
fn is_open(code: Code) -> bool {
    matches!(code, Code::Values | Code::Unwritten | Code::Tail | Code::Fault)
}

fn find(bench: &mut Bench<'_>, failed: Shape) -> Option<(Other, LaunchReport, Vec<Shape>)> {
    let (exercise, seed) = (bench.trial.exercise(), bench.trial.seed);
    if bench.trial.session.judges_as_gpu() || bench.trial.scope.alone || failed.elements() == 0 {
        return None;
    }
    let large = |shape: &Shape| shape.rows >= MORE && shape.columns >= MORE;
    let mut shapes = vec![failed];
    shapes.extend(exercise.problems(seed).into_iter().filter(large).min_by_key(|shape| shape.elements()));
    shapes.dedup();
    let mut others = worth_trying(exercise).into_iter();
    others.find_map(|other| {
        let was = as_it_is(bench, failed, false)?;
        // What does not fail with these inputs is not made right by the change, and what is not changed is not either.
        let changed = other.of(&was).is_some() && right(bench, &was, failed, other);
        (changed
            && shapes[1..].iter().all(|larger| {
                as_it_is(bench, *larger, true).is_some_and(|launch| right(bench, &launch, *larger, other))
            }))
        .then(|| (other, was, shapes.clone()))
    })
}

/// What a submission launches, where that is one launch. It has to fail, unless it runs dry, which tells only what is launched: with more
/// elements it may stop the kernel, and after that there is no other launch.
fn as_it_is(bench: &mut Bench<'_>, shape: Shape, dry: bool) -> Option<LaunchReport> {
    /// Of no block.
    const NOTHING: u64 = u64::MAX;

    let session = bench.trial.session;
    bench.prepare(shape).ok()?;
    let case = case(bench, shape);
    if dry {
        session.run_dry(&Dry { blocks: vec![NOTHING], budget: 1, ..Dry::default() }).ok()?;
    }
    let failed = bench.launch(&case).and_then(|ran| check(bench, &case, &ran)).is_err();
    session.run_dry(&Dry::default()).ok()?;
    session.device.context.synchronize().ok()?;
    match session.seen().launches[..] {
        [ref launch] if failed || dry => Some(launch.clone()),
        _ => None,
    }
}

/// Whether the same launch with a change is right.
fn right(bench: &mut Bench<'_>, launch: &LaunchReport, shape: Shape, other: Other) -> bool {
    let case = case(bench, shape);
    launch_as(bench, &case, launch, other).is_some_and(|ran| check(bench, &case, &ran).is_ok())
}

/// A case of a shape for which the buffers were prepared.
fn case(bench: &Bench<'_>, shape: Shape) -> Case {
    let mut case = (bench.trial.exercise().make)(shape, &mut Inputs::new(bench.trial.seed));
    bench.fill_tables(&mut case);
    case
}

/// Launches what was launched before, with a change.
fn launch_as(bench: &mut Bench<'_>, case: &Case, launch: &LaunchReport, other: Other) -> Option<Ran> {
    let (grid, block) = other.of(launch).unwrap_or((launch.grid, launch.block));
    let (session, program) = (bench.trial.session, bench.trial.program);
    let kernel = program.module.load_function(&launch.kernel).ok()?;
    let work = Work::Launch(Launch {
        kernel: launch.kernel.clone(),
        grid,
        block,
        shared: launch.dynamic_shared,
        shared_limit: kernel.get_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).ok()?,
        cooperative: false,
        cluster: [0; 3],
        large_clusters: false,
        parameters: packed(&launch.arguments),
    });
    let queue = || {
        // SAFETY: on the emulated device an access out of bounds is a fault.
        let queued = unsafe { session.device.queue(program, &work) };
        queued.map_err(Trouble::driver("launching otherwise"))
    };
    bench.run_emulated(case, |_| queue()).ok()
}

/// The arguments as a kernel's parameters lie: each at a multiple of its size.
fn packed(arguments: &[Argument]) -> Vec<u8> {
    arguments.iter().fold(Vec::new(), |mut bytes, argument| {
        let size = argument.bytes.len();
        bytes.resize(bytes.len().next_multiple_of(size.next_power_of_two().clamp(1, 16)), 0);
        bytes.extend(&argument.bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lie_at_multiples_of_their_sizes() {
        let argument = |bytes: &[u8]| Argument { bytes: bytes.to_vec(), ..Argument::default() };
        let packed = packed(&[argument(&[1, 2, 3, 4]), argument(&[5; 8]), argument(&[6])]);
        assert_eq!(packed, [1, 2, 3, 4, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 6]);
    }
}
