//! What must hold for every input.

mod report;
mod syntax;

use fastrand::Rng;
use fusion_machine::report::{Class, Code};
use fusion_machine::{Checks, Fault, LaunchReport, Options};

use crate::coverage::{Feature, form, shape};
use crate::finding::{Finding, Kind, guarded};
use crate::input::Input;
use crate::launch::World;

/// What an input reached.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub features: Vec<Feature>,
    pub launches: usize,
}

/// Seconds that one run of an input may take, whatever its instruction budget.
const SECONDS: f64 = 20.0;
/// Kernels of a module that are launched.
const KERNELS: usize = 4;

/// Parses, loads and launches an input several times.
///
/// # Errors
/// The first promise that was broken.
pub fn check(input: &Input) -> Result<Observed, Finding> {
    let text = input.text();
    let mut observed = Observed { features: guarded(|| syntax::check(input, &text))??, launches: 0 };

    let mut rng = Rng::with_seed(input.seed ^ 0xf0_22ed);
    let budget = 1 << rng.u32(16..21);
    let options = Options {
        instruction_budget: budget,
        block_budget: budget / 128,
        workers: 1,
        checks: Checks::ALL,
        times: true,
        ..Options::default()
    };
    let first = Trial::run(input, &text, options)?;
    first.observe(&text, &mut observed);
    for result in &first.results {
        report::check(result, &text)?;
    }

    if input.private && first.codes().any(|code| code == Code::RaceBlocks) {
        return Err(Finding::new(Kind::Check, "a race between blocks where each has memory of its own"));
    }

    let again = Trial::run(input, &text, options)?;
    first.same(&again).map_err(|what| Finding::new(Kind::Unrepeatable, format!("two runs differ in {what}")))?;

    if first.ended() && (input.private || first.free_of_races()) {
        let two = Trial::run(input, &text, Options { workers: 2, ..options })?;
        first.same(&two).map_err(|what| Finding::new(Kind::Workers, format!("two workers differ in {what}")))?;
    }

    // None of the checks, and one or the other: a check may lean on what another one does.
    let some = Checks { init: rng.bool(), races: rng.bool(), arithmetic: rng.bool(), performance: rng.bool() };
    for checks in [Checks::NONE, some] {
        let other = Trial::run(input, &text, Options { checks, ..options })?;
        let changed = |what| Finding::new(Kind::Check, format!("checks change {what}\nall against {checks:?}"));
        first.like(&other).map_err(changed)?;
    }
    Ok(observed)
}

/// Seconds that this thread has been busy; the clock where that is not known. A run is not slow because others are fast.
fn busy() -> f64 {
    #[cfg(target_os = "linux")]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    }
    #[cfg(not(target_os = "linux"))]
    {
        static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        BEGUN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }
}

type Launched = Result<LaunchReport, Box<Fault>>;

/// One run of an input: what each launch answered, and the memory at the end.
struct Trial {
    results: Vec<Launched>,
    contents: Vec<u8>,
    refused: Option<String>,
}

impl Trial {
    fn run(input: &Input, text: &str, options: Options) -> Result<Self, Finding> {
        let begun = busy();
        let trial = guarded(|| Self::unguarded(input, text, options))?;
        let seconds = busy() - begun;
        if seconds > SECONDS {
            return Err(Finding::new(Kind::Slow, format!("a run took {seconds:.1} seconds")));
        }
        Ok(trial)
    }

    fn unguarded(input: &Input, text: &str, options: Options) -> Self {
        let world = match World::new(input, text, options) {
            Ok(world) => world,
            Err(error) => {
                return Self { results: Vec::new(), contents: Vec::new(), refused: Some(error.to_string()) };
            }
        };
        let mut rng = Rng::with_seed(input.seed ^ 0x1a_0c4e);
        let mut results = Vec::new();
        for name in world.loaded.kernel_names().into_iter().take(KERNELS) {
            let Some(kernel) = world.loaded.kernel(name) else { continue };
            let info = world.loaded.info(kernel);
            let (launch, params) = world.plan(&mut rng, &info, input.private);
            results.push(world.machine.launch(&world.loaded, kernel, &launch, &params));
        }
        let contents = world.contents();
        world.machine.unload(&world.loaded);
        Self { results, contents, refused: None }
    }

    /// Every launch ran to its end.
    fn ended(&self) -> bool {
        self.results.iter().all(Result::is_ok)
    }

    /// No launch's blocks touched what others wrote, as far as the checks tell.
    fn free_of_races(&self) -> bool {
        !self.codes().any(|code| code.class() == Class::Race)
    }

    /// Of everything that was found, also before something stopped the launch.
    fn codes(&self) -> impl Iterator<Item = Code> {
        let findings = self.results.iter().flat_map(|result| match result {
            Ok(report) => &report.findings,
            Err(fault) => &fault.earlier,
        });
        findings.map(Fault::code)
    }

    /// What two runs of the same must have in common: everything.
    fn same(&self, other: &Self) -> Result<(), String> {
        for (mine, theirs) in self.results.iter().zip(&other.results) {
            match (mine, theirs) {
                (Ok(a), Ok(b)) if a.findings != b.findings => {
                    return Err(difference("findings", &a.findings, &b.findings));
                }
                (Err(a), Err(b)) if a != b => return Err(difference("a fault", a, b)),
                _ => {}
            }
        }
        if self.refused != other.refused {
            return Err(difference("why they were refused", &self.refused, &other.refused));
        }
        self.like(other)
    }

    /// What a run with checks must have in common with one without: all but the findings, as far as
    /// none of the findings stopped it.
    fn like(&self, free: &Self) -> Result<(), String> {
        for (mine, theirs) in self.results.iter().zip(&free.results) {
            match (mine, theirs) {
                (Ok(a), Ok(b)) => {
                    if a.counters != b.counters {
                        return Err(difference("the counters", &a.counters, &b.counters));
                    }
                    if a.output != b.output {
                        return Err(difference("what was printed", &a.output, &b.output));
                    }
                    if (a.shared_bytes, a.predicted_ns.to_bits()) != (b.shared_bytes, b.predicted_ns.to_bits()) {
                        return Err("the predicted time".to_owned());
                    }
                }
                // What a check stopped, and everything after it, cannot be compared.
                (Err(_), _) => return Ok(()),
                (Ok(_), Err(fault)) => return Err(format!("a result: only without the checks {fault}")),
            }
        }
        if self.contents != free.contents {
            let at = self.contents.iter().zip(&free.contents).position(|(a, b)| a != b);
            return Err(format!("memory, first at byte {at:?}"));
        }
        Ok(())
    }

    /// Adds what the run reached.
    fn observe(&self, text: &str, observed: &mut Observed) {
        observed.launches += self.results.len();
        if let Some(message) = &self.refused {
            observed.features.push(Feature::Diagnostic(shape(message)));
        }
        for result in &self.results {
            match result {
                Ok(report) => {
                    let counters = serde_json::to_value(report.counters).unwrap_or_default();
                    for name in COUNTERS {
                        let value = &counters[*name];
                        let count = value.as_u64().or_else(|| value["sectors"].as_u64()).unwrap_or(0);
                        observed.features.push(Feature::Counter(name, 64 - count.leading_zeros()));
                    }
                    for finding in &report.findings {
                        observed.features.push(at(finding));
                    }
                }
                Err(fault) => observed.features.push(at(fault)),
            }
        }
        if self.ended() && !self.results.is_empty() {
            let forms = text.lines().map(|line| form(line.trim())).filter(|form| form.starts_with(char::is_alphabetic));
            observed.features.extend(forms.take(400).map(Feature::Ran));
        }
    }
}

const COUNTERS: &[&str] = &[
    "warp_instructions",
    "global_load",
    "global_store",
    "global_atomic",
    "local_load",
    "local_store",
    "shared_load",
    "shared_store",
    "divergent_branches",
    "barriers",
    "tensor_operations",
];

fn at(fault: &Fault) -> Feature {
    Feature::Fault(fault.code(), fault.ptx.as_ref().map_or_else(String::new, |ptx| form(&ptx.text)))
}

fn difference(what: &str, a: &impl std::fmt::Debug, b: &impl std::fmt::Debug) -> String {
    format!("{what}\n{a:?}\n{b:?}")
}
