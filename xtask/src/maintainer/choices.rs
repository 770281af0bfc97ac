//! What a person has chosen in the environment for their own programs. What is compared with something committed must not
//! depend on it.

use std::process::Command;

/// Devices, settings of the emulated one, and what a terminal shows.
const CHOICES: [&str; 8] = [
    fusion_profile::CHOICE,
    "FUSION_EMULATOR",
    "FUSION_EMULATOR_BUDGET",
    "FUSION_EMULATOR_CHECKS",
    "FUSION_EMULATOR_QUIET",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "CUDA_VISIBLE_DEVICES",
];

/// Starts a command without them.
pub(super) fn clear(command: &mut Command) {
    for name in CHOICES {
        command.env_remove(name);
    }
}
