//! The operations that chapters work through: each of the kind of one exercise or more, and none of them an exercise, so
//! that a chapter can show a whole kernel and leave the exercise to its reader.
//!
//! The lessons run them: a chain of launches, and fused kernels of the lesson's own, checked against a reference in f64.

pub mod add_sigmoid;
pub mod bias_act;
pub mod fake_quantize;
pub mod log_softmax;
pub mod relu_bf16;
pub mod rmsnorm_quant;
