//! The threads of a launch, beside the work that there is.

use fusion_course::{Shape, Shapes};
use fusion_machine::LaunchReport;
use fusion_machine::report::kind::{Init, Memory, Sync, Undefined};
use fusion_machine::report::{Fault, Kind, SourcePosition};

use super::{Axes, Cause, Seen, say};
use crate::judgement::{Code, Failure};

/// Lanes of a warp.
const WARP: u64 = 32;

/// Elements that a thread may have, at most, without a loop.
const MOST_EACH: u64 = 16;

/// Elements of a thread that are too many, with a loop.
const FAR_TOO_MANY: u64 = 256;

/// Functions of the course's headers that are made for blocks of a number of threads, their first template argument. Of a
/// warp or less there may be several in a block.
const REDUCTIONS: [&str; 1] = ["reduce_row"];

/// The header that has them.
const HEADER: &str = "reduce.cuh";

/// A function for another number of threads than the block has, at a place where something went wrong.
pub(super) fn reduction(seen: &Seen<'_>) -> Option<Cause> {
    let threads = of_a_block(seen.launch()?);
    let places = seen.faults().flat_map(places);
    // A learner's own function may have the same name.
    let called = places.filter(|place| place.file.ends_with(HEADER)).filter_map(|place| place.function.as_deref());
    let found =
        called.flat_map(|name| REDUCTIONS.into_iter().filter_map(move |known| Some((known, argument(name, known)?))));
    let mut wrong = found.filter(|(_, expects)| *expects > WARP && *expects != threads);
    wrong.next().map(|(function, expects)| Cause::Reduction { function, expects, threads })
}

fn places(fault: &Fault) -> impl Iterator<Item = &SourcePosition> {
    fault.source.iter().chain(fault.related.iter().flat_map(|related| &related.source))
}

/// The first template argument of a function, as a demangled name has it: 256 of `float reduce_row<256, Max>(float, Max)`.
fn argument(name: &str, function: &str) -> Option<u64> {
    let (before, after) = name.split_once(function)?;
    let whole = before.chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '_');
    let arguments = after.strip_prefix('<').filter(|_| whole)?;
    arguments.split([',', '>']).next()?.trim().parse().ok()
}

/// A block past the last row reads or writes where that row would be. Blocks of a cluster may share a row: then it is the kernel that
/// takes one for each.
pub(super) fn too_many(seen: &Seen<'_>) -> Option<Cause> {
    let (rows, columns) = by_row(seen).filter(|_| !seen.source.text.contains("__cluster_dims__"))?;
    let blocks = of_the_grid(seen.launch()?);
    let fault = seen.faults().find(|fault| matches!(fault.kind, Kind::Memory(Memory::OutOfBounds { .. })))?;
    let (block, buffer) = (u64::from(fault.block?[0]), fault.buffer.as_ref()?);
    let row = u64::try_from(buffer.offset).ok()? / u64::from(buffer.bytes).max(1) / columns.max(1);
    (blocks > rows && block >= rows && row == block).then_some(Cause::TooManyBlocks { blocks, rows, block })
}

/// What was not written is what lies past the last thread, of threads that write one element each; or past the last block, of
/// blocks that have a row each.
pub(super) fn too_few(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let wrong =
        failure.mismatch.as_ref().filter(|wrong| wrong.unwritten && wrong.index + wrong.count == wrong.total)?;
    let (blocks, threads) = (of_the_grid(launch), of_a_block(launch));
    if let Some((rows, columns)) = by_row(seen) {
        let first = if wrong.total == rows { wrong.index } else { wrong.index / columns.max(1) };
        let whole = wrong.total == rows || wrong.index.is_multiple_of(columns.max(1));
        let found = whole && first == blocks && blocks < rows;
        return found.then_some(Cause::TooFewBlocks { blocks, threads, rows, each: 1 });
    }
    by_element(seen)?;
    let stored = launch.counters.global_store;
    let size = seen.exercise.outputs.iter().map(|output| output.dtype.bytes() as u64).sum::<u64>();
    let all = blocks.saturating_mul(threads);
    let each = wrong.index.checked_div(all).filter(|each| (1..=MOST_EACH).contains(each))?;
    // Each thread has stored its elements, and in each warp threads have stored together: none did another's.
    let as_many = stored.bytes == all * each * size && stored.requests >= blocks * threads.div_ceil(WARP);
    // Threads that go on with a stride of the grid stop elsewhere.
    let once = each == 1 || !seen.source.text.contains("gridDim");
    let found = as_many && once && wrong.index == all * each;
    found.then_some(Cause::TooFewThreads { blocks, threads, elements: wrong.total, each })
}

/// What was not written begins where as many elements end as the threads have of the launch, each the same number: then there are too few
/// of them, or they go on too early. What comes behind it may be written, as a tail is by a loop of its own.
pub(super) fn reached(failure: &Failure, seen: &Seen<'_>) -> Option<String> {
    let launch = seen.launch()?;
    let wrong = failure.mismatch.as_ref().filter(|wrong| wrong.unwritten)?;
    let (blocks, threads) = (of_the_grid(launch), of_a_block(launch));
    let all = blocks.saturating_mul(threads);
    let each = wrong.index.checked_div(all).filter(|each| (1..=MOST_EACH).contains(each))?;
    let exact = by_element(seen).is_some() && wrong.index == all * each;
    exact.then(|| say::reached((blocks, threads), wrong.total, each))
}

/// The rows that the blocks have stored, all together, end where the first wrong one begins. It need not be unwritten: an output that is
/// read, too, holds something before.
pub(super) fn too_few_rows(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let (launch, (rows, columns)) = (seen.launch()?, by_row(seen)?);
    let wrong = failure.mismatch.as_ref()?;
    let first = if wrong.total == rows { wrong.index } else { wrong.index / columns.max(1) };
    let (blocks, threads) = (of_the_grid(launch), of_a_block(launch));
    let each = first.checked_div(blocks).filter(|each| *each > 0 && each * blocks == first)?;
    let row = Shape::of(1, columns as usize);
    let bytes = seen.exercise.outputs.iter().map(|output| output.bytes(row) as u64).sum::<u64>();
    let stored = launch.counters.global_store.bytes == first * bytes && launch.counters.global_atomic.bytes == 0;
    // A block that goes on to other rows may end too early by itself.
    let once = each == 1 || (blocks > 1 && !seen.source.text.contains("gridDim"));
    (stored && once).then_some(Cause::TooFewBlocks { blocks, threads, rows, each })
}

/// A kernel did not come to its end whose threads go on with the stride of the grid, and there are so few of them that each has far more
/// to do than a thread gets through.
pub(super) fn too_much_each(seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let endless = |fault: &Fault| matches!(fault.kind, Kind::Sync(Sync::Endless { .. } | Sync::TooMuchWork { .. }));
    let elements = by_element(seen).filter(|_| seen.faults().any(endless) && seen.source.text.contains("gridDim"))?;
    let (blocks, threads) = (of_the_grid(launch), of_a_block(launch));
    let each = elements.div_ceil(blocks.saturating_mul(threads).max(1));
    (each > FAR_TOO_MANY).then_some(Cause::TooMuchEach { blocks, threads, elements, each })
}

/// What a block has, beside an array of its shared memory that something went wrong with.
pub(super) fn beside_shared(seen: &Seen<'_>) -> Option<String> {
    let threads = of_a_block(seen.launch()?);
    let fault = seen.faults().next()?;
    let buffer = fault.buffer.as_ref()?;
    let of_shared = matches!(
        fault.kind,
        Kind::Init(Init::Used { what: Undefined::Shared, .. })
            | Kind::Memory(Memory::OutsideShared { .. } | Memory::OutsideArray { .. })
    );
    let array = buffer.name.identifier().map(|name| (name, buffer.size / u64::from(buffer.bytes).max(1)));
    of_shared.then(|| say::beside_shared(threads, threads.div_ceil(WARP), array))
}

/// Blocks that differ in a coordinate only that the kernel's source never names, and do the same; or threads.
pub(super) fn axis(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    let launch = seen.launch()?;
    let raced = || seen.faults().any(|fault| matches!(fault.kind, Kind::Race(_)));
    if !matches!(failure.code, Code::Unwritten | Code::Tail) && !raced() {
        return None;
    }
    let of = |of: Axes, sizes: [u32; 3], index: &str| {
        let axes = [(0, 'x'), (1, 'y'), (2, 'z')];
        let asks = |axis| asks(&seen.source.text, index, axis);
        let others = |&(at, axis): &(usize, char)| sizes[at] == 1 && asks(axis);
        let instead = axes.into_iter().find(others).map(|(_, axis)| axis);
        // Along the first one there are always some; that it is not asked for tells where another one is in its place.
        let unused = |&(at, axis): &(usize, char)| sizes[at] > 1 && !asks(axis) && (at > 0 || instead.is_some());
        let (at, axis) = axes.into_iter().find(unused)?;
        Some(Cause::Axis { of, sizes, axis, instead: instead.filter(|_| at == 0) })
    };
    of(Axes::Grid, launch.grid, "blockIdx").or_else(|| of(Axes::Block, launch.block, "threadIdx"))
}

/// Whether a source may ask for a coordinate: it names it, or hands all of them on.
fn asks(source: &str, index: &str, axis: char) -> bool {
    let ranks = ["cooperative_groups", "asm"].into_iter().any(|other| source.contains(other));
    let mut after = source.match_indices(index).map(|(at, _)| &source[at + index.len()..]);
    ranks || after.any(|after| after.strip_prefix('.').is_none_or(|after| after.starts_with(axis)))
}

/// What a block has beside whole warps, where its threads add up a row: what counts on whole ones leaves some out.
pub(super) fn part_of_a_warp(failure: &Failure, seen: &Seen<'_>) -> Option<String> {
    by_row(seen).filter(|_| failure.code == Code::Values)?;
    let threads = of_a_block(seen.launch()?);
    (!threads.is_multiple_of(WARP)).then(|| say::part_of_a_warp(threads, WARP, seen))
}

/// The launch along both axes, where the problem has two and elements are missing or accesses go wrong.
pub(super) fn of_tiles(failure: &Failure, seen: &Seen<'_>) -> Option<String> {
    let told = matches!(failure.code, Code::Unwritten | Code::Fault);
    let matrix = matches!(seen.exercise.shapes, Shapes::Matrix { .. } | Shapes::Product { .. });
    let launch = seen.launch().filter(|_| told && matrix)?;
    Some(say::of_tiles(launch.grid, launch.block, seen.shape()))
}

/// Whether shuffles or votes miss lanes that the launch never started: a block ends within a warp.
pub(super) fn parts_of_warps(failure: &Failure, seen: &Seen<'_>) -> bool {
    failure.fault.as_deref() == Some(fusion_machine::report::Code::SyncMask.as_str())
        && seen.launch().is_some_and(|launch| !of_a_block(launch).is_multiple_of(WARP))
}

/// What was not written belongs to blocks that write where the first one writes.
pub(super) fn same_elements(failure: &Failure, seen: &Seen<'_>) -> Option<Cause> {
    if !matches!(failure.code, Code::Unwritten | Code::Tail | Code::Fault) {
        return None;
    }
    let found = seen.faults().chain(&seen.report.advice);
    found.into_iter().find_map(|fault| {
        let Kind::Race(race) = &fault.kind else { return None };
        let other = fault.related.first()?;
        let same = race.shares_an_index() && fault.thread == other.thread;
        let at = race.one.buffer.as_ref().filter(|_| same)?;
        // Of several outputs, another one than what is missing is another matter.
        let missing = failure.mismatch.as_ref().map(|mismatch| mismatch.output.as_str());
        if failure.code != Code::Fault && missing.is_some_and(|missing| at.name.identifier() != Some(missing)) {
            return None;
        }
        let named = seen.exercise.outputs.iter().any(|output| Some(output.name) == at.name.identifier());
        let element =
            || Some(format!("{}[{}]", at.name.identifier()?, at.offset / i64::try_from(race.one.bytes).ok()?));
        let [one, other] = [fault.block?, other.block?].map(|block| u64::from(block[0]));
        named.then(|| Cause::SameElements { one: one.min(other), other: one.max(other), element: element() })
    })
}

/// Rows and columns of what is worked on by row.
fn by_row(seen: &Seen<'_>) -> Option<(u64, u64)> {
    let shape = seen.shape();
    matches!(seen.exercise.shapes, Shapes::Rows { .. }).then_some((shape.rows as u64, shape.columns as u64))
}

/// The elements of what is worked on by element.
fn by_element(seen: &Seen<'_>) -> Option<u64> {
    matches!(seen.exercise.shapes, Shapes::Elementwise).then(|| seen.shape().elements() as u64)
}

fn of_a_block(launch: &LaunchReport) -> u64 {
    launch.block.into_iter().map(u64::from).product()
}

fn of_the_grid(launch: &LaunchReport) -> u64 {
    launch.grid.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_that_is_never_asked_for_is_told() {
        assert!(asks("int i = threadIdx.x + 16 * threadIdx.y;", "threadIdx", 'y'));
        assert!(asks("dim3 at = threadIdx;", "threadIdx", 'y'));
        assert!(!asks("int i = blockIdx.y * blockDim.x + threadIdx.x;", "threadIdx", 'y'));
        assert!(asks("namespace cg = cooperative_groups;", "threadIdx", 'y'));
    }

    #[test]
    fn template_arguments_are_read_from_names() {
        assert_eq!(argument("float reduce_row<256, Max>(float, float (&) [WARPS], Max)", "reduce_row"), Some(256));
        assert_eq!(argument("reduce_row<32>", "reduce_row"), Some(32));
        for name in ["my_reduce_row<256>", "reduce_row(float)", "reduce_rows<256>", "reduce_row<Max>"] {
            assert_eq!(argument(name, "reduce_row"), None, "{name}");
        }
    }
}
