//! What a mutation operator does, and for which reasons a grader may refuse what it makes.

/// One systematic mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Stable: `drop-barrier`.
    pub name: &'static str,
    /// What it does, in a few words.
    pub does: &'static str,
    /// The reasons for which its mutants may be refused, as the grader words them: `values`, `fault E-OOB-GLOBAL`. One
    /// that ends in `-` stands for all that begin with it.
    pub classes: &'static [&'static str],
    /// What changes bounds launches, too, so that one may be refused.
    pub bounds_launches: bool,
    /// What changes says how often a loop turns: it may take too long, also for the compiler that unrolls it.
    pub bounds_loops: bool,
}

impl Operator {
    pub(crate) const fn new(name: &'static str, does: &'static str, classes: &'static [&'static str]) -> Self {
        Self { name, does, classes, bounds_launches: false, bounds_loops: false }
    }

    /// The same where what changes is an address, a bound or a condition: then memory faults are right too.
    pub(crate) const fn in_index(self) -> Self {
        Self { classes: INDEX, ..self }
    }

    /// The same where what changes is what a kernel asks of its launches: a bound on the threads of a block, or the size of a cluster.
    pub(crate) const fn in_launch_bounds(self) -> Self {
        Self { classes: LAUNCH, ..self }
    }

    /// The same where what changes is, or gives a name to, a bound on launches or on a loop.
    pub(crate) const fn bounding(self, bounds_launches: bool, bounds_loops: bool) -> Self {
        Self { bounds_launches, bounds_loops, ..self }
    }

    /// Whether refusing one of its mutants for this reason is right.
    pub fn admits(&self, reason: &str) -> bool {
        let launch = if self.bounds_launches { LAUNCH } else { &[] };
        let timeout = if self.bounds_loops { TIMEOUT } else { &[] };
        self.classes.iter().chain(launch).chain(timeout).any(|class| match class.strip_suffix('-') {
            Some(_) => reason.starts_with(class),
            None => reason == *class,
        })
    }
}

/// Wrong numbers, or none.
pub(crate) const VALUES: &[&str] = &["values", "unwritten", "tail"];

/// What arguments the wrong way round lead to: wrong numbers, or in a shuffle a value that is taken for the mask.
pub(crate) const CALLS: &[&str] = &["values", "unwritten", "tail", "fault E-SYNC-MASK"];

/// What a wrong address, bound or condition leads to.
pub(crate) const INDEX: &[&str] = &[
    "values",
    "unwritten",
    "tail",
    "inputs",
    "red-zone",
    "bytes",
    "access",
    "fault E-OOB-",
    "fault E-NULL",
    "fault E-UNMAPPED",
    "fault E-USE-AFTER-FREE",
    "fault E-MISALIGNED",
    "fault E-WRITE-READONLY",
    "fault E-UNINIT-",
    "fault E-RACE-",
    "fault E-CLUSTER-",
    "fault E-BARRIER-",
    "fault E-MBARRIER",
    "fault E-TENSOR-MAP",
    "fault E-SYNC-MASK",
    "fault E-DEADLOCK",
    "fault E-BUDGET",
    "fault L-",
];

/// What a wrong bound on the threads of a block, or a wrong size of a cluster, leads to.
pub(crate) const LAUNCH: &[&str] = &["launch"];

/// What too many rounds of a loop lead to, beside too many instructions.
pub(crate) const TIMEOUT: &[&str] = &["timeout"];

/// What missing order between threads leads to.
pub(crate) const ORDER: &[&str] = &[
    "values",
    "unwritten",
    "tail",
    "fault E-RACE-",
    "fault E-UNINIT-",
    "fault E-BARRIER-",
    "fault E-SYNC-MASK",
    "fault E-DEADLOCK",
    "fault E-BUDGET",
];

/// What a value that was never set leads to. Where the compiler sees that it is used, it may put a trap there.
pub(crate) const UNSET: &[&str] = &[
    "values",
    "unwritten",
    "tail",
    "fault E-UNINIT-",
    "fault E-RACE-",
    "fault E-OOB-",
    "fault E-UNMAPPED",
    "fault E-NULL",
    "fault E-TRAP",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_whole_reasons_or_beginnings() {
        let operator = Operator::new("x", "", &["values", "fault E-OOB-"]);
        for (reason, right) in [
            ("values", true),
            ("fault E-OOB-GLOBAL", true),
            ("fault E-OOB", false),
            ("value", false),
            ("launch", false),
        ] {
            assert_eq!(operator.admits(reason), right, "{reason}");
        }
        assert!(operator.in_index().admits("fault E-BUDGET"));
    }
}
