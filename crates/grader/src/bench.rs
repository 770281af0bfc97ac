//! What `cargo xtask bench` finds out: times, speeds and errors of every variant of one exercise at one size.
//!
//! Times are in nanoseconds, sizes in bytes, speeds in GB/s (10^9 bytes a second).

mod accuracy;
mod sizes;

pub use accuracy::{Accuracy, Percentiles};
pub use sizes::{At, shapes};

pub use crate::rig::cases;

use serde::{Deserialize, Serialize};

use crate::judgement::Timing;

/// One exercise at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    pub exercise: String,
    /// `N = 1000000`, `2048 x 768`.
    pub shape: String,
    pub rows: usize,
    pub columns: usize,
    /// Terms of each sum of a product of matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<usize>,
    /// Heads of the queries and of the keys of a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads: Option<[usize; 2]>,
    /// Experts of a mixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<usize>,
    /// As [`fusion_course::Shape::pages`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// Bytes that any kernel must move: the inputs once and the outputs once.
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Their sum; where one kernel does not pay, what the exercise's plan moves.
    pub needed_bytes: u64,
    /// Bytes that the unfused chain must move.
    pub unfused_bytes: u64,
    /// The chain's launches, in order.
    pub steps: Vec<StepBytes>,
    /// The launches that [`Size::needed_bytes`] are of: one, or those of the exercise's plan.
    #[serde(default)]
    pub fused: Vec<StepBytes>,
    /// Operations of the definition, see [`fusion_course::Exercise::flops`]; none where they are not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// What this device reaches. The model's bandwidth on the emulated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceilings: Option<Ceilings>,
    /// Who multiplied matrices, where the exercise leaves that to a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<String>,
    pub variants: Vec<Variant>,
    /// Kernels of the course that could not be run at this size, and why; and what is wrong with the times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Bytes of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepBytes {
    pub kernel: String,
    pub read: u64,
    pub written: u64,
}

/// The limits that speeds are shares of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// The best of kernels that only move bytes, in the exercise's mix of reads and writes, and of the driver's copy.
    pub mix_gb_per_s: f64,
    /// The driver's copy within the device, counting bytes read and written.
    pub copy_gb_per_s: f64,
    /// FP32 multiply-adds, two operations each, at the clock that the driver reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_gflop_per_s: Option<f64>,
}

/// What is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The chain of unfused kernels, which all others are compared with.
    #[default]
    Unfused,
    /// The answer in the worker's crate: yours, or the solution.
    Submission,
    /// The fused kernel that the exercise names as one to beat.
    Rival,
    /// A kernel of the exercise's ladder.
    Rung,
}

/// One variant at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub role: Role,
    /// `unfused`, `submission`, or the rival's or the rung's name.
    pub name: String,
    /// Its time with a cold L2, beside the chain's in the same pairs of launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// What the emulated device counted: DRAM bytes, and instructions times active threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_instructions: Option<u64>,
    /// What bounds it, by the clock that predicts its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// How far each output is from the reference in f64.
    pub accuracy: Vec<Accuracy>,
}

impl Size {
    pub fn elements(&self) -> u64 {
        self.rows as u64 * self.columns as u64
    }

    /// Compulsory bytes over a variant's time, in GB/s: what its reader gets, whatever it moves beside them.
    pub fn gb_per_s(&self, variant: &Variant) -> Option<f64> {
        variant.timing.as_ref()?.gb_per_s(self.needed_bytes)
    }

    /// [`Size::gb_per_s`] over the ceiling of the mix.
    pub fn share(&self, variant: &Variant) -> Option<f64> {
        let ceiling = self.ceilings.map(|ceilings| ceilings.mix_gb_per_s).filter(|&ceiling| ceiling > 0.0)?;
        Some(self.gb_per_s(variant)? / ceiling)
    }

    /// Operations for each byte that the variant must move: fewer for the chain, which moves more.
    pub fn intensity(&self, variant: &Variant) -> Option<f64> {
        let bytes = match variant.role {
            Role::Unfused => self.unfused_bytes,
            Role::Submission | Role::Rival | Role::Rung => self.needed_bytes,
        };
        Some(self.flops? / bytes.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_times_and_bytes() {
        let size = Size {
            needed_bytes: 12_000,
            unfused_bytes: 20_000,
            flops: Some(10_000.0),
            ceilings: Some(Ceilings { mix_gb_per_s: 16.0, ..Ceilings::default() }),
            ..Size::default()
        };
        let fused = Variant {
            role: Role::Submission,
            timing: Some(Timing::predicted(1000.0, 1500.0, &crate::judgement::Band::EXACT)),
            ..Variant::default()
        };
        assert_eq!((size.gb_per_s(&fused), size.share(&fused)), (Some(12.0), Some(0.75)));
        assert_eq!(size.intensity(&Variant::default()), Some(0.5));
        assert!(size.intensity(&fused) > size.intensity(&Variant::default()));
        assert_eq!(size.gb_per_s(&Variant::default()), None);
    }
}
