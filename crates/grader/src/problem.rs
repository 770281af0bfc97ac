//! The problems that submissions are given: device buffers for a case, and what may be said about the outputs.

mod pattern;

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Case, Data, DeviceBuffer, Exercise, Extent, Param, Reference, Shape, Shapes};

use fusion_diagnostic::counted;
use fusion_machine::LaunchReport;
use fusion_machine::report::Traffic;

use crate::judgement::{Code, Failure, Mismatch};
use pattern::Pattern;

/// The smallest shape whose last block is partly filled while others are full: there, a mistake in the tail can be
/// told from one everywhere.
pub(crate) fn telling(exercise: &Exercise, seed: u64) -> Option<Shape> {
    let has_tail = |shape: &Shape| shape.elements() > 2048 && !shape.elements().is_multiple_of(4);
    exercise.problems(seed).into_iter().filter(has_tail).min_by_key(|shape| shape.elements())
}

/// The shape at which views are moved to where no vector access can begin: the smallest one with rows that would suit
/// such accesses if the views were not moved; without rows the [`telling`] one. Where a kernel goes over tiles, one round of that
/// would leave most of it unused: there are more terms than a usual tile has.
pub(crate) fn to_move(exercise: &Exercise, seed: u64) -> Option<Shape> {
    let tile = match exercise.shapes {
        Shapes::Attention { .. } | Shapes::Paged { .. } => Some(64),
        Shapes::Product { .. } | Shapes::Routing { .. } => Some(32),
        _ => None,
    };
    let suits = |shape: &Shape| {
        let whole = shape.rows > 1 && shape.columns >= 64 && shape.columns.is_multiple_of(4);
        whole && tile.is_none_or(|tile| shape.terms() > tile)
    };
    let suitable = exercise.problems(seed).into_iter().filter(suits).min_by_key(|shape| shape.elements());
    suitable.or_else(|| telling(exercise, seed))
}

/// What an output is checked against, and how to talk about it.
#[derive(Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) exercise: &'static Exercise,
    pub(crate) shape: Shape,
    pub(crate) references: &'a [Reference],
    /// What outputs that are updated held before, see [`Case::initial`].
    pub(crate) before: &'a [Option<Data>],
    /// Of the launch, where they are known.
    pub(crate) threads: Option<Threads>,
}

/// Lanes of a warp.
const WARP: u64 = 32;

/// The threads of a launch, and how often their warps have stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threads {
    blocks: u64,
    of_a_block: u64,
    /// What warps have stored in global memory.
    stores: Traffic,
}

impl Threads {
    pub(crate) fn of(launch: &LaunchReport) -> Self {
        Self::new(launch.grid, launch.block, launch.counters.global_store)
    }

    fn new(grid: [u32; 3], block: [u32; 3], stores: Traffic) -> Self {
        let count = |sizes: [u32; 3]| sizes.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        Self { blocks: count(grid), of_a_block: count(block).max(1), stores }
    }

    /// Whether each thread may have one of so many elements: there are just enough blocks for that, and no warp stores more
    /// often than once for each output.
    fn have_one_each(self, elements: u64, outputs: u64) -> bool {
        let (full, rest) = (elements / self.of_a_block, elements % self.of_a_block);
        let warps = full * self.of_a_block.div_ceil(WARP) + rest.div_ceil(WARP);
        self.blocks == elements.div_ceil(self.of_a_block) && (1..=warps * outputs).contains(&self.stores.requests)
    }

    /// Whether a lane stores more bytes at once than an element has: so many lanes cannot have stored as much otherwise.
    fn stores_several(self, size: u64) -> bool {
        self.stores.bytes > self.stores.requests * WARP * size
    }

    /// What fixes a tail that begins at an element, of elements of so many bytes.
    fn fix(self, tail_start: u64, size: u64) -> &'static str {
        if self.stores_several(size) {
            return "threads store several elements at once: do those that are left after the last whole pack one by one";
        }
        match self.blocks.saturating_mul(self.of_a_block).cmp(&tail_start) {
            std::cmp::Ordering::Less => {
                "a thread takes several elements: where it takes them at once, do those that are left after the last whole \
                 pack one by one"
            }
            std::cmp::Ordering::Equal => "there are no threads for the tail: round the number of blocks up",
            std::cmp::Ordering::Greater => {
                "there are threads for the tail: compare the index with the size, not with less"
            }
        }
    }
}

impl Expected<'_> {
    /// Checks one output, of which it may be known that all of it is written.
    pub(crate) fn check(&self, output: usize, actual: &Data, written: bool) -> Result<(), Box<Failure>> {
        self.references.get(output).map_or(Ok(()), |reference| self.check_as(output, actual, reference, written))
    }

    /// Checks a part of an output with the part of the reference that it must be.
    pub(crate) fn check_part(&self, output: usize, actual: &Data, reference: &Reference) -> Result<(), Box<Failure>> {
        self.check_as(output, actual, reference, false)
    }

    fn check_as(&self, output: usize, actual: &Data, reference: &Reference, written: bool) -> Result<(), Box<Failure>> {
        let Some(param) = self.exercise.outputs.get(output) else { return Ok(()) };
        let tolerance = self.exercise.tolerances.get(output).copied().unwrap_or(fusion_course::Tolerance::EXACT);
        let before = self.before.get(output).and_then(Option::as_ref);
        reference.check(actual, tolerance).map_err(|mut wrong| {
            if written {
                wrong.unwritten = 0;
            }
            let pattern = Pattern { reference, actual, tolerance, before };
            Box::new(self.failure(param, &pattern, &wrong))
        })
    }

    fn failure(&self, param: &Param, pattern: &Pattern<'_>, wrong: &fusion_course::Mismatch) -> Failure {
        let Pattern { reference, actual, .. } = *pattern;
        let (index, len) = (wrong.index as u64, wrong.len as u64);
        let by_row = matches!(self.exercise.shapes, Shapes::Rows { .. });
        let widest = self.exercise.outputs.iter().map(|output| output.dtype.bytes() as u64).max().unwrap_or(1);
        let tail = self.threads.map_or(4, |threads| threads.of_a_block);
        let tail_start = len - len % tail;
        // Every wrong element lies at or after the first one. Blocks that work on rows leave no tail of elements.
        let in_tail = matches!(self.exercise.shapes, Shapes::Elementwise)
            && index >= tail_start
            && 0 < tail_start
            && tail_start < len;
        let code = match (in_tail, wrong.is_unwritten()) {
            (true, _) => Code::Tail,
            (false, true) => Code::Unwritten,
            (false, false) => Code::Values,
        };
        let name = format!("{}[{index}]", param.name);
        let title = if wrong.is_unwritten() {
            format!("`{name}` was never written")
        } else if pattern.is_kept(wrong.index) {
            format!("`{name}` still has its old value, {}, expected {}", number(wrong.actual), either(wrong.expected))
        } else {
            format!("`{name}` is {}, expected {}", number(wrong.actual), either(wrong.expected))
        };
        let worst = reference.expected(wrong.worst_index);
        let worst_actual = actual.get(wrong.worst_index).unwrap_or(f64::NAN);
        let mut failure = Failure::new(code, title).at(self.exercise.shapes.describe(self.shape));
        if wrong.count == wrong.len {
            // Of a single element the title has said it.
            let all = match wrong.is_unwritten() {
                true => format!("none of its {len} elements was written"),
                false => format!("all of its {len} elements are wrong"),
            };
            failure.notes.extend((len > 1).then_some(all));
        } else {
            let what = if wrong.is_unwritten() { "not written" } else { "wrong" };
            let are = if wrong.count == 1 { "is" } else { "are" };
            failure.notes.push(format!("{} of its {len} elements {are} {what}", wrong.count));
        }
        if !wrong.is_unwritten() && wrong.worst_index != wrong.index {
            failure.notes.push(format!(
                "the worst is `{}[{}]`: {}, expected {}",
                param.name,
                wrong.worst_index,
                number(worst_actual),
                either(worst)
            ));
        }
        failure.notes.extend(pattern.tell(wrong));
        if matches!(self.exercise.shapes, Shapes::Elementwise) {
            failure.notes.extend(pattern.component(wrong));
        }
        if in_tail {
            failure.notes.push(match self.threads {
                Some(threads) => format!(
                    "only the tail: elements from {tail_start} on, past the last full block of {}{}",
                    threads.of_a_block,
                    match wrong.is_unwritten() {
                        true => "",
                        false => "; they are written: are they computed as those before them?",
                    }
                ),
                None => format!("only the tail: elements from {tail_start} on"),
            });
            let threads = self.threads.filter(|_| wrong.is_unwritten());
            failure.help.extend(threads.map(|threads| threads.fix(tail_start, widest).to_owned()));
        }
        let by_element = matches!(self.exercise.shapes, Shapes::Elementwise);
        // As the output has them; of one with an element a row, that is the row.
        let columns = match param.extent {
            Extent::Transposed => self.shape.rows,
            _ => self.shape.columns,
        }
        .max(1) as u64;
        let in_tensors = matches!(self.exercise.shapes, Shapes::Tensors { .. });
        let (row, column) = if in_tensors {
            let tensor = self.shape.tensors().enumerate().find(|(_, tensor)| tensor.contains(&wrong.index));
            tensor.map_or((0, index), |(number, tensor)| (number as u64, index - tensor.start as u64))
        } else if len == self.shape.elements() as u64 {
            (index / columns, index % columns)
        } else {
            (index, 0)
        };
        // Whose it is where the launch is one that gives each block a row, or each thread an element.
        let outputs = self.exercise.outputs.len() as u64;
        let (block, thread) = match self.threads {
            Some(threads) if by_row && threads.stores.requests > 0 && threads.blocks == self.shape.rows as u64 => {
                (Some(row), None)
            }
            Some(threads) if by_element && threads.have_one_each(len, outputs) && !threads.stores_several(widest) => {
                (Some(index / threads.of_a_block), Some(index % threads.of_a_block))
            }
            _ => (None, None),
        };
        failure.notes.extend(match (block, thread) {
            (Some(block), Some(thread)) => {
                Some(format!("with one element per thread, thread {thread} of block {block} writes it"))
            }
            (Some(block), None) => Some(format!("with one block per row, block {block} writes it")),
            (None, _) => None,
        });
        let rows = self.shape.rows > 1 && len == self.shape.elements() as u64;
        failure.mismatch = Some(Mismatch {
            output: param.name.to_owned(),
            index,
            row: rows.then_some(row),
            column: rows.then_some(column),
            expected: wrong.expected[0],
            actual: wrong.actual,
            allowed: self.allowed(param, wrong.expected[0]),
            block,
            thread,
            in_tail,
            unwritten: wrong.is_unwritten(),
            count: wrong.count as u64,
            total: len,
            worst_index: wrong.worst_index as u64,
            worst_expected: worst[0],
            worst_actual,
        });
        if self.shape.is_attention() {
            let (row, column) = param.place(self.shape, wrong.index);
            let queries = self.shape.queries().max(1);
            let at = format!("head {}, query {}, element {column} of it", row / queries, row % queries);
            failure.notes.insert(0, at);
        } else if self.shape.heads.is_some() {
            let (token, column) = param.place(self.shape, wrong.index);
            let head = self.shape.head().max(1);
            let whose = if self.shape.pages.is_some() { "sequence" } else { "token" };
            let at = format!("{whose} {token}, head {}, element {} of it", column / head, column % head);
            failure.notes.insert(0, at);
        } else if self.shape.experts.is_some() {
            let (token, column) = param.place(self.shape, wrong.index);
            failure.notes.insert(0, format!("token {token}, element {column} of it"));
        } else if let (true, Some(mismatch)) = (rows, &failure.mismatch) {
            let of = if param.extent == Extent::Transposed { format!(" of `{}`", param.name) } else { String::new() };
            let [row, column] = [mismatch.row, mismatch.column].map(Option::unwrap_or_default);
            let at = match in_tensors {
                true => format!("element {column} of tensor {row}, counted from 0"),
                false => format!("row {row}, column {column}{of}"),
            };
            failure.notes.insert(0, at);
        }
        failure
    }

    fn allowed(&self, param: &Param, expected: f64) -> f64 {
        let output = self.exercise.outputs.iter().position(|output| output == param);
        let tolerance = output.and_then(|output| self.exercise.tolerances.get(output));
        tolerance.map_or(0.0, |tolerance| tolerance.absolute + tolerance.relative * expected.abs())
    }
}

/// What the element was made from, so that it can be checked by hand: `from x[6] = -1.5944883, scale = 0.0236`.
/// Nothing where an element does not come from the elements at its own row and column, or, of an output with one per row, from its row.
pub(crate) fn operands(exercise: &Exercise, case: &Case, index: usize) -> Option<String> {
    let output = exercise.outputs.first()?;
    let of_row = output.extent == Extent::Rows;
    let suits = |extent: Extent| extent == Extent::Elements || of_row && extent == Extent::Rows || extent.is_table();
    if exercise.inputs.iter().any(|param| !suits(param.extent)) {
        return None;
    }
    let index = match of_row {
        true => index,
        false => {
            let (row, column) = output.place(case.shape, index);
            row * case.shape.columns + column
        }
    };
    let elements = exercise.inputs.iter().zip(&case.inputs);
    let elements = elements.filter(|(param, _)| (!of_row || param.extent == Extent::Rows) && !param.extent.is_table());
    let elements = elements.filter_map(|(param, data)| Some((format!("{}[{index}]", param.name), data.get(index)?)));
    let scalars =
        exercise.scalars.iter().zip(&case.scalars).map(|(name, scalar)| ((*name).to_owned(), scalar.to_f64()));
    let all: Vec<String> = elements.chain(scalars).map(|(name, value)| format!("{name} = {}", number(value))).collect();
    let rest = match exercise.shapes {
        Shapes::Elementwise
        | Shapes::Matrix { .. }
        | Shapes::Product { .. }
        | Shapes::Heads { .. }
        | Shapes::Attention { .. }
        | Shapes::Routing { .. }
        | Shapes::Paged { .. }
        | Shapes::Tensors { .. } => "",
        Shapes::Rows { .. } if of_row => ", and its row",
        Shapes::Rows { .. } => ", and the rest of its row",
    };
    (!all.is_empty()).then(|| format!("from {}{rest}", all.join(", ")))
}

/// A number with as many digits as tell f32 values apart.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        magnitude if (1e-4..1e7).contains(&magnitude) => {
            let digits = (8 - magnitude.log10().floor() as i64).clamp(0, 12) as usize;
            let text = format!("{value:.digits$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
        _ if value.is_finite() => format!("{value:.8e}"),
        _ => value.to_string(),
    }
}

pub(crate) fn either([one, other]: [f64; 2]) -> String {
    // Two NaNs are one.
    if one == other || one.is_nan() { number(one) } else { format!("{} or {}", number(one), number(other)) }
}

/// Inputs of a case that no longer hold what they held, as a failure.
pub(crate) fn check_inputs(
    exercise: &Exercise,
    case: &Case,
    inputs: &[DeviceBuffer],
    stream: &Arc<CudaStream>,
) -> Result<Option<Failure>, DriverError> {
    for ((param, before), buffer) in exercise.inputs.iter().zip(&case.inputs).zip(inputs) {
        let after = buffer.read(stream)?;
        if let Some(index) = before.first_other(&after) {
            let (old, new) = (before.get(index).unwrap_or(f64::NAN), after.get(index).unwrap_or(f64::NAN));
            let title = format!("the input `{}` was overwritten", param.name);
            let failure = Failure::new(Code::Inputs, title)
                .note(format!("`{}[{index}]` was {} and is now {}", param.name, number(old), number(new)))
                .note("declare inputs `const` in the kernel: the compiler then finds such a write")
                .note("if they are: does the launch pass the arguments in the order of the kernel's parameters?")
                .at(exercise.shapes.describe(case.shape));
            return Ok(Some(failure));
        }
    }
    Ok(None)
}

/// Red zones that were written to, as a failure.
pub(crate) fn check_margins(
    params: &[Param],
    buffers: &[DeviceBuffer],
    shape: Shape,
    stream: &Arc<CudaStream>,
) -> Result<Option<Failure>, DriverError> {
    for (param, buffer) in params.iter().zip(buffers) {
        if let Some(offset) = buffer.damage(stream)? {
            let element = offset.div_euclid(param.dtype.bytes() as i64);
            let failure = Failure::new(Code::RedZone, format!("memory beside `{}` was written", param.name))
                .note(format!(
                    "at `{}[{element}]`, and it has {}",
                    param.name,
                    counted(param.len(shape) as u64, "element")
                ))
                .note("compare every index with the size before it is used");
            return Ok(Some(failure));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_course::day22;

    fn expected(references: &[Reference], columns: usize, threads: Option<Threads>) -> Expected<'_> {
        Expected { exercise: &day22::add_gelu::EXERCISE, shape: Shape::flat(columns), references, before: &[], threads }
    }

    fn blocks(count: u32, threads: u32) -> Option<Threads> {
        Some(Threads::new([count, 1, 1], [threads, 1, 1], stores(u64::from(count * threads.div_ceil(32)).min(19))))
    }

    /// Requests of whole warps to store a float a lane.
    fn stores(requests: u64) -> Traffic {
        Traffic { requests, sectors: 4 * requests, bytes: 128 * requests }
    }

    fn references(len: usize) -> Vec<Reference> {
        vec![Reference::Close { values: vec![1.0; len], magnitudes: None }]
    }

    #[test]
    fn a_wrong_element_is_named_with_its_thread() {
        let references = references(600);
        let mut values = vec![1.0_f32; 600];
        values[300] = 1.5;
        values[301] = f32::NAN;
        let failure = expected(&references, 600, blocks(3, 256)).check(0, &Data::F32(values), false).unwrap_err();
        assert_eq!((failure.code, failure.title.as_str()), (Code::Values, "`out[300]` is 1.5, expected 1"));
        let mismatch = failure.mismatch.unwrap();
        assert_eq!((mismatch.block, mismatch.thread, mismatch.in_tail, mismatch.count), (Some(1), Some(44), false, 2));
        assert_eq!((mismatch.worst_index, mismatch.worst_actual.is_nan()), (301, true));
    }

    #[test]
    fn tails_are_recognised() {
        let references = references(600);
        let mut values = vec![1.0_f32; 600];
        values[512..].fill(f32::from_bits(u32::MAX));
        // Too few blocks; a guard that is too narrow; packs, of which there are no more than a block.
        for (count, fix) in
            [(2, "round the number of blocks up"), (3, "compare the index"), (1, "after the last whole pack")]
        {
            let values = Data::F32(values.clone());
            let failure = expected(&references, 600, blocks(count, 256)).check(0, &values, false).unwrap_err();
            assert_eq!((failure.code, failure.title.as_str()), (Code::Tail, "`out[512]` was never written"));
            let notes = failure.notes.join("\n");
            assert!(notes.contains("past the last full block of 256"), "{notes}");
            assert!(failure.help.iter().any(|help| help.contains(fix)), "{failure:?}");
            assert_eq!(notes.contains("with one element per thread"), count == 3, "{notes}");
        }
    }

    #[test]
    fn a_row_has_a_block() {
        let shape = Shape::of(3, 200);
        let references = references(600);
        let exercise = &fusion_course::day23::softmax::EXERCISE;
        let expected = Expected { exercise, shape, references: &references, before: &[], threads: blocks(3, 128) };
        let mut values = vec![1.0_f32; 600];
        values[550] = 1.5;
        let failure = expected.check(0, &Data::F32(values), false).unwrap_err();
        assert_eq!(failure.shape.as_deref(), Some("3 x 200"));
        let notes = failure.notes.join("\n");
        assert!(notes.contains("row 2, column 150"), "{notes}");
        assert!(notes.contains("with one block per row, block 2 writes it"), "{notes}");
        let mismatch = failure.mismatch.unwrap();
        assert_eq!((failure.code, mismatch.in_tail, mismatch.block), (Code::Values, false, Some(2)));
    }

    #[test]
    fn an_old_value_is_said_to_be_one() {
        let bf16s = |values: &[f32]| Data::rounded(fusion_course::DType::Bf16, values.to_vec());
        let references = vec![Reference::OneOf(vec![[2.0; 2], [3.0; 2], [4.0; 2]])];
        let before = [Some(bf16s(&[1.0, 1.5, 2.0])), None];
        let expected = Expected {
            exercise: &fusion_course::day24::add_rmsnorm::EXERCISE,
            shape: Shape::of(1, 3),
            references: &references,
            before: &before,
            threads: blocks(1, 32),
        };
        let failure = expected.check(0, &bf16s(&[2.0, 1.5, 2.0]), false).unwrap_err();
        assert_eq!(failure.title, "`residual[1]` still has its old value, 1.5, expected 3");
        assert!(failure.notes.iter().any(|note| note.contains("as they were before the launch")), "{failure:?}");
        let failure = expected.check(0, &bf16s(&[2.0, 1.25, 4.0]), false).unwrap_err();
        assert_eq!(failure.title, "`residual[1]` is 1.25, expected 3");
    }

    #[test]
    fn whose_an_element_is_is_said_of_such_launches_only() {
        let references = references(600);
        let mut values = vec![1.0_f32; 600];
        values[300] = 1.5;
        let tells = |threads: Threads| {
            let values = Data::F32(values.clone());
            let failure = expected(&references, 600, Some(threads)).check(0, &values, false).unwrap_err();
            failure.notes.iter().any(|note| note.contains("per thread"))
        };
        let launch = |blocks, requests| Threads::new([blocks, 1, 1], [256, 1, 1], stores(requests));
        assert!(tells(launch(3, 19)) && tells(launch(3, 12)));
        // Vectors or strides, blocks to spare, and threads that store again and again.
        assert!(!tells(launch(1, 19)) && !tells(launch(4, 19)) && !tells(launch(3, 40)));
    }

    #[test]
    fn nothing_written_is_said_so() {
        let references = references(3);
        let unwritten = Data::F32(vec![f32::from_bits(u32::MAX); 3]);
        let failure = expected(&references, 3, blocks(1, 256)).check(0, &unwritten, false).unwrap_err();
        assert_eq!((failure.code, failure.notes[0].as_str()), (Code::Unwritten, "none of its 3 elements was written"));
    }

    #[test]
    fn numbers_keep_what_tells_them_apart() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.25, "-0.25"),
            (0.100_000_001_490_116, "0.100000001"),
            (1e-7, "1.00000000e-7"),
            (123_456_789.0, "1.23456789e8"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn views_are_moved_where_that_alone_rules_vectors_out() {
        let softmax = &fusion_course::day23::softmax::EXERCISE;
        assert_eq!(to_move(softmax, 1), Some(Shape::of(2, 128)));
        let flat = &day22::add_gelu::EXERCISE;
        assert_eq!(to_move(flat, 1), telling(flat, 1));
    }

    #[test]
    fn the_telling_shape_has_a_tail() {
        let shape = telling(&day22::add_gelu::EXERCISE, 1).unwrap();
        assert!(shape.elements() <= 4099 && !shape.elements().is_multiple_of(4), "{shape}");
    }
}
