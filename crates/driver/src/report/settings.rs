//! What our own tools and the environment may set.

use fusion_machine::report::Dry;
use fusion_machine::{Checks, Options};
use serde::Deserialize;

/// Chooses the checks: names with commas between them, `all` or `none`.
const CHECKS: &str = "FUSION_EMULATOR_CHECKS";

/// How many warp instructions a launch, or one block of it, may execute, where the program does not say. The grader does: what
/// was left in a shell must decide no verdict.
const BUDGET: &str = "FUSION_EMULATOR_BUDGET";

/// What `fusion_emulator_set_options` may set. A field that is left out stays as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// Warp instructions that one launch may execute. Only before `cuInit`.
    pub(super) instruction_budget: Option<u64>,
    /// Warp instructions that one block of it may execute. Only before `cuInit`.
    pub(super) block_budget: Option<u64>,
    /// Threads to run blocks on; 0 for as many as there are cores. Only before `cuInit`.
    pub(super) workers: Option<usize>,
    /// Whether launches are kept in reports.
    pub(super) record: Option<bool>,
    /// How many launches are kept.
    pub(super) record_limit: Option<usize>,
    /// Whether faults tell where in the host program their buffer was allocated.
    pub(super) allocation_sites: Option<bool>,
    /// Which checks are made, from the next launch on.
    #[serde(default)]
    pub(super) checks: CheckSettings,
    /// Whether launches are timed by what their blocks do, from the next launch on. Where it is left open: from the first event on that
    /// takes times.
    pub(super) times: Option<bool>,
    /// How launches run dry, from the next launch and the next allocation on.
    pub(super) dry: Option<Dry>,
    /// How many multiprocessors programs find, of those that the device has; 0 for all. Times stay those of the whole device.
    pub(super) multiprocessors: Option<u32>,
    /// Once, where no memory is allocated: what is allocated from now on has the addresses and numbers that it would
    /// have in a new process, and the L2 is empty.
    pub(super) start_over: Option<bool>,
}

/// Checks one by one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckSettings {
    init: Option<bool>,
    races: Option<bool>,
    arithmetic: Option<bool>,
    performance: Option<bool>,
}

impl CheckSettings {
    /// Other checks with what is chosen here.
    pub(super) fn over(&self, other: Checks) -> Checks {
        Checks {
            init: self.init.unwrap_or(other.init),
            races: self.races.unwrap_or(other.races),
            arithmetic: self.arithmetic.unwrap_or(other.arithmetic),
            performance: self.performance.unwrap_or(other.performance),
        }
    }
}

impl Settings {
    pub(super) fn change(&mut self, to: Settings) {
        self.instruction_budget = to.instruction_budget.or(self.instruction_budget);
        self.block_budget = to.block_budget.or(self.block_budget);
        self.workers = to.workers.or(self.workers);
        self.record = to.record.or(self.record);
        self.record_limit = to.record_limit.or(self.record_limit);
        self.allocation_sites = to.allocation_sites.or(self.allocation_sites);
        self.times = to.times.or(self.times);
        self.dry = to.dry.or(self.dry.take());
        self.multiprocessors = to.multiprocessors.or(self.multiprocessors);
        self.checks.init = to.checks.init.or(self.checks.init);
        self.checks.races = to.checks.races.or(self.checks.races);
        self.checks.arithmetic = to.checks.arithmetic.or(self.checks.arithmetic);
        self.checks.performance = to.checks.performance.or(self.checks.performance);
    }

    /// Whether it has something that a machine cannot change any more once it is there.
    pub(super) fn concerns_machine(&self) -> bool {
        self.instruction_budget.is_some() || self.block_budget.is_some() || self.workers.is_some()
    }

    /// Whether it switches a check.
    pub(super) fn concerns_checks(&self) -> bool {
        let CheckSettings { init, races, arithmetic, performance } = self.checks;
        [init, races, arithmetic, performance].iter().any(Option::is_some)
    }

    /// The options that the machine begins with.
    ///
    /// # Errors
    /// The options without the environment's choice, and why it is none.
    pub(super) fn machine_options(&self) -> Result<Options, (Options, String)> {
        let mut options = Options::default();
        // Counted once, for asking how many cores there are takes longer than a small launch.
        let workers = self.workers.filter(|workers| *workers > 0).or_else(cores);
        options.workers = workers.unwrap_or(options.workers);
        let mut problems = Vec::new();
        let budget = environment(BUDGET, budget).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        options.instruction_budget = self.instruction_budget.or(budget).unwrap_or(options.instruction_budget);
        options.block_budget = self.block_budget.or(budget).unwrap_or(options.block_budget);
        let checks = environment(CHECKS, chosen).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        // A trace says how long each launch takes.
        options.times = self.times.unwrap_or_else(super::traces);
        options.checks = self.checks.over(checks.unwrap_or(options.checks));
        if problems.is_empty() { Ok(options) } else { Err((options, problems.join("\n"))) }
    }
}

fn cores() -> Option<usize> {
    std::thread::available_parallelism().ok().map(Into::into)
}

/// What a variable of the environment says, if it is set.
fn environment<T>(name: &str, read: impl Fn(&str) -> Result<Option<T>, String>) -> Result<Option<T>, String> {
    std::env::var_os(name).map_or(Ok(None), |value| read(&value.to_string_lossy()))
}

/// The instructions that the environment's value allows, if it is not empty.
fn budget(value: &str) -> Result<Option<u64>, String> {
    let digits: String = value.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    match digits.parse() {
        _ if digits.is_empty() => Ok(None),
        Ok(count) if count > 0 => Ok(Some(count)),
        _ => Err(format!(
            "{BUDGET} is `{value}`, which is no number of instructions: 10000000000 lets ten billion warp instructions run. The \
             default holds."
        )),
    }
}

/// The checks that the environment's value names, if it names any.
fn chosen(value: &str) -> Result<Option<Checks>, String> {
    if value.trim_matches([' ', ',']).is_empty() {
        return Ok(None);
    }
    let checks = value.parse().map(Some);
    checks.map_err(|unknown| {
        format!(
            "{CHECKS} is `{value}`, where {}. The default checks are made.",
            fusion_diagnostic::unknown_check(&unknown)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_are_left_out_stay() {
        let mut settings = Settings { workers: Some(3), ..Settings::default() };
        settings.change(serde_json::from_str(r#"{"record": false, "checks": {"races": false}}"#).unwrap());
        settings.change(serde_json::from_str(r#"{"checks": {"arithmetic": true}}"#).unwrap());
        assert_eq!((settings.workers, settings.record), (Some(3), Some(false)));
        let checks = Checks { races: false, ..Checks::ALL };
        assert_eq!(settings.machine_options().unwrap().checks, checks);
        assert!(settings.concerns_machine() && settings.concerns_checks());
        assert!(!Settings::default().concerns_machine() && !Settings::default().concerns_checks());
        for wrong in [r#"{"recrod": false}"#, r#"{"checks": {"race": false}}"#, r#"{"checks": true}"#] {
            assert!(serde_json::from_str::<Settings>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_is_a_number() {
        for (value, expected) in [("", None), ("1000", Some(1000)), (" 10_000 ", Some(10_000))] {
            assert_eq!(budget(value), Ok(expected), "{value}");
        }
        for wrong in ["0", "-1", "many", "1e9"] {
            assert!(budget(wrong).unwrap_err().contains("FUSION_EMULATOR_BUDGET"), "{wrong}");
        }
        let settings: Settings = serde_json::from_str(r#"{"block_budget": 7}"#).unwrap();
        assert_eq!(settings.machine_options().unwrap().block_budget, 7);
        assert!(settings.concerns_machine());
    }

    #[test]
    fn checks_are_named() {
        let cases = [
            ("", None),
            (" , ", None),
            ("all", Some(Checks::ALL)),
            ("none", Some(Checks::NONE)),
            ("init, races", Some(Checks { init: true, races: true, ..Checks::NONE })),
        ];
        for (value, expected) in cases {
            assert_eq!(chosen(value), Ok(expected), "{value}");
        }
        for wrong in ["race", "init,all", "none,init", "bounds"] {
            let problem = chosen(wrong).unwrap_err();
            assert!(problem.contains("init, races, arithmetic, performance"), "{problem}");
        }
    }
}
