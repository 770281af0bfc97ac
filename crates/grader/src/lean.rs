//! Does it move no more than it must? Exact, from the emulated device's counters.

mod unseen;

use fusion_course::{Access, Exercise, Extent, Param, Shape};
use fusion_diagnostic::{Diagnostic, counted, noun};
use fusion_machine::report::{Class, Traffic};
use fusion_machine::{Counters, LaunchReport, Report};
use serde::{Deserialize, Serialize};

use crate::explain;
use crate::judgement::{Code, Evidence, Failure, Part, Side, Verdict, Witness};
use crate::survey::Survey;
use crate::trial::Trial;
use crate::trouble::Trouble;

/// How much more than the minimum may reach DRAM: sectors at the ends of buffers, small tables.
const ALLOWANCE: f64 = 0.02;

/// Bytes of a sector, the unit in which DRAM is read and written.
const SECTOR: u64 = 32;

/// The part of the bytes an access asked for that is enough: a tail of narrow accesses is a few of many, and one array
/// of two that is read narrowly is far below.
const WIDE: f64 = 0.9;

/// Threads of a warp.
const LANES: u64 = 32;

/// Exact counts of the emulated device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lean {
    /// The problem that was counted.
    pub shape: String,
    /// Kernel launches, copies and memsets. `needed` is what the exercise allows.
    pub launches: Beside,
    /// `1 launch and 2 copies`, where there are not launches alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works: Option<String>,
    /// Bytes that must reach DRAM: distinct sectors read and written, summed over launches.
    pub dram_bytes: Beside,
    /// Bytes that the threads asked for.
    pub requested_bytes: Beside,
    /// Sectors for each warp request: 4 is ideal for 4-byte accesses, 16 for 16-byte ones.
    pub sectors_per_request: Sectors,
    /// Bytes of a thread's access to global memory, on average.
    pub bytes_per_access: Sectors,
    /// Device allocations that the launch function made, and their bytes.
    pub allocations: u64,
    pub allocated_bytes: u64,
    /// That the launch asks for more shared memory than its kernel has a use for: where it is slow, that comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused_shared: Option<Box<Diagnostic>>,
    /// `3.0 N moved, 2.0 N needed`, in units of the first input.
    pub summary: String,
}

/// A count beside what is needed and what the unfused chain has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    pub yours: u64,
    pub needed: u64,
    pub unfused: u64,
}

/// Sectors for each warp request on global memory, or bytes for each access; `None` where there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sectors {
    pub load: Option<f64>,
    pub store: Option<f64>,
}

impl Evidence for Lean {
    const NAME: &'static str = "lean";
    const WITNESS: Witness = Witness::Emulated;

    /// A failure at these sizes is one of correctness, but *right* has been told already.
    fn judge(trial: &Trial<'_>) -> Result<Part<Self>, Trouble> {
        let surveys = trial.surveys()?;
        let part =
            Part::worst(surveys.iter().map(|survey| judge_shape(trial.exercise(), survey, trial.scope.rung)).collect());
        if part.failure.is_some() {
            return Ok(part);
        }
        // Not at the large sizes.
        let allocated = trial.allocations().map(|(shape, count)| {
            let title = format!("the launch function allocates device memory: {}", counted(count, "allocation"));
            Failure::new(Code::Allocations, title).note(FUSED).at(trial.name(shape))
        });
        Ok(match allocated.map_or_else(|| unseen::judge(trial), |failure| Ok(Some(failure)))? {
            Some(failure) => Part { verdict: Verdict::Fail, failure: Some(failure), ..part },
            None => part,
        })
    }

    fn cell(&self, part: &Part<Self>) -> Option<String> {
        let launches = match &self.works {
            Some(works) => works.clone(),
            None => counted(self.launches.yours, "launch"),
        };
        let others = part.shapes.len();
        let shapes = if others == 0 { String::new() } else { format!(", {} shapes", 1 + others) };
        Some(format!("{launches}, {}{shapes}", self.summary))
    }

    /// How many times what is needed may be moved: the less, the nearer to failing.
    fn margin(&self) -> f64 {
        self.dram_bytes.needed as f64 / self.dram_bytes.yours.max(1) as f64
    }

    /// Shared memory that is asked for in vain makes slow. A GPU is given more rows, and rows as long.
    fn blames(&self, failure: &Failure) -> Option<(Side, &Diagnostic)> {
        let row = |shape: &str| shape.rsplit(" x ").next().map(str::to_owned);
        let here = failure.shape.as_deref().is_some_and(|shape| row(shape) == row(&self.shape));
        let unused = self.unused_shared.as_deref().filter(|_| failure.code == Code::Speed && here)?;
        Some((Side::Launch, unused))
    }

    /// What costs time is advised on here, and explains what is slow, too.
    fn explains(code: Code) -> bool {
        matches!(
            code,
            Code::Launches
                | Code::Bytes
                | Code::Reuse
                | Code::Unseen
                | Code::Access
                | Code::Allocations
                | Code::Speed
                | Code::Impossible
        )
    }
}

/// What to do instead of allocating memory.
pub(crate) const FUSED: &str = "a fused kernel keeps what is between its steps in registers";

fn judge_shape(exercise: &Exercise, survey: &Survey, rung: bool) -> Part<Lean> {
    let Survey { shape, submission, unfused } = survey;
    let needed = exercise.minimum_bytes(*shape);
    let dram = Beside { yours: dram_bytes(submission), needed, unfused: dram_bytes(unfused) };
    let launches =
        Beside { yours: launches(submission), needed: u64::from(exercise.launches), unfused: launches(unfused) };
    let mut summary = summary(exercise, *shape, &dram);
    if let Some(served) = served(exercise, *shape, submission) {
        summary += &format!(", {served:.0} multiply-adds per load");
    }
    let lean = Lean {
        shape: shape.to_string(),
        launches,
        works: (submission.copies > 0).then(|| works(submission)),
        dram_bytes: dram,
        requested_bytes: Beside { yours: requested(submission), needed, unfused: requested(unfused) },
        sectors_per_request: per_request(submission, |traffic| (traffic.sectors, traffic.requests)),
        bytes_per_access: per_request(submission, |traffic| (traffic.bytes, traffic.requests * LANES)),
        allocations: submission.allocations,
        allocated_bytes: submission.allocated_bytes,
        unused_shared: survey.unused_shared(exercise).map(Box::new),
        summary: summary.clone(),
    };
    let mut advice = Vec::new();
    explain::gather(&mut advice, explain::told(&submission.advice, |class| class == Class::Speed));
    let buffers = (exercise.inputs.len() + exercise.outputs.len()) as u64;
    let allowed = (needed as f64 * (1.0 + ALLOWANCE)) as u64 + 2 * buffers * SECTOR;
    let failure = if launches.yours > launches.needed {
        let what = works(submission);
        let title = format!("{what}, where {} will do", counted(launches.needed, "launch"));
        let mut failure = Failure::new(Code::Launches, title);
        // Copies, and a kernel that is launched again, are the launch function's. Several kernels are to be made one.
        let mut kernels: Vec<&str> = submission.launches.iter().map(|launch| launch.kernel.as_str()).collect();
        kernels.sort_unstable();
        if submission.copies > 0 || kernels.windows(2).any(|pair| pair[0] == pair[1]) {
            failure.side = Some(Side::Launch);
        }
        Some(failure)
    } else if dram.yours > allowed {
        Some(Failure::new(Code::Bytes, format!("more bytes than needed: {summary}")))
    } else if submission.allocations > 0 {
        let title = format!(
            "the launch function allocates device memory: {}, {} in all",
            counted(submission.allocations, "allocation"),
            counted(submission.allocated_bytes, "byte")
        );
        Some(Failure::new(Code::Allocations, title).note(FUSED))
    } else {
        None
    };
    let failure = match failure {
        Some(failure) if failure.code != Code::Allocations && submission.allocations > 0 => Some(
            notes(failure, exercise, *shape, submission, &summary)
                .note("it also allocates device memory, which a fused kernel does not need"),
        ),
        Some(failure) => Some(notes(failure, exercise, *shape, submission, &summary)),
        None => too_often(exercise, *shape, submission)
            .filter(|_| !rung)
            .or_else(|| too_narrow(exercise.access, lean.bytes_per_access)),
    };
    let said = failure.map_or_else(Part::pass, |failure| Part::refused(failure.at(exercise.shapes.describe(*shape))));
    Part { advice, ..said.with(lean) }
}

/// Elements of a product's factors that serve too few multiply-adds each time that they are loaded, as a failure.
///
/// DRAM does not tell: what is loaded again comes from a cache there, and takes its time.
fn too_often(exercise: &Exercise, shape: Shape, report: &Report) -> Option<Failure> {
    let (served, asked) = (served(exercise, shape, report)?, exercise.reuse as f64);
    let edge = 2 * exercise.reuse;
    (served < asked).then(|| {
        Failure::new(
            Code::Reuse,
            format!("an element that is loaded serves {served:.1} multiply-adds, and {asked} are asked for"),
        )
        .note(format!(
            "to add one term to each sum of a tile of {edge} x {edge}, a block needs {} elements and does {} multiply-adds: {asked} \
             for each",
            2 * edge,
            edge * edge
        ))
        .note("what a block loads goes into shared memory once, and all of its warps read it there")
    })
}

/// How many multiply-adds an element serves that is loaded from global memory, in a product of matrices. What is read beside the
/// factors counts as loaded once for each element of the result, unless less than the factors is left then: each of their elements
/// is loaded once at least.
fn served(exercise: &Exercise, shape: Shape, report: &Report) -> Option<f64> {
    if !exercise.is_product() {
        return None;
    }
    let element = exercise.inputs.first()?.dtype.bytes() as u64;
    let is_factor = |param: &&Param| matches!(param.extent, Extent::Left | Extent::Right);
    let (factors, others): (Vec<&Param>, Vec<&Param>) = exercise.inputs.iter().partition(is_factor);
    let bytes: u64 = report.launches.iter().map(|launch| launch.counters.global_load.bytes).sum();
    let loaded = (bytes / element).saturating_sub((others.len() * shape.elements()) as u64);
    let least: usize = factors.iter().map(|param| param.len(shape)).sum();
    Some(exercise.work(shape) as f64 / loaded.max(least as u64).max(1) as f64)
}

/// Loads or stores of fewer bytes than are asked for, as a failure.
///
/// The average counts idle lanes as lanes that ask for nothing, so no way to spread the work looks wider than it is.
fn too_narrow(asked: Access, bytes: Sectors) -> Option<Failure> {
    let kinds = [("load", bytes.load, asked.load), ("store", bytes.store, asked.store)];
    let narrow =
        kinds.into_iter().find(|(_, bytes, asked)| bytes.is_some_and(|bytes| bytes < WIDE * f64::from(*asked)));
    let (kind, bytes, asked) = narrow?;
    let average = units((100.0 * bytes?).round() as u64, 100);
    let bytes = noun(if average == "1" { 1 } else { 2 }, "byte");
    let title = format!("a thread {kind}s {average} {bytes} at a time, and {asked} are asked for");
    Some(
        Failure::new(Code::Access, title)
            .note("that is the average over all accesses to global memory; a thread without work counts as one of no bytes")
            .note(format!(
                "one instruction can {kind} 16 bytes per thread: read a `float4`, or reinterpret an aligned pointer as one to \
                 a vector type, and keep a narrow loop for the elements that fill no vector"
            )),
    )
}

/// Whether each of several launches moves what a single one has to, by the same arguments.
fn each_is_whole(exercise: &Exercise, shape: Shape, report: &Report) -> bool {
    let needed = (exercise.read_bytes(shape), exercise.written_bytes(shape));
    let [first, rest @ ..] = &report.launches[..] else { return false };
    let moved = |launch: &LaunchReport| (launch.counters.dram_read_bytes, launch.counters.dram_write_bytes);
    let alike = rest.iter().all(|launch| launch.arguments == first.arguments);
    alike && !rest.is_empty() && report.launches.iter().all(|launch| moved(launch) == needed)
}

/// Where the surplus is.
fn notes(failure: Failure, exercise: &Exercise, shape: Shape, report: &Report, summary: &str) -> Failure {
    let unit = unit(exercise, shape);
    let read: u64 = report.launches.iter().map(|launch| launch.counters.dram_read_bytes).sum();
    let written: u64 = report.launches.iter().map(|launch| launch.counters.dram_write_bytes).sum();
    let surplus = |moved: u64, needed: u64| units(moved.saturating_sub(needed), unit);
    let mut failure = if failure.code == Code::Bytes { failure } else { failure.note(summary.to_owned()) };
    let (more_read, more_written) =
        (surplus(read, exercise.read_bytes(shape)), surplus(written, exercise.written_bytes(shape)));
    if more_written != "0" && each_is_whole(exercise, shape, report) {
        failure.notes.push("all launches have the same arguments, and each reads and writes as much as one alone has to: are all but one for nothing?".to_owned());
        failure.side = Some(Side::Launch);
    } else if more_written != "0" {
        failure.notes.push(format!("{more_written} N written and {more_read} N read beyond inputs and outputs: a result goes out to memory and comes back"));
    } else if more_read != "0" {
        // What one launch reads more than once counts once.
        let why = match report.launches.len() {
            1 => "the output is read back (keep the value in a variable), or something is read that no result needs",
            _ => {
                "an input is read by more than one launch, the output is read back, or something is read that no result needs"
            }
        };
        failure.notes.push(format!("{more_read} N read beyond the inputs: {why}"));
    }
    for launch in &report.launches {
        let counters = &launch.counters;
        failure.notes.push(format!(
            "`{}`: {} N read, {} N written",
            launch.kernel,
            units(counters.dram_read_bytes, unit),
            units(counters.dram_write_bytes, unit)
        ));
    }
    failure
}

/// `3 N moved, 2.5 N needed`, where N is the size of the first input.
fn summary(exercise: &Exercise, shape: Shape, dram: &Beside) -> String {
    let unit = unit(exercise, shape);
    format!("{} N moved, {} N needed", units(dram.yours, unit), units(dram.needed, unit))
}

/// One N, in bytes: an element of the first input that is no table for each element of the shape.
fn unit(exercise: &Exercise, shape: Shape) -> u64 {
    let element = exercise.inputs.iter().find(|param| !param.extent.is_table()).map_or(4, |param| param.dtype.bytes());
    (shape.elements() * element).max(1) as u64
}

/// A multiple of N, with up to two digits behind the point, and none from 100 on: `3`, `1.25`, `1059`.
fn units(bytes: u64, unit: u64) -> String {
    let units = bytes as f64 / unit as f64;
    if units >= 100.0 {
        return format!("{units:.0}");
    }
    let text = format!("{units:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn launches(report: &Report) -> u64 {
    report.launches.len() as u64 + report.copies
}

/// `2 launches and 1 copy`.
fn works(report: &Report) -> String {
    let memsets = report.memsets.min(report.copies);
    let copies = match report.copies - memsets {
        1 => "1 copy".to_owned(),
        copies => format!("{copies} copies"),
    };
    let parts = [
        (report.launches.len() as u64, counted(report.launches.len() as u64, "launch")),
        (report.copies - memsets, copies),
        (memsets, counted(memsets, "memset")),
    ];
    let mut named: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, named)| named).collect();
    let last = named.pop().unwrap_or_else(|| "no launch".to_owned());
    if named.is_empty() { last } else { format!("{} and {last}", named.join(", ")) }
}

fn dram_bytes(report: &Report) -> u64 {
    let launches = report.launches.iter().map(|launch| launch.counters);
    launches.map(|counters| counters.dram_read_bytes + counters.dram_write_bytes).sum::<u64>() + report.copied_bytes
}

fn requested(report: &Report) -> u64 {
    let launches = report.launches.iter().map(|launch| launch.counters);
    launches.map(|c| c.global_load.bytes + c.global_store.bytes + c.global_atomic.bytes).sum()
}

/// A quotient of sums over all loads, and over all stores.
fn per_request(report: &Report, quotient: fn(Traffic) -> (u64, u64)) -> Sectors {
    let ratio = |pick: fn(&Counters) -> Traffic| {
        let parts = report.launches.iter().map(|launch| quotient(pick(&launch.counters)));
        let (above, below) = parts.fold((0, 0), |(a, b), (above, below)| (a + above, b + below));
        (below > 0).then(|| above as f64 / below as f64)
    };
    Sectors { load: ratio(|counters| counters.global_load), store: ratio(|counters| counters.global_store) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::Verdict;
    use fusion_course::day22::add_gelu::EXERCISE;
    use fusion_machine::LaunchReport;

    const N: u64 = 1 << 20;

    /// A launch that reads and writes so many buffers of N floats.
    fn launch(reads: u64, writes: u64) -> LaunchReport {
        let counters =
            Counters { dram_read_bytes: 4 * N * reads, dram_write_bytes: 4 * N * writes, ..Counters::default() };
        LaunchReport { kernel: "k".to_owned(), counters, ..LaunchReport::default() }
    }

    fn judged(submission: Report) -> Part<Lean> {
        let unfused = Report { launches: vec![launch(2, 1), launch(1, 1)], ..Report::default() };
        judge_shape(&EXERCISE, &Survey { shape: Shape::flat(N as usize), submission, unfused }, false)
    }

    #[test]
    fn a_fused_kernel_is_lean() {
        let lean = judged(Report { launches: vec![launch(2, 1)], ..Report::default() });
        assert_eq!((lean.verdict, lean.view().cell.as_str()), (Verdict::Pass, "1 launch, 3 N moved, 3 N needed"));
        assert_eq!(lean.evidence.unwrap().dram_bytes.unfused, 20 * N);
    }

    #[test]
    fn what_is_not_lean_says_why() {
        let two = Report { launches: vec![launch(2, 1), launch(1, 1)], ..Report::default() };
        let copying = Report { launches: vec![launch(2, 1)], copies: 1, copied_bytes: 4, ..Report::default() };
        let rereading = Report { launches: vec![launch(3, 1)], ..Report::default() };
        let allocating =
            Report { launches: vec![launch(2, 1)], allocations: 1, allocated_bytes: 64, ..Report::default() };
        for (report, code, title) in [
            (two, Code::Launches, "2 launches, where 1 launch will do"),
            (copying, Code::Launches, "1 launch and 1 copy, where 1 launch will do"),
            (rereading, Code::Bytes, "more bytes than needed: 4 N moved, 3 N needed"),
            (
                allocating,
                Code::Allocations,
                "the launch function allocates device memory: 1 allocation, 64 bytes in all",
            ),
        ] {
            let failure = judged(report).failure.unwrap();
            assert_eq!((failure.code, failure.title.as_str()), (code, title));
        }
    }

    /// Loads and stores of so many bytes per thread, with a tail that is narrower.
    fn accessing(load: u64, store: u64) -> Sectors {
        let traffic = |bytes: u64| Traffic { requests: N + 3, sectors: 1, bytes: 32 * bytes * N + 3 * 4 * 7 };
        let counters = Counters { global_load: traffic(load), global_store: traffic(store), ..Counters::default() };
        let report =
            Report { launches: vec![LaunchReport { counters, ..LaunchReport::default() }], ..Report::default() };
        per_request(&report, |traffic| (traffic.bytes, traffic.requests * LANES))
    }

    #[test]
    fn narrow_accesses_are_refused_where_wide_ones_are_asked_for() {
        let asked = Access { load: 16, store: 4 };
        assert_eq!(too_narrow(asked, accessing(16, 4)), None);
        assert_eq!(too_narrow(Access::ANY, accessing(1, 1)), None);
        assert_eq!(too_narrow(asked, Sectors::default()), None);
        for (load, store, title) in [
            (4, 4, "a thread loads 4 bytes at a time, and 16 are asked for"),
            (10, 4, "a thread loads 10 bytes at a time, and 16 are asked for"),
            (16, 1, "a thread stores 1 byte at a time, and 4 are asked for"),
        ] {
            let failure = too_narrow(asked, accessing(load, store)).unwrap();
            assert_eq!((failure.code, failure.title.as_str()), (Code::Access, title));
        }
    }

    #[test]
    fn the_shape_that_moves_most_of_what_it_may_decides() {
        let at = |columns: u64, bytes: u64| {
            let counters = Counters { dram_read_bytes: bytes, ..Counters::default() };
            let submission = Report { launches: vec![LaunchReport { counters, ..launch(0, 0) }], ..Report::default() };
            judge_shape(
                &EXERCISE,
                &Survey { shape: Shape::flat(columns as usize), submission, unfused: Report::default() },
                false,
            )
        };
        let lean = Part::worst(vec![at(N, 12 * N), at(N / 2, 6 * N + 64), at(N, 12 * N)]);
        assert_eq!((lean.verdict, lean.shapes.len()), (Verdict::Pass, 2));
        assert_eq!(lean.view().cell, "1 launch, 3 N moved, 3 N needed, 3 shapes");
        assert_eq!(lean.evidence.unwrap().shape, "N = 524288");
    }

    #[test]
    fn units_are_short() {
        for (bytes, text) in [(0, "0"), (4 * N, "1"), (5 * N, "1.25"), (4 * N + 32, "1"), (4235 * N, "1059")] {
            assert_eq!(units(bytes, 4 * N), text);
        }
    }
}
