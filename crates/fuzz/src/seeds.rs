//! Right modules to begin with: the conformance suite's, and what NVRTC made of the tests' kernels.

use std::sync::OnceLock;

use fusion_conformance::{Case, SUITE, module_text};

const COMPILED: [&str; 8] = [
    include_str!("../../machine/tests/ptx/kernels.ptx"),
    include_str!("../../machine/tests/ptx/faults.ptx"),
    include_str!("../../machine/tests/ptx/add_gelu.ptx"),
    include_str!("../../ptx/tests/nvrtc/atomics.90.ptx"),
    include_str!("../../ptx/tests/nvrtc/calls.90.ptx"),
    include_str!("../../ptx/tests/nvrtc/copies.80.ptx"),
    include_str!("../../ptx/tests/nvrtc/rows.90.ptx"),
    include_str!("../../ptx/tests/nvrtc/variables.90.ptx"),
];

/// Whole modules, each right.
pub fn seeds() -> &'static [String] {
    static SEEDS: OnceLock<Vec<String>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let cases = SUITE.cases().filter_map(|(name, text)| Case::parse(name, text).ok());
        cases.map(|case| module_text(&case)).chain(COMPILED.map(str::to_owned)).collect()
    })
}
