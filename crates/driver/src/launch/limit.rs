//! The limits of a launch: the device's and the kernel's own, and what cooperative ones need beyond them.

use fusion_machine::report::kind::Refusal;
use fusion_machine::{Launch, Limits, Profile};

use crate::function::Function;
use crate::occupancy;

/// Checks a launch against all limits, those of the device first.
pub(super) fn check(profile: &Profile, function: &Function, launch: &Launch) -> Result<(), Refusal> {
    let limits = Limits { threads: function.max_threads(), dynamic_shared: function.max_dynamic_shared(profile) };
    limits.check(profile, &function.info, launch)?;
    if launch.cooperative {
        check_cooperative(profile, function, launch)?;
    }
    Ok(())
}

/// All blocks of a cooperative launch run at once, for they may wait for one another.
fn check_cooperative(profile: &Profile, function: &Function, launch: &Launch) -> Result<(), Refusal> {
    let per_sm = occupancy::blocks_per_sm(profile, &function.info, launch.threads() as u32, launch.dynamic_shared);
    let resident = u64::from(per_sm) * u64::from(profile.sms);
    match launch.blocks() {
        blocks if blocks <= resident => Ok(()),
        blocks => Err(Refusal::TooManyBlocks { blocks, resident }),
    }
}
