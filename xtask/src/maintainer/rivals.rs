//! `cargo xtask rivals`: the course's best kernels beside what PyTorch, torch.compile, Triton and Liger do, in one run on one GPU.
//!
//! For each day a Python process times the others, then workers time the course's own, at the same shapes and by the same
//! rules: the top rung of an exercise's ladder, or where its solution is the top, the solution. What misses its bar, or nearly, is timed again: see [`rounds`].

mod bars;
mod python;
mod rounds;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_course::{Exercise, Shape, Shapes};
use fusion_grader::bench::{Role, Size};
use fusion_grader::judgement::{DeviceInfo, DeviceKind, Interval, Kind, RunError, Timing};
use serde::Serialize;

use self::bars::Bar;
use self::python::{Python, Rival};
use self::rounds::Round;
use crate::device::{self, Device};
use crate::interrupt::{self, Interrupt};
use crate::judge::Stop;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::sweep::{self, Ask, Swept};
use crate::{command, date, output, target, toolchain};

/// Elements of elementwise operations. To add a size, add it here.
const ELEMENTS: [usize; 8] = [100_000, 500_000, 1_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 1 << 28];

/// Shapes of operations on rows; those whose rows are longer than an exercise has are left out of it, and of one whose
/// rows are all as long as the longest of these, or longer, those that it is not about.
const ROWS: [(usize, usize); 6] =
    [(128, 4096), (2048, 768), (16384, 4096), (32768, 4096), (65536, 1024), (4096, 16384)];

/// Elements at timed row lengths that [`ROWS`] does not have.
const ROW_ELEMENTS: usize = 1 << 26;

/// Elements of all tensors of a list.
const TENSOR_ELEMENTS: usize = 1 << 26;
/// Elements of all queries, at each number of heads that is timed.
const TOKEN_ELEMENTS: [usize; 3] = [1 << 20, 1 << 24, 1 << 26];

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Days, exercises or `all`, which is also what no target means
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// The Python that has PyTorch
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Seconds that one size may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    timeout: u64,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    command: String,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceInfo>,
    /// Of PyTorch and the others.
    versions: std::collections::BTreeMap<String, String>,
    rows: Vec<Row>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RunError>,
}

/// One operation at one shape.
#[derive(Clone, Debug, Serialize)]
struct Row {
    exercise: String,
    day: u32,
    shape: String,
    rows: usize,
    columns: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heads: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
    needed_bytes: u64,
    /// The largest of the copies that were measured around this row, which shares are of.
    ceiling_gb_per_s: f64,
    /// What kernels of the course's own reach that only move bytes, in the operation's mix.
    mix_gb_per_s: f64,
    /// The course's unfused chain and its solution.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfused_ns: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution_ns: Option<Interval>,
    rivals: Vec<Rival>,
    /// The solution and the best other once more, where one process does not decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rounds: Vec<Round>,
    bars: Vec<Bar>,
}

impl Row {
    /// The time at the ceiling for the compulsory bytes over this time.
    fn share(&self, ns: f64) -> f64 {
        self.needed_bytes as f64 / ns / self.ceiling_gb_per_s
    }

    /// The solution's time over the best other's, in each round.
    fn ratios(&self) -> Vec<f64> {
        let first = self.solution_ns.zip(python::best(&self.rivals)).map(|(time, best)| time.median / best);
        first.into_iter().chain(self.rounds.iter().map(Round::ratio)).collect()
    }

    /// The middle one; of two the worse.
    fn over_best(&self) -> Option<f64> {
        let mut ratios = self.ratios();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }
}

/// Runs and returns the exit code: 0 when every bar is met, 1 when one is not or a note says what was left out, 2 when nothing could
/// be compared.
pub(crate) fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    let mut report = Report {
        version: 1,
        command: command::command(),
        date: date::today(),
        device: None,
        versions: Default::default(),
        rows: Vec::new(),
        notes: Vec::new(),
        error: None,
    };
    let ended = compare(options, interrupt, &mut report);
    let missed = report.rows.iter().flat_map(|row| &row.bars).any(|bar| !bar.met);
    let mut code = u8::from(missed || !report.notes.is_empty());
    match ended {
        Ok(()) => {}
        Err(Stop::Error(error)) if !interrupt.requested() => {
            report.error = Some(error);
            code = 2;
        }
        Err(_) => {
            report.error = Some(RunError::new("interrupted", "interrupted: only what was timed before is shown"));
            code = interrupt::EXIT_CODE;
        }
    }
    if tell(options, &report) { code } else { 2 }
}

fn compare(options: &Options, interrupt: &Interrupt, report: &mut Report) -> Result<(), Stop> {
    let selections = target::resolve(&options.targets, fusion_course::days()).map_err(|unknown| {
        let error = RunError::new("unknown-target", unknown.to_string());
        Stop::Error(RunError { nearest: unknown.nearest, ..error })
    })?;
    let python = Python::new(&options.python).map_err(Stop::Error)?;
    (report.versions, report.notes) = python.probe(interrupt)?;
    let packages: Vec<String> =
        selections.iter().map(|selection| programs::package(Kind::Solution, selection.day.number)).collect();
    toolchain::ready().map_err(Stop::Error)?;
    let programs = Programs::get(&packages, options.prebuilt, interrupt).map_err(Stop::Error)?;
    report.device = device::gpu(Device::Gpu, &programs, interrupt)?;
    let progress = Progress::new(selections.iter().map(|selection| selection.exercises.len()).sum());
    let limit = Duration::from_secs(options.timeout);
    for (selection, package) in selections.iter().zip(&packages) {
        let Some(program) = programs.paths.get(package) else {
            report.notes.push(format!("`{package}` does not compile"));
            continue;
        };
        progress.say(format!("day {}: PyTorch and others", selection.day.number));
        let wanted: Vec<(&str, Vec<Shape>)> =
            selection.exercises.iter().map(|exercise| (exercise.name, shapes(exercise))).collect();
        let theirs = python.time(&wanted, limit, interrupt, &progress)?;
        report.notes.extend(theirs.notes.iter().cloned());
        for (exercise, (_, shapes)) in selection.exercises.iter().copied().zip(&wanted) {
            let ours = sweep(exercise, shapes, &programs, program, limit, interrupt, &progress)?;
            report.notes.extend(ours.notes.iter().map(|note| format!("{}: {note}", exercise.name)));
            for size in ours.sizes {
                let notes = size.notes.iter().map(|note| format!("{} at {}: {note}", exercise.name, size.shape));
                report.notes.extend(notes);
                let rivals = theirs.at(exercise.name, size.rows, size.columns);
                report.rows.push(row(exercise, &size, rivals, theirs.copy_gb_per_s));
            }
            progress.step();
        }
    }
    rounds::again(report, &python, &programs, limit, interrupt, &progress)
}

/// Times the course's best kernel at some shapes.
fn sweep(
    exercise: &Exercise,
    shapes: &[Shape],
    programs: &Programs,
    program: &Path,
    limit: Duration,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Swept, Stop> {
    let sizes: Vec<String> = shapes.iter().map(|&shape| size(exercise, shape)).collect();
    let ask = Ask {
        program,
        root: programs.root.as_deref(),
        exercise: exercise.name,
        device: DeviceKind::Gpu,
        sizes: &sizes,
        seed: SEED,
        top: true,
        short: true,
        limit,
    };
    sweep::sweep(&ask, interrupt, progress)
}

/// The shapes at which an operation is compared.
fn shapes(exercise: &Exercise) -> Vec<Shape> {
    let (columns, timed): (&[usize], _) = match exercise.shapes {
        Shapes::Elementwise => {
            return ELEMENTS.into_iter().map(Shape::flat).filter(|&shape| same(exercise, shape)).collect();
        }
        Shapes::Rows { columns, timed } => (columns, timed),
        Shapes::Matrix { timed } => (&[], timed),
        Shapes::Tensors { .. } => return exercise.large(TENSOR_ELEMENTS),
        Shapes::Heads { .. } => {
            return TOKEN_ELEMENTS.iter().flat_map(|&elements| exercise.large(elements)).collect();
        }
        Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => return exercise.large(usize::MAX),
        Shapes::Product { timed } => {
            // A cube is also compared at twice its edge: libraries have other kernels for it.
            let doubled = timed.iter().filter(|[m, n, k]| m == n && n == k).map(|size| size.map(|edge| 2 * edge));
            let all = timed.iter().copied().chain(doubled);
            return all.map(|[m, n, k]| Shape::product(m, n, k)).collect();
        }
    };
    let longest = columns.iter().chain(timed).copied().max().unwrap_or(0);
    let of_rows = ROWS.iter().map(|&(_, columns)| columns).max().unwrap_or(0);
    // Its kernels may be bad at what it does not ask for.
    let is_about_longer = timed.iter().all(|&columns| columns >= of_rows);
    let asked = |columns: usize| columns <= longest && (!is_about_longer || timed.contains(&columns));
    let all = ROWS.iter().map(|&(rows, columns)| Shape::of(rows, columns));
    let mut shapes: Vec<Shape> = all.filter(|shape| asked(shape.columns)).collect();
    for shape in exercise.large(ROW_ELEMENTS) {
        if shapes.iter().all(|known| known.columns != shape.columns) {
            shapes.push(shape);
        }
    }
    shapes
}

/// The seed of the inputs.
const SEED: u64 = 1;

/// Whether the scalars that a size draws ask for what the others compute: of several activations, GELU.
fn same(exercise: &Exercise, shape: Shape) -> bool {
    const GELU: f64 = 1.0;
    let Some(act) = exercise.scalars.iter().position(|&scalar| scalar == "act") else { return true };
    fusion_grader::bench::cases(exercise, shape, SEED).all(|case| case.scalar(act) == GELU)
}

/// A shape as workers take it.
fn size(exercise: &Exercise, shape: Shape) -> String {
    match exercise.shapes {
        Shapes::Elementwise => shape.elements().to_string(),
        Shapes::Rows { .. } | Shapes::Matrix { .. } | Shapes::Tensors { .. } => {
            format!("{}x{}", shape.rows, shape.columns)
        }
        Shapes::Heads { .. } | Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => {
            let sizes = exercise.shapes.sizes(shape);
            sizes.iter().map(|(_, size)| size.to_string()).collect::<Vec<_>>().join("x")
        }
        Shapes::Product { .. } => format!("{}x{}x{}", shape.rows, shape.columns, shape.terms()),
    }
}

/// What a worker measured of its variant with that role.
fn time(size: &Size, role: Role) -> Option<Interval> {
    match size.variants.iter().find(|variant| variant.role == role)?.timing {
        Some(Timing::Measured { time_ns, .. }) => Some(time_ns),
        _ => None,
    }
}

/// Puts together what both sides found at one shape, and holds it against the bars.
fn row(exercise: &Exercise, size: &Size, rivals: Vec<Rival>, copy_gb_per_s: Option<f64>) -> Row {
    let own = size.ceilings.unwrap_or_default();
    let mut row = Row {
        exercise: exercise.name.to_owned(),
        day: exercise.day,
        shape: size.shape.clone(),
        rows: size.rows,
        columns: size.columns,
        depth: size.depth,
        heads: size.heads,
        experts: size.experts,
        pages: size.pages,
        needed_bytes: size.needed_bytes,
        ceiling_gb_per_s: copy_gb_per_s.unwrap_or(0.0).max(own.copy_gb_per_s),
        mix_gb_per_s: own.mix_gb_per_s,
        unfused_ns: time(size, Role::Unfused),
        solution_ns: time(size, Role::Submission),
        rivals,
        rounds: Vec::new(),
        bars: Vec::new(),
    };
    row.bars = bars::judge(exercise, &row);
    row
}

fn tell(options: &Options, report: &Report) -> bool {
    if options.json {
        return output::json(serde_json::to_string_pretty(report));
    }
    let printed = report.rows.is_empty() || output::print(&table::text(report, output::look()));
    report.notes.iter().for_each(|note| output::note(&format!("note: {note}")));
    if let Some(error) = &report.error {
        output::note(&format!("error: {}", error.message));
    }
    printed
}

#[cfg(test)]
mod tests;
