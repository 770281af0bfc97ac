//! The limits of a launch: the device's and the kernel's own, and what cooperative ones need beyond them.

use fusion_machine::report::kind::Refusal;
use fusion_machine::{Launch, Limits, Profile};

use crate::attribute::multiprocessors;
use crate::function::Function;
use crate::occupancy;

/// Threads of a block that fit with all the registers that a thread can have: 255.
const ALWAYS_FIT: u64 = 256;

/// Checks a launch against all limits, those of the device first.
pub(super) fn check(profile: &Profile, function: &Function, launch: &Launch) -> Result<(), Refusal> {
    // To know the registers takes the assembler's time, and small blocks fit with as many as can be.
    let resources = (launch.threads() > ALWAYS_FIT).then(|| function.resources()).filter(|known| known.exact);
    let limits = Limits {
        threads: function.info.max_threads.min(resources.map_or(u32::MAX, |known| known.max_threads())),
        registers: resources.map(|known| known.registers),
        dynamic_shared: function.max_dynamic_shared(profile),
        cluster: function.max_cluster(profile),
    };
    limits.check(profile, &function.info, launch)?;
    if launch.cooperative {
        check_cooperative(profile, function, launch)?;
    }
    Ok(())
}

/// All blocks of a cooperative launch run at once, for they may wait for one another.
fn check_cooperative(profile: &Profile, function: &Function, launch: &Launch) -> Result<(), Refusal> {
    let per_sm = occupancy::most_blocks_per_sm(profile, function, launch.threads() as u32, launch.dynamic_shared);
    let resident = u64::from(per_sm) * u64::from(multiprocessors(profile));
    match launch.blocks() {
        blocks if blocks <= resident => Ok(()),
        blocks => Err(Refusal::TooManyBlocks { blocks, resident }),
    }
}
