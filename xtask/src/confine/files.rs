//! Which files there are, which ports, and whose processes a signal reaches, by Landlock.

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// What there must be: writing, cutting and moving files can be refused (Linux 6.2).
const LEAST: ABI = ABI::V3;

/// What is asked for where there is more: ports, devices, signals (Linux 6.12).
const BEST: ABI = ABI::V6;

/// Why it cannot be done on this machine.
pub(super) fn unavailable() -> Option<String> {
    ruleset()
        .err()
        .map(|_| "the system has no Landlock (Linux 6.2 and later have it, where it is switched on)".to_owned())
}

fn ruleset() -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST))?
        .handle_access(AccessNet::from_all(BEST))?
        .scope(Scope::from_all(BEST))?
        .create()
}

/// Leaves this process the files that it may read, the folders that it may list or write, and the null device.
pub(super) fn restrict(read: &[PathBuf], list: &[PathBuf], write: &[PathBuf]) -> Result<(), String> {
    match enforce(read, list, write).map_err(|error| error.to_string())? {
        RulesetStatus::NotEnforced => Err("the system did not put Landlock's rules into force".to_owned()),
        _ => Ok(()),
    }
}

fn enforce(read: &[PathBuf], list: &[PathBuf], write: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let null: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile;
    let status = ruleset()?
        .add_rules(path_beneath_rules(read, AccessFs::from_read(BEST)))?
        .add_rules(path_beneath_rules(list, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(write, AccessFs::from_all(BEST)))?
        .add_rules(path_beneath_rules(["/dev/null"], null))?
        .restrict_self()?;
    Ok(status.ruleset)
}
