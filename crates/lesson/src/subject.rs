//! What a lesson demonstrates.

use fusion_course::{Exercise, Rung, Shape};

use crate::Size;

/// An operation of the course with the lesson's own fused kernels.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub exercise: &'static Exercise,
    /// Row lengths for operations on rows, where a size is a number of elements: with one, the sweep is over these numbers; with
    /// several, over the row lengths at the largest of them. None for elementwise operations.
    pub columns: &'static [usize],
    /// From plain to fast. Each kernel is described as if it were a step of a chain: its name in the lesson's
    /// source, the inputs and outputs by name, the scalars. The sizes come last. None where the exercise's ladder is shown.
    fused: &'static [Rung],
}

impl Subject {
    /// An elementwise operation.
    pub const fn flat(exercise: &'static Exercise, fused: &'static [Rung]) -> Self {
        Self { exercise, columns: &[], fused }
    }

    /// An operation on rows of these lengths.
    pub const fn rows(exercise: &'static Exercise, columns: &'static [usize], fused: &'static [Rung]) -> Self {
        Self { exercise, columns, fused }
    }

    /// An operation on rows of these lengths, with the kernels of its exercise's ladder.
    pub const fn ladder(exercise: &'static Exercise, columns: &'static [usize]) -> Self {
        Self { exercise, columns, fused: &[] }
    }

    /// The fused kernels that can do a shape, from plain to fast.
    pub(crate) fn kernels(&self, shape: Shape) -> Vec<Rung> {
        match self.fused {
            [] => self.exercise.rungs(shape).into_iter().map(|(_, rung)| *rung).collect(),
            own => own.iter().copied().filter(|rung| rung.can_do(shape)).collect(),
        }
    }

    /// The shapes of a sweep over sizes, which ascend. Rows that are asked for are taken as they are.
    pub(crate) fn shapes(&self, sizes: &[Size]) -> Vec<Shape> {
        let mut shapes: Vec<Shape> = match self.columns {
            [] => sizes.iter().map(|size| Shape::flat(size.elements())).collect(),
            [columns] => sizes.iter().map(|size| size.rows_of(*columns)).collect(),
            several => {
                let number = |size: &Size| matches!(size, Size::Elements(_));
                let largest = sizes.iter().copied().rfind(number);
                let elements = largest.map_or(0, |size| size.elements());
                // A row is no longer than what was asked for, if any is so short.
                let shortest = several.iter().copied().min().unwrap_or(1);
                let fit = several.iter().copied().filter(|&columns| columns <= elements.max(shortest));
                let of_number =
                    largest.into_iter().flat_map(|size| fit.clone().map(move |columns| size.rows_of(columns)));
                let given = sizes.iter().filter(|size| !number(size)).map(|size| size.rows_of(0));
                of_number.chain(given).collect()
            }
        };
        shapes.dedup();
        shapes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_no_longer_than_what_was_asked_for() {
        let subject = Subject::ladder(&fusion_course::day23::softmax::EXERCISE, &[1024, 4096, 16384]);
        let shapes = |elements| subject.shapes(&[Size::Elements(1), Size::Elements(elements)]);
        let lengths = |elements| shapes(elements).iter().map(|shape| shape.columns).collect::<Vec<_>>();
        assert_eq!(lengths(1 << 20), [1024, 4096, 16384]);
        assert_eq!(lengths(5000), [1024, 4096]);
        assert_eq!(lengths(1), [1024]);
    }

    #[test]
    fn rows_that_are_asked_for_are_taken_as_they_are() {
        let exercise = &fusion_course::day23::softmax::EXERCISE;
        let sizes = [Size::Elements(5000), Size::Rows { rows: 128, columns: 500 }];
        let asked = Shape::of(128, 500);
        assert_eq!(Subject::flat(exercise, &[]).shapes(&sizes[1..]), [Shape::flat(64_000)]);
        assert_eq!(Subject::rows(exercise, &[4096], &[]).shapes(&sizes), [Shape::of(1, 4096), asked]);
        assert_eq!(Subject::ladder(exercise, &[1024, 4096]).shapes(&sizes[1..]), [asked]);
        let lengths = [Shape::of(4, 1024), Shape::of(1, 4096), asked];
        assert_eq!(Subject::ladder(exercise, &[1024, 4096]).shapes(&sizes), lengths);
    }
}
