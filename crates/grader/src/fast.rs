//! Is it as much faster than the unfused chain as the bytes say?
//!
//! On a GPU this is measured ([`measure`]); on the emulated device its clock predicts it ([`predict`]), and says how far off it may be.

mod alone;
mod band;
mod bench;
mod ceiling;
mod clocks;
mod doubles;
mod helpers;
mod measure;
mod pairs;
mod predict;
mod slowed;
mod sweep;

use doubles::Doubles;
pub(crate) use measure::Plan;
pub(crate) use sweep::Sweep;

use fusion_course::{DType, Exercise, Shape};
use serde::{Deserialize, Serialize};

use crate::judgement::{Basis, Clocks, Code, Evidence, Failure, Figures, Interval, Location, Part, Timing, Witness};
use crate::trial::Trial;
use crate::trouble::Trouble;

/// The times of one shape, and what they are judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fast {
    pub device: String,
    /// The CUDA version of the driver: `13.0`.
    pub driver: String,
    pub shape: String,
    /// The speedup over the unfused chain that passes, and that of the bytes.
    pub bar: f64,
    pub ideal: f64,
    /// The submission's time beside the chain's; none where no launch was steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Compulsory bytes over the submission's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gb_per_s: Option<f64>,
    /// Where arithmetic decides, as in a product of matrices: its operations over the submission's time, in 10^12 per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tflop_per_s: Option<f64>,
    /// What a plain kernel with the same mix of reads and writes reaches on this device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_gb_per_s: Option<f64>,
    /// `gb_per_s` over `ceiling_gb_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Whether the L2 was flushed before each launch.
    pub cold: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_clock_mhz: Option<Clocks>,
    /// The unfused chain against itself: 1.00 on a quiet machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<Interval>,
    /// The same beside a kernel that is already fused, where the exercise names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Contest>,
    /// Who multiplied matrices, where the exercise leaves that to a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<String>,
    /// What the submission computes in f64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubles: Option<Doubles>,
    /// What bounds the submission, by the clock that predicts its time, and what would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
}

/// The submission beside one fused kernel of the course.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// `the scalar fused kernel`.
    pub name: String,
    /// The speedup over it that passes.
    pub bar: f64,
    /// The submission's time beside its; none where it was not measured, and `note` says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Evidence for Fast {
    const NAME: &'static str = "fast";
    const WITNESS: Witness = Witness::Gpu;

    /// Measured on a GPU; on the emulated device predicted.
    fn judge(trial: &Trial<'_>) -> Result<Part<Self>, Trouble> {
        let mut part = Part::worst(at_each_shape(trial, true)?);
        if let (Some(fast), Some(products)) = (&mut part.evidence, trial.session.products(trial.exercise())) {
            if let Some(failure) = part.failure.as_mut().filter(|failure| failure.code == Code::Speed) {
                let note = format!("{products}: a kernel that multiplies by itself must be as fast as that");
                failure.notes.insert(0, note);
            }
            fast.products = Some(products);
        }
        if let Some(fast) = &mut part.evidence {
            let (ptx, source) = (&trial.program.compiled.ptx, &trial.entry.source.path);
            fast.doubles = Doubles::of(ptx, source, &trial.session.info.compute_capability);
            if let (Some(failure), Some(doubles)) = (&mut part.failure, &fast.doubles) {
                failure.location = doubles.line.map(|line| Location::new(source, line, 0, &trial.entry.source.text));
            }
        }
        Ok(part)
    }

    fn cell(&self, part: &Part<Self>) -> Option<String> {
        let speedup = |timing: &Timing| timing.figures().speedup;
        let Figures { basis, speedup: Some(ratio), .. } = self.timing.as_ref()?.figures() else { return None };
        let mut text = format!("{ratio:.2}x {basis}, bar {:.2}x", self.bar);
        if let Some(rate) = self.tflop_per_s {
            text += &format!(", {rate:.0} TFLOP/s");
        } else if let (Basis::Measured, Some(share)) = (basis, self.share) {
            text += &format!(", {:.0}% of ceiling", 100.0 * share);
        }
        match &self.rival {
            Some(Contest { name, timing: Some(timing), bar, .. }) => {
                text += &format!("; {:.2}x {name}, bar {bar:.2}x", speedup(timing).unwrap_or_default());
            }
            Some(Contest { name, .. }) => text += &format!("; {name}: judged on a GPU only"),
            None => {}
        }
        let others = part.shapes.iter().filter_map(|shape| speedup(shape.evidence.as_ref()?.timing.as_ref()?));
        let others: Vec<String> = others.map(|ratio| format!("{ratio:.2}x")).collect();
        if !others.is_empty() {
            text += &format!("; other shapes {}", others.join(", "));
        }
        Some(text)
    }

    /// The least of what was reached over its bar: the less, the nearer to failing.
    fn margin(&self) -> f64 {
        let over = |timing: &Option<Timing>, bar: f64| Some(timing.as_ref()?.least_speedup()? / bar);
        let rival = self.rival.as_ref().and_then(|rival| over(&rival.timing, rival.bar));
        over(&self.timing, self.bar).into_iter().chain(rival).fold(f64::INFINITY, f64::min)
    }

    fn remarks(&self) -> Vec<String> {
        self.products.clone().into_iter().chain(self.doubles.as_ref().map(Doubles::say)).collect()
    }

    fn bound(&self) -> Option<String> {
        self.bound.clone()
    }
}

/// The judgement at each large shape; `explained` where a failure is to say what slows the submission down, which takes counting.
pub(crate) fn at_each_shape(trial: &Trial<'_>, explained: bool) -> Result<Vec<Part<Fast>>, Trouble> {
    match trial.session.judges_as_gpu() {
        true => measure::measure(trial),
        false => predict::predict(trial, explained),
    }
}

/// The ratio that passes: a fraction of the ideal byte ratio, so that it transfers between GPUs. Where that is less than 1, as at a
/// shape whose bytes are mostly a matrix of weights, it is 1: what is slower than the chain has not paid.
pub(crate) fn bar(exercise: &Exercise, shape: Shape) -> f64 {
    exercise.speedup.unwrap_or_else(|| exercise.bar * exercise.ideal_speedup(shape)).max(1.0)
}

/// The rate of operations, where arithmetic decides.
fn tflop_per_s(exercise: &Exercise, shape: Shape, timing: &Timing) -> Option<f64> {
    let flops = exercise.is_arithmetic().then(|| (exercise.flops)(shape))?;
    timing.gb_per_s(flops as u64).map(|rate| rate / 1e3)
}

/// The failure of a submission that misses the bar.
fn too_slow(exercise: &Exercise, fast: &Fast, timing: &Timing) -> Failure {
    let Figures { basis, speedup, .. } = timing.figures();
    let (ratio, bar) = (speedup.unwrap_or_default(), fast.bar);
    let title = format!("{ratio:.2}x the speed of the unfused chain ({basis}), and {bar:.2}x is asked for");
    let ideal = fast.ideal;
    let failure = Failure::new(Code::Speed, title);
    // Tensor cores take no f32.
    let single = exercise.inputs.iter().all(|input| input.dtype == DType::F32);
    let mut failure = match fast.tflop_per_s {
        Some(rate) if single => failure.note(format!(
            "that is {rate:.0} TFLOP/s: what keeps the multiply-adds from doing more? Their operands come from shared memory: let each \
             that is read serve several of them"
        )),
        Some(rate) => failure.note(format!(
            "that is {rate:.0} TFLOP/s: what keeps the tensor cores from doing more? They need fragments in time, and those come from \
             shared memory, and its tiles from global memory"
        )),
        None => failure
            .note(format!("the bytes allow {ideal:.2}x: what keeps the kernel from moving them as fast?")),
    };
    if let Some(share) = fast.share {
        failure
            .notes
            .push(format!("it reaches {:.0}% of what a plain copy of the same bytes reaches here", 100.0 * share));
    }
    failure
}

/// What to look at on a GPU, where nothing was counted: what costs most comes first.
const IN_ORDER: &str = "in this order: read every element once and keep it in a register; let neighbouring threads touch \
                        neighbouring elements; let each thread load and store 16 bytes";

/// The failure of a submission that does not beat the kernel which is named as the one to beat.
fn beaten(exercise: &Exercise, contest: &Contest, timing: &Timing) -> Failure {
    let Figures { basis, speedup, .. } = timing.figures();
    let Contest { name, bar, .. } = contest;
    let ratio = speedup.unwrap_or_default();
    let failure =
        Failure::new(Code::Speed, format!("{ratio:.2}x the speed of {name} ({basis}), and {bar:.2}x is asked for"));
    if exercise.is_product() {
        return failure
            .note(format!(
                "{name} multiplies as much, and does nothing after: between the two lie your product, if it is slower than that one, \
                 and what you do with each sum at the end"
            ))
            .note(
                "let a lane read what belongs to its columns once for all of its rows, access two elements or more at a time, and \
                 spend few instructions on each sum",
            );
    }
    failure
        .note(format!(
            "{name} moves the same bytes: what it does not do is to have enough of them on their way at once"
        ))
        .note("let each thread load 16 bytes with one instruction, and several of those before it uses the first")
}

#[cfg(test)]
mod tests {
    use fusion_course::{day22::add_gelu, day26::ffn_sublayer};

    use super::*;
    use crate::judgement::Band;

    fn reaching(speedup: f64) -> Option<Timing> {
        Some(Timing::predicted(1.0, speedup, &Band::EXACT))
    }

    #[test]
    fn a_rival_that_is_barely_beaten_is_the_least_margin() {
        let rival = Contest { bar: 1.0, timing: reaching(1.01), ..Contest::default() };
        let near = Fast { bar: 1.0, timing: reaching(9.0), rival: Some(rival), ..Fast::default() };
        let far = Fast { bar: 1.0, timing: reaching(1.5), ..Fast::default() };
        let worst = Part::worst(vec![Part::pass().with(far), Part::pass().with(near.clone())]);
        assert_eq!(worst.evidence, Some(near));
    }

    #[test]
    fn other_shapes_and_a_rival_are_told_shortly() {
        let at = |speedup, rival| Fast { bar: 1.42, timing: reaching(speedup), rival, ..Fast::default() };
        let rival = |timing| Some(Contest { name: "the scalar kernel".to_owned(), bar: 1.1, timing, note: None });
        let shapes = [1.7, 1.81].map(|speedup| Part::pass().with(at(speedup, None))).into();
        let part = Part { shapes, ..Part::pass().with(at(1.64, rival(reaching(1.2)))) };
        let told = "1.64x predicted, bar 1.42x; 1.20x the scalar kernel, bar 1.10x; other shapes 1.70x, 1.81x";
        assert_eq!(part.view().cell, told);
        let unmeasured = Part::pass().with(at(1.64, rival(None)));
        assert_eq!(unmeasured.view().cell, "1.64x predicted, bar 1.42x; the scalar kernel: judged on a GPU only");
    }

    #[test]
    fn nothing_slower_than_the_chain_passes() {
        let shape = Shape::flat(1 << 20);
        assert_eq!(bar(&add_gelu::EXERCISE, shape), 0.85 * add_gelu::EXERCISE.ideal_speedup(shape));
        assert_eq!(bar(&ffn_sublayer::EXERCISE, Shape::of(64, 1024)), 1.0);
    }
}
