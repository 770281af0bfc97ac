//! The unfused chain: one kernel a step, as data that the baseline runs and the byte model sums.

use crate::{Exercise, Shape};

/// One launch of the unfused chain.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The kernel in `kernels/`. Its arguments are the buffers read, the buffers written, the
    /// scalars, and then the sizes: `n` for elementwise kernels, `rows` and `columns` for row kernels.
    pub kernel: &'static str,
    pub reads: &'static [&'static str],
    pub writes: &'static [&'static str],
    pub scalars: &'static [ScalarArg],
    /// One block a row instead of one thread for `elements_a_thread` elements.
    pub by_row: bool,
    /// How many elements a thread of an elementwise kernel handles.
    pub elements_a_thread: usize,
}

/// A scalar argument of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarArg {
    Constant(f32),
    /// A scalar of the exercise, by name.
    Named(&'static str),
}

impl Step {
    /// An elementwise step without scalars.
    pub const fn elementwise(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
    ) -> Self {
        Self { kernel, reads, writes, scalars: &[], by_row: false, elements_a_thread: 1 }
    }

    /// A step with one block a row.
    pub const fn by_row(kernel: &'static str, reads: &'static [&'static str], writes: &'static [&'static str]) -> Self {
        Self { kernel, reads, writes, scalars: &[], by_row: true, elements_a_thread: 1 }
    }

    pub const fn with(mut self, scalars: &'static [ScalarArg]) -> Self {
        self.scalars = scalars;
        self
    }

    /// The same for a kernel whose threads handle several elements each.
    pub const fn elements_a_thread(mut self, elements: usize) -> Self {
        self.elements_a_thread = elements;
        self
    }

    /// Bytes that the step must move: each distinct buffer once for each direction.
    pub fn bytes(&self, exercise: &Exercise, shape: Shape) -> u64 {
        let distinct = |names: &[&str]| -> u64 {
            names
                .iter()
                .enumerate()
                .filter(|(i, name)| !names[..*i].contains(name))
                .filter_map(|(_, name)| exercise.param(name))
                .map(|param| param.bytes(shape) as u64)
                .sum()
        };
        distinct(self.reads) + distinct(self.writes)
    }
}
