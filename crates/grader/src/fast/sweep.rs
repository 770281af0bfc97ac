//! Every variant of an exercise at one size after the other: timed on a GPU, predicted on the emulated device.

use fusion_course::{Shape, Step};
use fusion_machine::Checks;

use super::bench::Bench;
use super::ceiling;
use super::helpers::Helpers;
use super::measure::Plan;
use super::pairs::Steady;
use crate::bench::{Ceilings, Role, Size, StepBytes, Variant};
use crate::judgement::{Band, Interval, Timing};
use crate::rig::{Rig, Who};
use crate::session::Session;
use crate::statistics;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// Bytes that the kernels of the ceiling move; the copy moves twice as many. Times of more bytes differ no more.
const CEILING_BYTES: u64 = 2 << 30;

/// Multiply-adds of the largest product of matrices that is executed to be counted: 512 x 512 x 512. Larger ones are predicted only, and
/// so is what reads a paged cache of many tokens.
const COUNTED: usize = 1 << 27;

/// Elements of the largest problem of any other kind that is executed to be counted: a second or two for each variant.
const COUNTED_ELEMENTS: usize = 1 << 24;

/// What a sweep needs at all sizes.
pub(crate) struct Sweep<'a> {
    trial: &'a Trial<'a>,
    plan: Plan,
    short: bool,
    ceilings: Option<Ceilings>,
}

impl<'a> Sweep<'a> {
    /// A `short` sweep times the unfused chain and the submission only.
    pub(crate) fn new(trial: &'a Trial<'a>, plan: Plan, short: bool) -> Result<Self, Trouble> {
        if !short && !trial.exercise().ladder.is_empty() {
            trial.ladder()?;
        }
        Ok(Self { trial, plan, short, ceilings: None })
    }

    /// All variants at one size.
    pub(crate) fn size(&mut self, shape: Shape) -> Result<Size, Trouble> {
        let exercise = self.trial.exercise();
        self.fits(shape)?;
        let ceilings = match self.ceilings {
            Some(ceilings) => ceilings,
            None => *self.ceilings.insert(self.measure_ceilings(shape)?),
        };
        let bytes = |step: &Step| StepBytes {
            kernel: step.kernel.to_owned(),
            read: step.read_bytes(exercise, shape),
            written: step.written_bytes(exercise, shape),
        };
        let one = || StepBytes {
            kernel: exercise.name.to_owned(),
            read: exercise.read_bytes(shape),
            written: exercise.written_bytes(shape),
        };
        let mut size = Size {
            exercise: exercise.name.to_owned(),
            shape: shape.to_string(),
            rows: shape.rows,
            columns: shape.columns,
            depth: shape.depth,
            heads: shape.heads,
            experts: shape.experts,
            pages: shape.pages,
            read_bytes: exercise.read_bytes(shape),
            written_bytes: exercise.written_bytes(shape),
            needed_bytes: exercise.minimum_bytes(shape),
            unfused_bytes: exercise.unfused_bytes(shape),
            steps: exercise.unfused.iter().map(bytes).collect(),
            fused: match exercise.plan {
                [] => vec![one()],
                plan => plan.iter().map(bytes).collect(),
            },
            flops: Some((exercise.flops)(shape)).filter(|&flops| flops > 0.0),
            ceilings: Some(ceilings),
            products: None,
            variants: Vec::new(),
            notes: Vec::new(),
        };
        self.trial.tell(format!("preparing {shape}"));
        match self.trial.session.judges_as_gpu() {
            true => self.time(shape, &mut size)?,
            false => self.predict(shape, &mut size)?,
        }
        size.products = self.trial.session.products(exercise);
        Ok(size)
    }

    /// The unfused chain, the submission, the kernel to beat where there is one, the rungs of the ladder and the top of it.
    /// To add a variant, add it here.
    fn variants(&self, shape: Shape) -> Vec<(Who, Variant)> {
        let variant = |role, name: &str| Variant { role, name: name.to_owned(), ..Variant::default() };
        let mut all = vec![
            (Who::Unfused, variant(Role::Unfused, "unfused")),
            (Who::Submission, variant(Role::Submission, "submission")),
        ];
        if self.short {
            return all;
        }
        let exercise = self.trial.exercise();
        all.extend(exercise.rival.map(|rival| (Who::Rival, variant(Role::Rival, rival.name))));
        let rungs = exercise.rungs(shape).into_iter();
        all.extend(rungs.map(|(index, rung)| (Who::Rung(index), variant(Role::Rung, rung.name))));
        all.extend(self.trial.top.map(|_| (Who::Top, variant(Role::Rung, "top"))));
        all
    }

    fn fits(&self, shape: Shape) -> Result<(), Trouble> {
        let session = self.trial.session;
        let (free, _) = session.device.context.mem_get_info().map_err(Trouble::driver("asking for free memory"))?;
        let needed =
            Rig::bytes(self.trial.exercise(), shape) + fusion_baseline::Flush::bytes(session.info.l2_bytes) as u64;
        if needed <= free as u64 / 10 * 9 {
            return Ok(());
        }
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        Err(Trouble::Unable(format!(
            "{:.1} GiB are needed for its inputs and outputs, and {:.1} GiB of device memory are free",
            gib(needed),
            gib(free as u64)
        )))
    }

    fn measure_ceilings(&self, shape: Shape) -> Result<Ceilings, Trouble> {
        let (session, exercise) = (self.trial.session, self.trial.exercise());
        // Tensor cores multiply matrices, at another rate: these roofs are not theirs.
        let roof = |peak: Option<f64>| peak.filter(|_| !exercise.multiplies() && !exercise.is_arithmetic());
        if session.is_emulated() {
            let profile = fusion_profile::of_device(&session.info.name);
            let bandwidth = profile.as_ref().map_or(0.0, |profile| profile.dram_bandwidth / 1e9);
            let peak = profile.map(|profile| {
                2.0 * f64::from(profile.lanes_per_sm * profile.sms) * f64::from(profile.sm_clock_khz) / 1e6
            });
            return Ok(Ceilings { mix_gb_per_s: bandwidth, copy_gb_per_s: bandwidth, peak_gflop_per_s: roof(peak) });
        }
        self.trial.tell("measuring what this device reaches");
        let (free, _) = session.device.context.mem_get_info().map_err(Trouble::driver("asking for free memory"))?;
        let bytes = CEILING_BYTES.min(free as u64 / 8);
        let mut helpers = Helpers::new(session, ceiling::mix(exercise, shape))?;
        let copy = ceiling::copy(&mut helpers, bytes)?;
        let mix = ceiling::measure(session, &mut helpers, bytes)?.max(copy);
        Ok(Ceilings { mix_gb_per_s: mix, copy_gb_per_s: copy, peak_gflop_per_s: roof(peak(session)) })
    }

    fn time(&self, shape: Shape, size: &mut Size) -> Result<(), Trouble> {
        let Self { trial, plan, .. } = self;
        let seed = trial.seed;
        let mut bench = Bench::new(trial, shape)?;
        bench.verify()?;
        if !self.short {
            trial.tell(format!("warming up at {shape}"));
            bench.warm_up(plan)?;
        }
        let mut chain = None;
        self.each(shape, size, &mut |who, variant| {
            if self.short {
                trial.tell(format!("timing {} at {shape}", variant.name));
                variant.timing = alone(&bench.alone(who, plan, seed)?, seed);
            } else if who != Who::Unfused {
                trial.tell(format!("timing {} at {shape}", variant.name));
                let steady = bench.pairs([Who::Unfused, who], plan, plan.limit)?;
                variant.timing = steady.timing(seed);
                chain.get_or_insert(steady);
            }
            bench.rig.reset(who, 0).map_err(Trouble::driver("preparing a launch"))?;
            bench.rig.run(who, 0)?;
            bench.rig.finish()?;
            variant.accuracy = bench.rig.accuracy(who, 0)?;
            Ok(())
        })?;
        if bench.waited {
            size.notes.push("a launch waits for the device: times have some of the host's in them".to_owned());
        }
        if let (Some(unfused), Some(chain)) = (size.variants.first_mut(), chain) {
            unfused.timing = itself(&chain, seed);
        }
        Ok(())
    }

    fn predict(&self, shape: Shape, found: &mut Size) -> Result<(), Trouble> {
        let linear = !self.trial.exercise().is_arithmetic() && shape.pages.is_none();
        let (size, most) = match linear {
            true => (shape.elements(), COUNTED_ELEMENTS),
            false => (self.trial.exercise().work(shape), COUNTED),
        };
        let countable = size <= most;
        let mut rig = if countable { Some(Rig::new(self.trial, shape)?) } else { None };
        let mut sampled = Rig::sampled(self.trial, shape)?;
        let device = &self.trial.session.info.name;
        let band = Band::of(device, Some(self.trial.exercise().shapes));
        if linear && !countable {
            found.notes.push("not executed whole: bytes are not counted, and results not compared".to_owned());
        }
        let mut chain = None;
        self.each(shape, found, &mut |who, variant| {
            self.trial.tell(format!("running {} at {shape}", variant.name));
            let time = match (sampled.predict(who)?, &mut rig) {
                (None, Some(rig)) => rig.time(who)?,
                (time, _) => time,
            };
            variant.bound = time.as_ref().and_then(|time| time.bound(device)).map(|bound| bound.to_string());
            let time = time.map(|time| time.ns);
            if who == Who::Unfused {
                chain = time;
            }
            variant.timing = time.zip(chain).map(|(time, chain)| Timing::predicted(time, chain, band));
            let Some(rig) = &mut rig else { return Ok(()) };
            // The others are judged elsewhere: the chain by *lean*, rungs and tops by `verify`.
            let checks = if matches!(who, Who::Submission | Who::Rival) { Checks::ALL } else { Checks::NONE };
            let report = rig.count_with(who, checks)?;
            if who == Who::Submission {
                rig.check(0)?;
            }
            let counters = || report.launches.iter().map(|launch| launch.counters);
            variant.dram_bytes = Some(counters().map(|c| c.dram_read_bytes + c.dram_write_bytes).sum());
            variant.thread_instructions = Some(counters().map(|c| c.thread_instructions).sum());
            variant.accuracy = rig.accuracy(who, 0)?;
            Ok(())
        })
    }

    /// Runs every variant. A rung that the device refuses costs itself only.
    fn each(
        &self,
        shape: Shape,
        size: &mut Size,
        run: &mut dyn FnMut(Who, &mut Variant) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        for (who, mut variant) in self.variants(shape) {
            match run(who, &mut variant) {
                Ok(()) => size.variants.push(variant),
                Err(Trouble::Unable(note))
                    if matches!(who, Who::Rung(_) | Who::Top) && !self.trial.session.is_spent() =>
                {
                    size.notes.push(format!("{}: {note}", variant.name));
                }
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(())
    }
}

/// The time of launches without another's between them.
fn alone(times: &[f64], seed: u64) -> Option<Timing> {
    let time_ns = statistics::median_interval(times, seed)?;
    Some(Timing::Measured { time_ns, other_ns: None, speedup: None, pairs: times.len() as u32, dropped: 0 })
}

/// The time of the chain, which stands above the line, beside itself.
fn itself(steady: &Steady, seed: u64) -> Option<Timing> {
    let times: Vec<f64> = steady.pairs.iter().map(|pair| pair.above).collect();
    let time_ns = statistics::median_interval(&times, seed)?;
    let speedup = Some(Interval::exact(1.0));
    Some(Timing::Measured { time_ns, other_ns: Some(time_ns), speedup, pairs: times.len() as u32, dropped: 0 })
}

/// FP32 operations a second of a GPU, in 10^9: a multiply-add is two of them (CUDA C++ Programming Guide, "Arithmetic
/// Instructions": results per clock and multiprocessor).
fn peak(session: &Session) -> Option<f64> {
    use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    let khz = session.device.context.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE).ok()?;
    let lanes = match session.device.properties.compute_capability {
        (7, _) | (8, 0) => 64.0,
        _ => 128.0,
    };
    Some(2.0 * lanes * f64::from(session.info.multiprocessors) * f64::from(khz) / 1e6)
}
