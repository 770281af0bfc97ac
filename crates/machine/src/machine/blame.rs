//! Faults with their place in the source.

use fusion_ptx::ast::{LocId, Module};

use super::{KernelInfo, Launch};
use crate::code::Code;
use crate::exec::{Finding, Run, Stopped, Trap};
use crate::profile::Profile;
use crate::report::{self, Blame, Buffer, Fault, PtxPosition, Related, SourcePosition};

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

/// The blocks of a cooperative launch wait for one another, so that all of them must be there at once.
pub(super) fn too_many_to_meet(kernel: &str, blocks: u64, resident: u64, room: u64) -> Box<Fault> {
    let title = format!("{blocks} blocks are too many for a cooperative launch");
    let note = format!("{resident} of them can be there at once, and all of them must be: they wait for one another");
    if resident == room {
        let mut fault = launch(kernel, "E-LAUNCH-MEMORY", &title, vec![note]);
        fault.blame = Blame::Environment;
        return fault;
    }
    let mut fault = launch(kernel, "E-COOPERATIVE", &title, vec![note]);
    fault.help.push("let every block do more than one piece of the work".to_string());
    fault
}

pub(super) fn launch(kernel: &str, code: &str, title: &str, notes: Vec<String>) -> Box<Fault> {
    let mut fault = Fault::new(code, Blame::Kernel, title);
    fault.notes = notes;
    fault.kernel = kernel.into();
    Box::new(fault)
}

/// The trap that stopped a launch, as a fault.
pub(super) fn fault(run: &Run<'_>, source: &str, kernel: &str, stopped: Stopped) -> Box<Fault> {
    let Stopped { block, warp, trap } = stopped;
    let lanes = trap.lanes.count_ones();
    let mut fault = story(run, source, kernel, block, warp, *trap);
    fault.count = u64::from(lanes);
    Box::new(fault)
}

/// What a check has found, as a fault.
pub(super) fn finding(run: &Run<'_>, source: &str, kernel: &str, finding: Finding) -> Fault {
    let Finding { severity, block, warp, trap, count } = finding;
    let mut fault = story(run, source, kernel, block, warp, *trap);
    (fault.severity, fault.count) = (severity, count);
    fault
}

/// One fault a place in the source: the compiler may have made several instructions of one, by unrolling a loop. The first
/// one tells the story, and counts for all.
pub(super) fn by_source(faults: impl Iterator<Item = Fault>) -> Vec<Fault> {
    let mut kept: Vec<Fault> = Vec::new();
    let places = |fault: &Fault| -> Vec<Vec<SourcePosition>> {
        std::iter::once(&fault.source).chain(fault.related.iter().map(|party| &party.source)).cloned().collect()
    };
    for fault in faults {
        let same = |known: &&mut Fault| known.code == fault.code && places(known) == places(&fault);
        match kept.iter_mut().find(same).filter(|_| !fault.source.is_empty()) {
            Some(known) => known.count = known.count.saturating_add(fault.count),
            None => kept.push(fault),
        }
    }
    kept
}

/// Drops what a missing barrier brings about: a read that races with the write it was meant for may come before it, and so
/// find nothing there; two threads that both read too early may write the same value by chance. The race says what is wrong.
pub(super) fn without_consequences(faults: &mut Vec<Fault>) {
    let races: Vec<(Option<Buffer>, Vec<SourcePosition>)> = (faults.iter())
        .filter(|fault| fault.code.starts_with("E-RACE-"))
        .flat_map(|fault| {
            let places = std::iter::once(&fault.source).chain(fault.related.iter().map(|party| &party.source));
            places.map(|place| (fault.buffer.clone(), place.clone()))
        })
        .collect();
    faults.retain(|fault| {
        if fault.code == "W-RACE-BENIGN" {
            return !races.iter().any(|(_, place)| !place.is_empty() && *place == fault.source);
        }
        // The read is the other party, unless it is an atomic's own.
        let read = fault.related.first().map_or(&fault.source, |party| &party.source);
        let same = |(buffer, place): &(Option<Buffer>, Vec<SourcePosition>)| {
            let name = |buffer: &Option<Buffer>| buffer.as_ref().map(|buffer| buffer.name.clone());
            place == read && name(buffer) == name(&fault.buffer)
        };
        !fault.code.starts_with("E-UNINIT-") || read.is_empty() || !races.iter().any(same)
    });
}

/// A trap with its places in the source and in the PTX, and which thread it was.
fn story(run: &Run<'_>, source: &str, kernel: &str, block: u64, warp: u32, trap: Trap) -> Fault {
    let (positions, ptx) = trap.pc.map(|pc| place(run.code, run.module, source, pc)).unwrap_or_default();
    let thread = (trap.lanes != 0).then(|| run.thread(32 * warp + trap.lanes.trailing_zeros()));
    let related = trap.parties.into_iter().map(|party| {
        let (source, ptx) = place(run.code, run.module, source, party.pc);
        Related {
            label: party.label,
            source,
            ptx,
            block: party.block.map(|block| run.block(block)),
            thread: party.thread.map(|thread| run.thread(thread)),
        }
    });
    Fault {
        label: trap.label,
        notes: trap.notes,
        help: trap.help,
        kernel: kernel.into(),
        source: positions,
        ptx,
        block: Some(run.block(block)),
        thread,
        lanes: trap.lanes.count_ones(),
        related: related.collect(),
        buffer: trap.buffer,
        ..Fault::new(trap.code, trap.blame, trap.title)
    }
}

/// An instruction's position in the source and in the PTX.
pub(super) fn place(code: &Code, module: &Module, source: &str, pc: u32) -> (Vec<SourcePosition>, Option<PtxPosition>) {
    let Some(origin) = code.origins.get(pc as usize) else { return Default::default() };
    let position = fusion_ptx::position(source, origin.span);
    let text = source.get(origin.span.start as usize..origin.span.end as usize).unwrap_or(position.text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (positions(module, nearest(code, module, pc).or(origin.loc)), Some(PtxPosition { line: position.line, text }))
}

/// The `.loc` of an instruction, or of the nearest one before it where the compiler knew no line for this one.
fn nearest(code: &Code, module: &Module, pc: u32) -> Option<LocId> {
    let start = code.functions.iter().flatten().map(|f| f.start).filter(|&start| start <= pc).max()?;
    let locs = code.origins.get(start as usize..=pc as usize)?.iter().rev().filter_map(|origin| origin.loc);
    locs.into_iter().find(|loc| module.locations.get(loc.index()).is_some_and(|l| l.line > 0))
}

/// Calls inside of calls that a report shows: nobody reads more, and nothing but recursion in a compiler's hands is deeper.
const MAX_POSITIONS: usize = 64;

/// The chain of a `.loc`: innermost first, then the calls that it was inlined into.
fn positions(module: &Module, loc: Option<LocId>) -> Vec<SourcePosition> {
    let mut positions = Vec::new();
    let mut next = loc;
    while let Some(location) = next.and_then(|l| module.locations.get(l.index()))
        && positions.len() < MAX_POSITIONS
    {
        let file = module.files.get(location.file.index());
        positions.push(SourcePosition {
            file: file.map_or_else(String::new, |f| f.path.clone()),
            line: location.line,
            column: location.column,
            function: location.function.as_deref().map(report::demangle),
        });
        // An entry's caller always has the smaller index; whoever breaks that is not followed in circles.
        next = location.inlined_at.filter(|caller| next.is_some_and(|l| *caller < l));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Vec<SourcePosition> {
        vec![SourcePosition { file: "a.cu".into(), line, column: 5, function: None }]
    }

    /// The other party of the race writes, and that of the undefined value reads.
    fn fault(code: &str, name: &str, source: u32, other: u32) -> Fault {
        let buffer = Buffer { name: name.into(), ..Buffer::default() };
        let related = vec![Related { source: at(other), ..Related::default() }];
        Fault { source: at(source), related, buffer: Some(buffer), ..Fault::new(code, Blame::Kernel, "") }
    }

    #[test]
    fn a_race_explains_what_its_read_found() {
        let kept = |other: Fault| {
            let mut faults = vec![other, fault("E-UNINIT-SHARED", "tile", 9, 7)];
            without_consequences(&mut faults);
            faults.len() == 2
        };
        assert!(!kept(fault("E-RACE-SHARED", "tile", 7, 5)));
        assert!(!kept(fault("E-RACE-SHARED", "tile", 5, 7)));
        assert!(kept(fault("E-RACE-SHARED", "tile", 9, 5)), "another read");
        assert!(kept(fault("E-RACE-SHARED", "halo", 7, 5)), "other memory at the same place");
        assert!(kept(fault("L-SHIFT", "tile", 7, 5)), "no race");
    }

    #[test]
    fn an_atomic_reads_where_it_is() {
        let atomic = Fault { related: vec![], ..fault("E-UNINIT-SHARED", "counts", 7, 0) };
        let mut faults = vec![fault("E-RACE-SHARED", "counts", 5, 7), atomic];
        without_consequences(&mut faults);
        assert_eq!(faults.len(), 1);
    }
}
