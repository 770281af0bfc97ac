//! Faults with their place in the source.

use fusion_ptx::ast::LocId;

use super::{KernelInfo, Launch};
use crate::exec::{Run, Stopped};
use crate::profile::Profile;
use crate::report::{Blame, Fault, PtxPosition, SourcePosition};

/// Refuses what no GPU of the profile would launch.
pub(super) fn check_launch(
    profile: &Profile,
    info: &KernelInfo,
    config: &Launch,
    params: &[u8],
) -> Result<(), Box<Fault>> {
    let fail = |code: &str, title: String, note: String| Err(launch(&info.name, code, &title, vec![note]));
    let Launch { grid, block, dynamic_shared, .. } = *config;
    let within = |dims: [u32; 3], most: [u32; 3]| dims.iter().zip(most).all(|(&n, most)| n > 0 && n <= most);
    if !within(grid, Profile::MAX_GRID) {
        let note = match grid.contains(&0) {
            true => "every dimension must be at least 1: an empty problem needs no launch".to_string(),
            false => format!("the largest grid is {:?}", Profile::MAX_GRID),
        };
        return fail("E-LAUNCH-GRID", format!("a grid of {grid:?} blocks"), note);
    }
    let threads = block.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)));
    if !within(block, Profile::MAX_BLOCK) || threads > u64::from(Profile::MAX_THREADS_PER_BLOCK) {
        let note = format!(
            "every dimension must be at least 1 and at most {:?}, and their product at most {}; it is {threads}",
            Profile::MAX_BLOCK,
            Profile::MAX_THREADS_PER_BLOCK
        );
        return fail("E-LAUNCH-BLOCK", format!("a block of {block:?} threads"), note);
    }
    if threads > u64::from(info.max_threads) {
        let note =
            format!("this kernel runs with {} threads at most: __launch_bounds__, or its registers", info.max_threads);
        return fail("E-LAUNCH-BLOCK", format!("a block of {threads} threads"), note);
    }
    if let Some(required) = info.required_threads
        && required.map(|n| n.max(1)) != block
    {
        let note = format!("the kernel demands blocks of {required:?} (.reqntid)");
        return fail("E-LAUNCH-BLOCK", format!("a block of {block:?} threads"), note);
    }
    let shared = u64::from(info.static_shared) + u64::from(dynamic_shared);
    if shared > u64::from(profile.shared_per_block_optin) {
        let note = format!(
            "{} static and {dynamic_shared} dynamic; a block of this device has {} at most",
            info.static_shared, profile.shared_per_block_optin
        );
        return fail("E-LAUNCH-SHARED", format!("{shared} bytes of shared memory a block"), note);
    }
    if info.local_bytes > Profile::MAX_LOCAL_PER_THREAD {
        let note = format!("a thread has {} at most: use global memory", Profile::MAX_LOCAL_PER_THREAD);
        return fail("E-LAUNCH-LOCAL", format!("{} bytes of local memory a thread", info.local_bytes), note);
    }
    if params.len() < info.param_bytes as usize {
        let note = format!("the kernel has {} parameters of {} bytes in all", info.params.len(), info.param_bytes);
        return fail("E-LAUNCH-PARAMS", format!("{} bytes of parameters", params.len()), note);
    }
    Ok(())
}

pub(super) fn launch(kernel: &str, code: &str, title: &str, notes: Vec<String>) -> Box<Fault> {
    Box::new(Fault {
        code: code.into(),
        blame: Blame::Kernel,
        title: title.into(),
        notes,
        kernel: kernel.into(),
        source: Vec::new(),
        ptx: None,
        block: None,
        thread: None,
        lanes: 0,
    })
}

/// A trap as a fault: where it stands in the source and in the PTX, and which thread it was.
pub(super) fn fault(run: &Run<'_>, source: &str, kernel: &str, stopped: Stopped) -> Box<Fault> {
    let Stopped { block, warp, trap } = stopped;
    let origin = trap.pc.and_then(|pc| run.code.origins.get(pc as usize));
    let ptx = origin.map(|origin| {
        let position = fusion_ptx::position(source, origin.span);
        let text = source.get(origin.span.start as usize..origin.span.end as usize).unwrap_or(position.text);
        PtxPosition { line: position.line, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    });
    let thread = (trap.lanes != 0).then(|| {
        let linear = 32 * warp + trap.lanes.trailing_zeros();
        let [x, y, _] = run.launch.block;
        [linear % x, linear / x % y, linear / x / y]
    });
    Box::new(Fault {
        code: trap.code.into(),
        blame: trap.blame,
        title: trap.title,
        notes: trap.notes,
        kernel: kernel.into(),
        source: positions(run, origin.and_then(|o| o.loc)),
        ptx,
        block: Some(run.block(block)),
        thread,
        lanes: trap.lanes.count_ones(),
    })
}

/// The chain of a `.loc`: innermost first, then the calls that it was inlined into.
fn positions(run: &Run<'_>, loc: Option<LocId>) -> Vec<SourcePosition> {
    let mut positions = Vec::new();
    let mut next = loc;
    while let Some(location) = next.and_then(|l| run.module.locations.get(l.index())) {
        let file = run.module.files.get(location.file.index());
        positions.push(SourcePosition {
            file: file.map_or_else(String::new, |f| f.path.clone()),
            line: location.line,
            column: location.column,
            function: location.function.as_deref().map(demangle),
        });
        // An entry's caller always has the smaller index; whoever breaks that is not followed in circles.
        next = location.inlined_at.filter(|caller| next.is_some_and(|l| *caller < l));
    }
    positions
}

/// A C++ name for people, as it is where it cannot be demangled.
fn demangle(name: &str) -> String {
    cpp_demangle::Symbol::new(name).ok().and_then(|s| s.demangle().ok()).unwrap_or_else(|| name.to_string())
}
