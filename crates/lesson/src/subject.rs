//! What a lesson demonstrates.

use fusion_course::{Exercise, Shape, Step};

/// An operation of the course with the lesson's own fused kernels.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub exercise: &'static Exercise,
    /// Row lengths for operations on rows: with one, the sweep is over the numbers of elements; with several, over the
    /// row lengths at the largest of these. None for elementwise operations.
    pub columns: &'static [usize],
    /// From plain to fast. Each kernel is described as if it were a step of a chain: its name in the lesson's
    /// source, the inputs and outputs by name, the scalars. The sizes come last. None where the exercise's ladder is shown.
    fused: &'static [(&'static str, Step)],
}

impl Subject {
    /// An elementwise operation.
    pub const fn flat(exercise: &'static Exercise, fused: &'static [(&'static str, Step)]) -> Self {
        Self { exercise, columns: &[], fused }
    }

    /// An operation on rows of these lengths.
    pub const fn rows(
        exercise: &'static Exercise,
        columns: &'static [usize],
        fused: &'static [(&'static str, Step)],
    ) -> Self {
        Self { exercise, columns, fused }
    }

    /// An operation on rows of these lengths, with the kernels of its exercise's ladder.
    pub const fn ladder(exercise: &'static Exercise, columns: &'static [usize]) -> Self {
        Self { exercise, columns, fused: &[] }
    }

    /// The fused kernels at a shape with what they are called, from plain to fast.
    pub(crate) fn kernels(&self, shape: Shape) -> Vec<(&'static str, Step)> {
        match self.fused {
            [] => self.exercise.rungs(shape).into_iter().map(|(_, rung)| (rung.name, rung.step)).collect(),
            own => own.to_vec(),
        }
    }

    /// The shapes of a sweep over numbers of elements, which ascend.
    pub(crate) fn shapes(&self, sizes: &[usize]) -> Vec<Shape> {
        let rows = |elements: usize, columns: usize| Shape::of((elements / columns.max(1)).max(1), columns);
        match self.columns {
            [] => sizes.iter().copied().map(Shape::flat).collect(),
            [columns] => {
                let mut shapes: Vec<Shape> = sizes.iter().map(|&elements| rows(elements, *columns)).collect();
                shapes.dedup();
                shapes
            }
            several => {
                let elements = sizes.last().copied().unwrap_or(1);
                // A row is no longer than what was asked for, if any is so short.
                let shortest = several.iter().copied().min().unwrap_or(1);
                let fit = several.iter().copied().filter(|&columns| columns <= elements.max(shortest));
                fit.map(|columns| rows(elements, columns)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_no_longer_than_what_was_asked_for() {
        let subject = Subject::ladder(&fusion_course::day23::softmax::EXERCISE, &[1024, 4096, 16384]);
        let lengths = |elements| subject.shapes(&[1, elements]).iter().map(|shape| shape.columns).collect::<Vec<_>>();
        assert_eq!(lengths(1 << 20), [1024, 4096, 16384]);
        assert_eq!(lengths(5000), [1024, 4096]);
        assert_eq!(lengths(1), [1024]);
    }
}
