//! Faults with their place in the source.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use fusion_ptx::Lines;
use fusion_ptx::ast::{LocId, Module, Span};

use crate::code::Code;
use crate::exec::{Finding, Run, Stopped, Trap};
use crate::report::kind::Refusal;
use crate::report::{self, Class, Fault, Name, PtxPosition, Related, Severity, SourcePosition};

/// A launch that was refused, as a fault.
pub(super) fn refused(kernel: &str, refusal: Refusal) -> Box<Fault> {
    Box::new(Fault { kernel: kernel.into(), ..Fault::new(refusal) })
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
    let Finding { block, warp, trap, count } = finding;
    Fault { count, ..story(run, source, kernel, block, warp, *trap) }
}

/// One fault a place in the source: the compiler may have made several instructions of one, by unrolling a loop. The first
/// one tells the story, and counts for all.
pub(super) fn by_source(faults: impl Iterator<Item = Fault>) -> Vec<Fault> {
    let mut kept: Vec<Fault> = Vec::new();
    let places = |fault: &Fault| -> Vec<Vec<SourcePosition>> {
        std::iter::once(&fault.source).chain(fault.related.iter().map(|party| &party.source)).cloned().collect()
    };
    for fault in faults {
        let same = |known: &&mut Fault| known.code() == fault.code() && places(known) == places(&fault);
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
    let name = |fault: &Fault| fault.buffer.as_ref().map(|buffer| buffer.name.clone());
    // Without line tables the instruction is all that is known of a place.
    let place = |source: &[SourcePosition], ptx: &Option<PtxPosition>| match source {
        [] => (Vec::new(), ptx.clone()),
        _ => (source.to_vec(), None),
    };
    let is_race = |fault: &&Fault| fault.code().class() == Class::Race && fault.severity() == Severity::Error;
    let races: Vec<(Option<Name>, _)> = (faults.iter())
        .filter(is_race)
        .flat_map(|fault| {
            let others = fault.related.iter().map(|party| place(&party.source, &party.ptx));
            std::iter::once(place(&fault.source, &fault.ptx)).chain(others).map(|place| (name(fault), place))
        })
        .collect();
    let nowhere = (Vec::new(), None);
    faults.retain(|fault| {
        let own = place(&fault.source, &fault.ptx);
        if fault.code() == report::Code::RaceBenign {
            return own == nowhere || !races.iter().any(|(_, place)| *place == own);
        }
        // The read is the other party, unless it is an atomic's own.
        let read = fault.related.first().map_or(own, |party| place(&party.source, &party.ptx));
        let same = |(raced, place): &(Option<Name>, _)| *place == read && *raced == name(fault);
        fault.code().class() != Class::Init || read == nowhere || !races.iter().any(same)
    });
}

/// A trap with its places in the source and in the PTX, and which thread it was.
fn story(run: &Run<'_>, source: &str, kernel: &str, block: u64, warp: u32, trap: Trap) -> Fault {
    let (positions, ptx) = trap.pc.map(|pc| place(run.code, run.module, source, pc)).unwrap_or_default();
    let thread = (trap.lanes != 0).then(|| run.thread(32 * warp + trap.lanes.trailing_zeros()));
    let related = trap.parties.into_iter().map(|party| {
        let (source, ptx) = place(run.code, run.module, source, party.pc);
        Related {
            role: party.role,
            source,
            ptx,
            block: party.block.map(|block| run.block(block)),
            thread: party.thread.map(|thread| run.thread(thread)),
        }
    });
    Fault {
        kernel: kernel.into(),
        source: positions,
        ptx,
        block: Some(run.block(block)),
        thread,
        lanes: trap.lanes.count_ones(),
        related: related.collect(),
        buffer: trap.buffer,
        ..Fault::new(trap.kind)
    }
}

/// An instruction as the PTX has it, with one space between its words.
pub(super) fn text(code: &Code, source: &str, pc: u32) -> Option<String> {
    let span = code.origins.get(pc as usize)?.span;
    let text = source.get(span.start as usize..span.end as usize)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Where an instruction stands: in the source, innermost first, and in the PTX.
pub(super) type Place = (Vec<SourcePosition>, Option<PtxPosition>);

/// An instruction's position in the source and in the PTX.
pub(super) fn place(code: &Code, module: &Module, source: &str, pc: u32) -> Place {
    let line = |span| fusion_ptx::position(source, span).line;
    place_by(code, module, source, pc, &line, &report::demangle)
}

/// The same for many instructions of one module. A report has a handful of places; a time has one for each instruction, and
/// of thousands the lines and the functions' names would be looked for again and again. It is of the one module that it is
/// first asked about.
#[derive(Debug, Default)]
pub(super) struct Places {
    lines: OnceLock<Lines>,
    /// What the functions that were inlined are called.
    functions: OnceLock<HashMap<String, String>>,
}

impl Places {
    pub(super) fn place(&self, code: &Code, module: &Module, source: &str, pc: u32) -> Place {
        let lines = self.lines.get_or_init(|| Lines::of(source));
        let functions = self.functions.get_or_init(|| {
            let mangled: HashSet<&String> =
                module.locations.iter().filter_map(|location| location.function.as_ref()).collect();
            mangled.into_iter().map(|name| (name.clone(), report::demangle(name))).collect()
        });
        let function = |name: &str| functions.get(name).cloned().unwrap_or_else(|| report::demangle(name));
        place_by(code, module, source, pc, &|span| lines.line(span), &function)
    }
}

fn place_by(
    code: &Code,
    module: &Module,
    source: &str,
    pc: u32,
    line: &dyn Fn(Span) -> u32,
    function: &dyn Fn(&str) -> String,
) -> Place {
    let Some(origin) = code.origins.get(pc as usize) else { return Default::default() };
    let text = text(code, source, pc).unwrap_or_default();
    let ptx = PtxPosition { line: line(origin.span), text, line_table: !module.locations.is_empty() };
    (positions(module, nearest(code, module, pc).or(origin.loc), function), Some(ptx))
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
fn positions(module: &Module, loc: Option<LocId>, function: &dyn Fn(&str) -> String) -> Vec<SourcePosition> {
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
            function: location.function.as_deref().map(function),
        });
        // An entry's caller always has the smaller index; whoever breaks that is not followed in circles.
        next = location.inlined_at.filter(|caller| next.is_some_and(|l| *caller < l));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::kind::{Arithmetic, Does, Hazard, Init, Race, Rule, Side, Undefined, Use};
    use crate::report::{Buffer, Kind, Role};

    fn at(line: u32) -> Vec<SourcePosition> {
        vec![SourcePosition { file: "a.cu".into(), line, column: 5, function: None }]
    }

    fn fault(kind: impl Into<Kind>, name: &str, source: u32, other: u32) -> Fault {
        let name = Name::Variable(name.into());
        let buffer = Buffer { name, argument: None, size: 64, offset: 0, bytes: 4 };
        let related = vec![Related { source: at(other), ..Related::new(Role::Access) }];
        Fault { source: at(source), related, buffer: Some(buffer), ..Fault::new(kind) }
    }

    fn race(name: &str, source: u32, other: u32) -> Fault {
        let side = Side { does: Does::Writes, strong: false, bytes: 4, buffer: None };
        let race = Race {
            rule: Rule::Shared,
            hazard: Hazard::Read,
            one: side.clone(),
            other: side,
            grid: [1; 3],
            block: [64, 1, 1],
            same_block: true,
            same_warp: false,
            same_instruction: false,
            update: false,
            unfenced: false,
            locked: None,
            next_round: false,
            bulk: false,
            communicates: false,
            lone_warps: false,
        };
        fault(race, name, source, other)
    }

    fn undefined(name: &str, source: u32, other: u32) -> Fault {
        fault(Init::Used { what: Undefined::Shared, by: Use::Branch, bytes: 4, others: false }, name, source, other)
    }

    /// The other party of the race writes, and that of the undefined value reads.
    #[test]
    fn a_race_explains_what_its_read_found() {
        let kept = |other: Fault| {
            let mut faults = vec![other, undefined("tile", 9, 7)];
            without_consequences(&mut faults);
            faults.len() == 2
        };
        assert!(!kept(race("tile", 7, 5)));
        assert!(!kept(race("tile", 5, 7)));
        assert!(kept(race("tile", 9, 5)), "another read");
        assert!(kept(race("halo", 7, 5)), "other memory at the same place");
        assert!(kept(fault(Arithmetic::Shift { bits: 32, amount: 32 }, "tile", 7, 5)), "no race");
    }

    #[test]
    fn an_atomic_reads_where_it_is() {
        let atomic = Fault { related: vec![], ..undefined("counts", 7, 0) };
        let mut faults = vec![race("counts", 5, 7), atomic];
        without_consequences(&mut faults);
        assert_eq!(faults.len(), 1);
    }
}
