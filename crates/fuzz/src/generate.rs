//! Modules that are mostly right, so that they run deep.
//!
//! Instructions are those of the conformance suite: their opcodes with all modifiers, their operands
//! exchanged for registers, addresses and numbers of the same kind. Around them stand loops, branches,
//! calls, barriers and variables, most of them right.

mod body;
mod module;
mod template;

use fastrand::Rng;

use crate::Input;

/// The module that belongs to a seed.
pub fn generate(seed: u64) -> Input {
    let mut rng = Rng::with_seed(seed);
    // Launched so that only what is wrong with the machine can make two workers differ from one.
    let private = rng.u32(0..3) != 0;
    let ptx = module::module(&mut rng, private);
    Input { seed, private, ptx: ptx.into_bytes() }
}
