//! The files that the program carries.

use fusion_suite::Files;

/// Every file of the suite; the name of a case is `group/form`.
pub const SUITE: Files = Files::new(include!(concat!(env!("OUT_DIR"), "/suite.rs")), ".ptx");
