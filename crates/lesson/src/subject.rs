//! What a lesson demonstrates.

use fusion_course::{Exercise, Step};

/// An operation of the course with the lesson's own fused kernel.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub exercise: &'static Exercise,
    /// The fused kernel, described as if it were a step of a chain: the kernel in the lesson's
    /// source, the inputs and outputs by name, the scalars. The number of elements comes last.
    pub fused: Step,
}
