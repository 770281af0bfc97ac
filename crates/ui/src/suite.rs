//! The files that the program carries.

use fusion_suite::Files;

/// Every file below `kernels/`: cases (`class/name`), and the headers and reports beside them.
pub const SUITE: Files = Files::new(include!(concat!(env!("OUT_DIR"), "/suite.rs")), ".cu");
