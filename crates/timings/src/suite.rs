//! The files that the program carries.

use fusion_suite::Files;

use crate::case::{Case, ParseError};

/// Every file below `kernels/`: cases (`group/name`), and the sweeps that several of them name.
const SUITE: Files = Files::new(include!(concat!(env!("OUT_DIR"), "/suite.rs")), ".cu");

/// All cases, sorted by name.
///
/// # Errors
/// The first file whose directives cannot be understood.
pub fn cases() -> Result<Vec<Case>, ParseError> {
    SUITE.cases().map(|(name, text)| Case::parse(name, text)).collect()
}

/// What stands behind `NAME:` in `kernels/sweeps.txt`, a line each.
pub(crate) fn named_sweep(name: &str) -> Vec<&'static str> {
    let lines = SUITE.text("sweeps.txt").into_iter().flat_map(str::lines);
    let named = lines.filter_map(|line| line.split_once(':'));
    named.filter(|(known, _)| known.trim() == name).map(|(_, sweep)| sweep.trim()).collect()
}
