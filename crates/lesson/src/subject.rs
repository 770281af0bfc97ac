//! What a lesson demonstrates.

use fusion_course::{Exercise, Step};

/// An operation of the course with the lesson's own fused kernels.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub exercise: &'static Exercise,
    /// From plain to fast. Each kernel is described as if it were a step of a chain: its name in the lesson's
    /// source, the inputs and outputs by name, the scalars. The number of elements comes last.
    pub fused: &'static [(&'static str, Step)],
}
