//! Races in words.

use std::collections::HashMap;

use super::compare::{Clash, Past};
use super::row::{Kind, Row};
use crate::code::{AddressOf, MicroOp, Place};
use crate::exec::fault;
use crate::exec::finding::{Findings, Site};
use crate::exec::grid::Run;
use crate::exec::trap::{Party, Trap};
use crate::exec::watch::Touch;
use crate::report::{Buffer, Severity};

/// What a report is made from.
pub(super) struct Story<'s, 'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) findings: &'s mut Findings,
    pub(super) touch: &'s Touch<'s>,
    pub(super) past: &'s Past<'s>,
    /// When each instruction last wrote: `[instruction][warp]`.
    pub(super) wrote: &'s [u32],
    pub(super) waits: &'s HashMap<u32, (u32, Option<u32>)>,
}

/// One side of a race.
#[derive(Clone, Copy)]
struct Side {
    row: Row,
    lane: usize,
}

/// In which order a program that is like its neighbours would have made the two accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hazard {
    /// A read of what was to be written before.
    Read,
    /// A write of what was to be read before.
    Overwrite,
    Writes,
}

impl Side {
    fn thread(&self) -> u32 {
        self.row.thread(self.lane)
    }

    /// What two sides do, of both.
    fn do_both(&self, other: &Self) -> &'static str {
        match (self.does(), other.does()) {
            ("updates", "updates") => "update",
            ("writes", "writes") => "write",
            ("copies into", "copies into") => "copy into",
            _ => "access",
        }
    }

    fn does(&self) -> &'static str {
        let kind = self.row.kind;
        if kind.is(Kind::ATOMIC) {
            "updates"
        } else if kind.is(Kind::COPIED) {
            "copies into"
        } else if kind.writes() {
            "writes"
        } else {
            "reads"
        }
    }
}

/// `3`, or `(3, 1, 0)` where there is more than one dimension.
fn index(at: [u32; 3], dims: [u32; 3]) -> String {
    match dims {
        [_, 1, 1] => at[0].to_string(),
        [_, _, 1] => format!("({}, {})", at[0], at[1]),
        _ => format!("({}, {}, {})", at[0], at[1], at[2]),
    }
}

/// A buffer's name, as code if it is one.
fn named(name: &str) -> String {
    if name.contains(' ') { name.to_string() } else { format!("`{name}`") }
}

/// `tile[3]`: counted in what the thread accesses there.
fn element(buffer: Option<&Buffer>, bytes: u64) -> String {
    match buffer {
        Some(b) if matches!(bytes, 1 | 2 | 4 | 8) && b.offset >= 0 && b.offset.unsigned_abs().is_multiple_of(bytes) => {
            let at = b.offset.unsigned_abs() / bytes;
            match () {
                () if b.size <= bytes => named(&b.name),
                () if b.name.contains(' ') => format!("element {at} of {}", b.name),
                () => format!("`{}[{at}]`", b.name),
            }
        }
        Some(b) => {
            format!("bytes {} to {} of {}", b.offset, b.offset.saturating_add_unsigned(bytes) - 1, named(&b.name))
        }
        None => "it".into(),
    }
}

impl Story<'_, '_> {
    /// Whether the reader's warp has come past the write since the last barrier.
    fn hazard(&self, one: &Row, other: &Row) -> Hazard {
        if one.kind.writes() && other.kind.writes() {
            return Hazard::Writes;
        }
        if one.block != other.block {
            return Hazard::Read;
        }
        let (read, write) = if one.kind.writes() { (other, one) } else { (one, other) };
        let warps = self.past.clocks.warps.len();
        let known = self.wrote.get(write.pc as usize * warps + usize::from(read.warp)).copied().unwrap_or(0);
        let passed = match known >= self.past.clocks.start {
            true => known >= self.past.clocks.block && known <= read.stamp,
            false => write.pc < read.pc,
        };
        if passed { Hazard::Read } else { Hazard::Overwrite }
    }

    pub(super) fn race(&mut self, line: u64, clash: &Clash) {
        let earlier = Side { row: clash.earlier, lane: clash.other };
        let later = Side { row: clash.later, lane: clash.lane };
        let (one, other) = (&earlier.row, &later.row);
        let hazard = self.hazard(one, other);
        // The pair is told the same way round whichever came first here: by chance it is otherwise elsewhere.
        let first_is_subject = match hazard {
            _ if one.kind.is(Kind::PENDING) => false,
            _ if one.kind.is(Kind::STRONG) != other.kind.is(Kind::STRONG) => other.kind.is(Kind::STRONG),
            Hazard::Read => other.kind.writes(),
            Hazard::Overwrite => one.kind.writes(),
            Hazard::Writes => (one.block, earlier.thread()) > (other.block, later.thread()),
        };
        let (subject, party) = if first_is_subject { (earlier, later) } else { (later, earlier) };
        let (code, severity) = match () {
            () if one.kind.is(Kind::PENDING) => ("E-RACE-ASYNC", Severity::Error),
            () if one.kind.both_strong(other.kind) => ("E-RACE-SCOPE", Severity::Error),
            () if clash.benign => ("W-RACE-BENIGN", Severity::Warning),
            () if self.touch.place == Place::Shared => ("E-RACE-SHARED", Severity::Error),
            () if one.block != other.block => ("E-RACE-BLOCKS", Severity::Error),
            () => ("E-RACE-GLOBAL", Severity::Error),
        };
        let site = Site { code, pc: subject.row.pc, other: party.row.pc };
        let unfenced = self.past.views.would_cover(later.thread(), one.block, one.warp, earlier.thread(), one.stamp);
        let (run, place) = (self.run, self.touch.place);
        let wait = self.waits.get(&u32::from(party.row.warp)).copied();
        let pair = Pair { run, place, line, code, hazard, subject, party, unfenced, wait };
        let (block, warp) = (u64::from(subject.row.block), u32::from(subject.row.warp));
        self.findings.add(site, block, warp, u64::from(clash.lanes.count_ones()), || (severity, pair.tell()));
    }
}

/// A race to be told.
struct Pair<'a> {
    run: &'a Run<'a>,
    place: Place,
    /// The address of the line that it is about.
    line: u64,
    code: &'static str,
    hazard: Hazard,
    subject: Side,
    party: Side,
    /// A fence behind an atomic would have ordered the two.
    unfenced: bool,
    /// For asynchronous copies: the last wait of the thread that copies, and how many groups that leaves under way.
    wait: Option<(u32, Option<u32>)>,
}

impl Pair<'_> {
    fn thread(&self, side: &Side) -> String {
        index(self.run.thread(side.thread()), self.run.launch.block)
    }

    fn block(&self, side: &Side) -> String {
        index(self.run.block(u64::from(side.row.block)), self.run.launch.grid)
    }

    /// The memory that a side accesses, and what to call it.
    fn buffer(&self, side: &Side) -> (Option<Buffer>, String) {
        let (low, high) = side.row.range(side.lane);
        let bytes = (high - low) as u64;
        let buffer = fault::buffer(self.run, self.place, self.line.wrapping_add_signed(i64::from(low)), bytes);
        let name = element(buffer.as_ref(), bytes);
        (buffer, name)
    }

    fn blocks_differ(&self) -> bool {
        self.subject.row.block != self.party.row.block
    }

    fn warps_differ(&self) -> bool {
        !self.subject.row.same_warp(&self.party.row)
    }

    /// The two are the read and the write of one statement that changes one element, `x += 1`. In `x[i] += x[i + 1]` the read
    /// of the other element is none of it.
    fn is_update(&self) -> bool {
        let (one, two) = (&self.subject.row, &self.party.row);
        one.pc != two.pc
            && one.kind.writes() != two.kind.writes()
            && !one.kind.is(Kind::STRONG)
            && !two.kind.is(Kind::STRONG)
            && self.run.place(one.pc) == self.run.place(two.pc)
            && self.address(one.pc) == self.address(two.pc)
    }

    /// How the address of an access is made.
    fn address(&self, pc: u32) -> Option<AddressOf> {
        match self.run.code.insts.get(pc as usize)?.op {
            MicroOp::Load(index) | MicroOp::Store(index) => Some(self.run.code.accesses.get(index as usize)?.address),
            _ => None,
        }
    }

    fn tell(&self) -> Box<Trap> {
        let (subject, party) = (&self.subject, &self.party);
        let (buffer, what) = self.buffer(subject);
        let (_, theirs) = self.buffer(party);
        let it = if theirs == what { "it" } else { &theirs };
        let name = buffer.as_ref().map_or_else(|| "memory".to_string(), |b| named(&b.name));
        let (does, did) = (subject.does(), party.does());
        let (me, them) = match self.blocks_differ() {
            true => (format!("block {}", self.block(subject)), format!("block {}", self.block(party))),
            false => (format!("thread {}", self.thread(subject)), format!("thread {}", self.thread(party))),
        };
        let overwrites = self.hazard == Hazard::Overwrite && subject.row.kind.writes() && !party.row.kind.writes();
        let title = match self.code {
            "E-RACE-ASYNC" => format!("{me} {does} {name} while an asynchronous copy into it may be under way"),
            "E-RACE-SCOPE" => {
                format!("{me} and {them} {} {name} by atomics that do not reach each other", subject.do_both(party))
            }
            "W-RACE-BENIGN" => format!("{me} and {them} write the same value to {name}, and nothing orders the two"),
            _ if overwrites => format!("{me} overwrites what {them} still reads, and nothing orders the two"),
            _ if does == did => {
                format!("{me} and {them} both {} {name}, and nothing orders the two", subject.do_both(party))
            }
            _ => format!("{me} {does} what {them} {did}, and nothing orders the two"),
        };
        let starts = self.code == "E-RACE-ASYNC";
        let theirs = match starts {
            true => format!("thread {} of block {} starts the copy here", self.thread(party), self.block(party)),
            false => format!("thread {} of block {} {did} {it} here", self.thread(party), self.block(party)),
        };
        let trap = Trap::new(self.code, 1 << subject.lane, title)
            .at(subject.row.pc)
            .label(format!("thread {} of block {} {does} {what} here", self.thread(subject), self.block(subject)))
            .party(Party {
                label: theirs,
                pc: party.row.pc,
                block: Some(u64::from(party.row.block)),
                thread: Some(party.thread()),
            })
            .about(buffer);
        self.advise(trap, &name)
    }

    /// Why it is a race, and what to do.
    fn advise(&self, trap: Box<Trap>, name: &str) -> Box<Trap> {
        let (one, two) = (&self.subject.row, &self.party.row);
        match self.code {
            "E-RACE-ASYNC" => {
                let own = self.subject.thread() == self.party.thread();
                let label = |groups: u32| match groups {
                    0 => "this wait came before the copy was committed".to_string(),
                    1 => "this wait leaves the newest group of copies under way".to_string(),
                    n => format!("this wait leaves the newest {n} groups of copies under way"),
                };
                let trap = match self.wait {
                    Some((pc, groups)) => {
                        trap.party(Party { label: label(groups.unwrap_or(0)), pc, block: None, thread: None })
                    }
                    None => trap.note("nothing has waited for a copy so far"),
                };
                let trap = trap.help(
                    "wait for the copy's group: `__pipeline_wait_prior(n)` (`cp.async.wait_group n`) leaves the newest n groups \
                     under way, so n is at most the number of groups committed after the copy's own",
                );
                return match own {
                    true => trap.note("a barrier does not wait for asynchronous copies"),
                    false => trap.note(
                        "each thread waits for its own copies, then comes `__syncthreads()`, then all may read: a barrier alone \
                         waits for no copy",
                    ),
                };
            }
            "E-RACE-SCOPE" => {
                return trap
                    .note("an atomic with block scope (`..._block`, `.cta`) is atomic for the threads of its own block only")
                    .help("use the atomic without `_block`: its scope is the whole device");
            }
            "W-RACE-BENIGN" => {
                return trap
                    .note(
                        "the result is the same whoever comes last; by the memory model it is a data race all the same",
                    )
                    .help("let one thread write it; or say that it is meant, with `atomicExch` or a volatile pointer");
            }
            _ => {}
        }
        let strong = one.kind.is(Kind::STRONG) || two.kind.is(Kind::STRONG);
        if self.is_update() {
            return trap
                .note("reading, adding and writing back are three steps: another thread's result can be lost between them")
                .help(format!("make it one step with an atomic (`atomicAdd`, `atomicMax`, ...) on {name}, or let one thread of the whole launch do it"));
        }
        if self.blocks_differ() {
            let trap = trap
                .note("blocks run in any order and at once; `__syncthreads()` orders the threads of one block only");
            return match () {
                () if self.unfenced => trap.help(
                    "add `__threadfence()` behind the atomic or flag by which the reader learns of the write, \
                     before it reads (before the barrier, where other threads of its block read)",
                ),
                () if self.run.code.communicates && !strong => trap.help(
                    "an atomic or a flag orders the two only with fences: `__threadfence()` between the write and the atomic \
                     that announces it, and another between the atomic that sees it and the read (for the whole grid at once: \
                     `grid.sync()` in a cooperative launch)",
                ),
                () if strong => trap.help(
                    "make both accesses atomic (or volatile), or let a second launch make the one that is not",
                ),
                () if self.hazard == Hazard::Writes => {
                    trap.help("give each block its own elements, let one block write, or combine the values with an atomic")
                }
                () => trap.help(
                    "let the block that needs the value compute it, or put the two into two launches: the second begins when \
                     the first has ended",
                ),
            };
        }
        if strong {
            return trap
                .note("an atomic orders nothing but other atomics on the same place")
                .help(format!("make the other access atomic too, or put `{}` between the two", self.barrier()));
        }
        let between = format!("put `{}` between", self.barrier());
        let trap = match self.warps_differ() {
            true => trap,
            false => trap.note("the threads of a warp need not run in step: each has a program counter of its own"),
        };
        // Which threads race depends on the size of the problem: those of a block may all do what these two of a warp did.
        let trap = match self.warps_differ() || self.run.warps == 1 {
            true => trap,
            false => trap.note("if threads of other warps come to this memory too, only `__syncthreads()` orders them"),
        };
        match self.hazard {
            Hazard::Read => trap.help(format!("{between} the write and the read")),
            Hazard::Overwrite => trap.help(format!(
                "{between} the read and the next write to the same place: at the end of a loop's body, or where memory is used a \
                 second time, as by another call of the same function"
            )),
            Hazard::Writes if one.pc == two.pc => {
                trap.help("give each thread an element of its own, let one thread write, or combine the values with an atomic")
            }
            Hazard::Writes => trap.help(format!("{between} the two writes, or let one thread make both")),
        }
    }

    /// The smallest barrier that orders the two.
    fn barrier(&self) -> &'static str {
        if self.warps_differ() { "__syncthreads()" } else { "__syncwarp()" }
    }
}
