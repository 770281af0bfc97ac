//! The limits of a launch: the device's, and the kernel's own.

use fusion_machine::{Launch, Profile};

use crate::error::Error;
use crate::function::Function;
use crate::occupancy;

/// Why a launch is refused: what the driver returns, and what it has to say beyond that.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: Error,
    pub(super) code: &'static str,
    pub(super) title: String,
    pub(super) note: String,
}

fn refuse(error: Error, code: &'static str, title: String, note: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal { error, code, title, note: note.into() })
}

/// Checks a launch against all limits, those of the device first.
pub(super) fn check(profile: &Profile, function: &Function, launch: &Launch) -> Result<(), Refusal> {
    let threads = launch.block.iter().fold(1u32, |product, n| product.saturating_mul(*n));
    check_device(launch, threads)?;
    check_shape(function, launch, threads)?;
    check_shared(profile, function, launch.dynamic_shared)?;
    if launch.cooperative {
        check_cooperative(profile, function, launch, threads)?;
    }
    Ok(())
}

fn check_device(launch: &Launch, threads: u32) -> Result<(), Refusal> {
    const EMPTY: &str = "When there is nothing to do, return before the launch; otherwise round the number of blocks up: \
                         n.div_ceil(256) for blocks of 256 threads.";
    let Launch { grid, block, .. } = *launch;
    let exceeds = |dims: [u32; 3], most: [u32; 3]| dims.iter().zip(most).any(|(n, most)| *n > most);
    if grid.contains(&0) {
        let title = format!("a grid of {grid:?} blocks has no block");
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-GRID", title, EMPTY);
    }
    if block.contains(&0) {
        let title = format!("a block of {block:?} threads has no thread");
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-BLOCK", title, "Every dimension must be 1 at least.");
    }
    if exceeds(grid, Profile::MAX_GRID) {
        let title = format!("a grid of {grid:?} blocks is too large: the device allows {:?}", Profile::MAX_GRID);
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-GRID", title, "Let every thread do more than one element.");
    }
    if threads > Profile::MAX_THREADS_PER_BLOCK {
        let title =
            format!("a block of {threads} threads is too large: the device allows {}", Profile::MAX_THREADS_PER_BLOCK);
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-BLOCK", title, "Launch more blocks of fewer threads.");
    }
    if exceeds(block, Profile::MAX_BLOCK) {
        let title = format!("a block of {block:?} threads is too large: the device allows {:?}", Profile::MAX_BLOCK);
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-BLOCK", title, "");
    }
    Ok(())
}

fn check_shape(function: &Function, launch: &Launch, threads: u32) -> Result<(), Refusal> {
    let info = &function.info;
    // Dimensions that a directive leaves out are 1.
    if let Some(required) = info.required_threads.map(|dims| dims.map(|n| n.max(1)))
        && required != launch.block
    {
        let title = format!("the kernel must be launched with blocks of {required:?} threads, not {:?}", launch.block);
        return refuse(Error::INVALID_VALUE, "E-LAUNCH-BLOCK", title, "It was compiled with .reqntid.");
    }
    let most = function.max_threads();
    if threads > most {
        let title = format!("a block of {threads} threads needs more than there is: this kernel allows {most}");
        let note = format!(
            "It was compiled for blocks of up to {} threads (__launch_bounds__), and uses {} registers a thread.",
            info.max_threads, info.registers
        );
        return refuse(Error::LAUNCH_OUT_OF_RESOURCES, "E-LAUNCH-BLOCK", title, note);
    }
    if info.local_bytes > Profile::MAX_LOCAL_PER_THREAD {
        let most = Profile::MAX_LOCAL_PER_THREAD;
        let title = format!("the kernel's arrays take {} bytes a thread: the device allows {most}", info.local_bytes);
        return refuse(Error::LAUNCH_OUT_OF_RESOURCES, "E-LAUNCH-LOCAL", title, "Put them in global memory.");
    }
    Ok(())
}

fn check_shared(profile: &Profile, function: &Function, dynamic: u32) -> Result<(), Refusal> {
    let most = function.max_dynamic_shared(profile);
    if dynamic <= most {
        return Ok(());
    }
    let title = format!("{dynamic} bytes of dynamic shared memory are too many: this kernel may have {most}");
    let note = format!(
        "A block has up to {} bytes, static and dynamic ({} are static here), or up to {} once \
         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES is set for the kernel.",
        profile.shared_per_block, function.info.static_shared, profile.shared_per_block_optin
    );
    refuse(Error::INVALID_VALUE, "E-LAUNCH-SHARED", title, note)
}

/// All blocks of a cooperative launch run at once, for they may wait for one another.
fn check_cooperative(profile: &Profile, function: &Function, launch: &Launch, threads: u32) -> Result<(), Refusal> {
    let per_sm = occupancy::blocks_per_sm(profile, &function.info, threads, launch.dynamic_shared);
    let room = u64::from(per_sm) * u64::from(profile.sms);
    let blocks: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
    if blocks <= room {
        return Ok(());
    }
    let title = format!("{blocks} blocks are too many for a cooperative launch: {room} fit on the device at once");
    refuse(
        Error::COOPERATIVE_LAUNCH_TOO_LARGE,
        "E-COOPERATIVE",
        title,
        "The blocks of a cooperative launch wait for one another, so that all must run at once. Let every block do more \
         than one piece of work, and ask cuOccupancyMaxActiveBlocksPerMultiprocessor how many fit.",
    )
}
