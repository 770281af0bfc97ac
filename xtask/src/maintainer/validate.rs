//! `cargo xtask validate`: what the clock of the emulated device predicts, beside what a GPU took.

mod page;
mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fusion_device::Compiler;
use fusion_grader::judgement::RunError;
use fusion_grader::worker::case;
use fusion_grader::{render, verdicts};
use fusion_machine::Profile;
use fusion_machine::timing::Effect;
use fusion_timings::{Bar, Compared, Errors, Record, Role, compared, validate};

use self::stored::Stored;
use super::measure;
use crate::emulated::Emulated;
use crate::interrupt::{self, Interrupt};
use crate::judge::Stop;
use crate::{output, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 compared, 1 the clock is further off than it may be, or a verdict is contrary to the measured \
                  one, 2 could not run."
)]
pub(crate) struct Options {
    /// Print every point: file, kernel, sizes, cache, measured and predicted nanoseconds, role
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    emulated: Emulated,
    /// Other times or verdicts than those that are stored of this GPU: of `measure`
    #[arg(long, value_name = "FILE")]
    measured: Option<PathBuf>,
    /// Compare verdicts instead: *fast* on everything that can be launched as an answer
    #[arg(long, conflicts_with_all = ["held_out", "page", "without", "effects", "suite"])]
    verdicts: bool,
    /// Days or exercises whose verdicts are compared; all if none is named
    #[arg(requires = "verdicts")]
    targets: Vec<String>,
    /// Do not build: use the programs that lie beside this one
    #[arg(long, visible_alias = "no-build")]
    prebuilt: bool,
    /// Break down what is held out, too: who has looked at it must fit nothing to it
    #[arg(long)]
    held_out: bool,
    /// Write what the book shows into this folder, too: a picture of all points, the errors, the kernels that are furthest off
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// Leave out an effect, of the suite's points alone: a name such as `l2`, of those that the book's chapter "Predicting time" has in a table
    #[arg(long, value_name = "EFFECT", value_parser = effect)]
    without: Option<Effect>,
    /// Compare the suite's points alone, not those of exercises
    #[arg(long)]
    suite: bool,
    /// Predict one of eight points that are stored and take the others as they are, where nothing but that they stay is
    /// asked of them; with `--page` in seconds in place of minutes
    #[arg(long, conflicts_with_all = ["measured", "verdicts", "without", "effects"])]
    spot_check: bool,
    /// Store what is predicted in the workspace, for `--spot-check` and the tests
    #[arg(long, conflicts_with_all = ["spot_check", "measured", "without", "effects", "targets"])]
    store: bool,
    /// Leave out each effect in turn, and print a line of each: some minutes
    #[arg(long, conflicts_with_all = ["without", "csv", "held_out", "page"])]
    effects: bool,
}

fn effect(name: &str) -> Result<Effect, String> {
    Effect::named(name).ok_or_else(|| {
        let names: Vec<&str> = Effect::ALL.into_iter().map(Effect::name).collect();
        format!("effects are {}", names.join(", "))
    })
}

/// Runs and returns the exit code.
pub(crate) fn run(options: &Options, interrupt: &Interrupt) -> u8 {
    options.emulated.choose();
    finish(match () {
        () if options.verdicts => compare_verdicts(options, interrupt),
        () if options.effects => {
            measured(options).and_then(|records| effects(options, &records).map_err(Stop::Error)).map(|text| (text, 0))
        }
        () => compare(options, interrupt),
    })
}

/// Predicted times beside measured ones, and the exit code.
fn compare(options: &Options, interrupt: &Interrupt) -> Result<(String, u8), Stop> {
    let records = measured(options)?;
    let profile = options.emulated.get().map_err(|why| Stop::Error(failed(why)))?;
    let mut stored = options.spot_check.then(|| Stored::new(&profile.id)).transpose().map_err(Stop::Error)?;
    let has_bars = options.without.is_none() && options.measured.is_none() && profile == Profile::default();
    // What bars are asked of is predicted now, all of it.
    let of_suite = suite(options, options.without, &records, stored.as_mut().filter(|_| !has_bars));
    let mut points = of_suite.map_err(Stop::Error)?;
    let mut code = if has_bars { missed(&points) } else { 0 };
    let judged = if has_bars { points.len() } else { 0 };
    // The programs of exercises know the whole clock only.
    if options.without.is_none() && !options.suite {
        points.extend(exercises(options, &records, stored.as_mut(), interrupt)?);
    }
    if options.store {
        stored::store(&profile.id, points.get(judged..).unwrap_or_default()).map_err(Stop::Error)?;
    }
    if stored.is_some_and(|stored| stored.differ > 0) {
        code = 1;
    }
    if let Some(folder) = &options.page {
        page::write(&points, options.held_out, folder).map_err(|error| {
            let text = format!("cannot write into {}: {error}", folder.display());
            Stop::Error(RunError::new("no-folder", text))
        })?;
    }
    let text = if options.csv { csv(&points) } else { tables(&points, options.held_out) };
    Ok((text, code))
}

/// Says which bars the suite's points miss, and returns the exit code that comes with it.
fn missed(points: &[Compared]) -> u8 {
    let missed = Bar::missed(points);
    for (bar, Errors { points, median, p90, worst, .. }) in &missed {
        let parts = [("median", *median, bar.median), ("9 of 10", *p90, bar.p90), ("worst", *worst, bar.worst)];
        let parts = parts.map(|(name, is, may)| format!("{name} {:.1}% of {:.0}%", 100.0 * is, 100.0 * may)).join(", ");
        output::note(&format!(
            "error: the clock is further off than it may be, of the suite's {points} points that are {}: {parts}",
            name(bar.role)
        ));
    }
    u8::from(!missed.is_empty())
}

/// Prints a text and returns the exit code that comes with it.
fn finish(told: Result<(String, u8), Stop>) -> u8 {
    match told {
        Ok((text, code)) if output::print(&text) => code,
        Ok(_) => 2,
        Err(Stop::Interrupted) => interrupt::EXIT_CODE,
        Err(Stop::Error(error)) => {
            output::note(&format!("error: {}", error.message));
            2
        }
    }
}

fn failed(why: String) -> RunError {
    RunError::new("validate", why)
}

fn text_of(path: &PathBuf) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// The times of the file that the options name, or those that are stored of the GPU that is emulated.
fn measured(options: &Options) -> Result<Vec<Record>, Stop> {
    let of_profile = || fusion_timings::stored(&options.emulated.get()?.id);
    let of_file = |path| fusion_timings::read(&text_of(path)?);
    options.measured.as_ref().map_or_else(of_profile, of_file).map_err(|why| Stop::Error(failed(why)))
}

/// The points of the suite, one of [`stored::ONE_IN`] of them predicted now where the others are stored.
fn suite(
    options: &Options,
    without: Option<Effect>,
    measured: &[Record],
    stored: Option<&mut Stored>,
) -> Result<Vec<Compared>, RunError> {
    toolchain::ready()?;
    let toolchain = fusion_toolchain::find().map_err(|error| failed(error.to_string()))?;
    let compiler = Compiler::open(&toolchain).map_err(|error| failed(error.to_string()))?;
    let profile = options.emulated.get().map_err(failed)?;
    let predict = |records: &[Record]| {
        validate(&compiler, &profile, without, records, |case| output::note(&format!("predicted {case}")))
            .map_err(failed)
    };
    let Some(stored) = stored else { return predict(measured) };
    let some: Vec<Record> = measured.iter().step_by(stored::ONE_IN).cloned().collect();
    compared(&stored.check(&predict(&some)?, |record| !belongs_to_exercise(record)), measured).map_err(failed)
}

/// The points of exercises, which the solutions' programs predict, at one of [`stored::ONE_IN`] shapes where the others
/// are stored.
fn exercises(
    options: &Options,
    records: &[Record],
    stored: Option<&mut Stored>,
    interrupt: &Interrupt,
) -> Result<Vec<Compared>, Stop> {
    // What was never measured has nothing to be compared with.
    let measured: BTreeSet<&String> = records.iter().map(|record| &record.case).collect();
    let exercises = fusion_course::days().iter().flat_map(|day| day.exercises.iter().copied());
    let exercises: Vec<_> = exercises.filter(|exercise| measured.contains(&case(exercise))).collect();
    let one_in = if stored.is_some() { stored::ONE_IN } else { 1 };
    let predicted = measure::predict(&exercises, one_in, options.prebuilt, interrupt)?;
    let points = compared(&predicted, records).map_err(|why| Stop::Error(failed(why)))?;
    let Some(stored) = stored else { return Ok(points) };
    compared(&stored.check(&points, belongs_to_exercise), records).map_err(|why| Stop::Error(failed(why)))
}

/// Whether a time belongs to an exercise, and not to a case of the suite.
fn belongs_to_exercise(record: &Record) -> bool {
    let mut exercises = fusion_course::days().iter().flat_map(|day| day.exercises.iter().copied());
    exercises.any(|exercise| case(exercise) == record.case)
}

/// Verdicts beside those of an H200, and the exit code.
fn compare_verdicts(options: &Options, interrupt: &Interrupt) -> Result<(String, u8), Stop> {
    let of_file = |path| verdicts::read(&text_of(path)?);
    let measured = options.measured.as_ref().map_or_else(verdicts::h200, of_file);
    let measured = measured.map_err(|why| Stop::Error(failed(why)))?;
    let predicted = super::verdicts::predict(&options.targets, options.prebuilt, interrupt)?;
    if measured.is_empty() {
        output::note(
            "no verdict of an H200 is stored: `cargo xtask measure --verdicts --out FILE` measures them on one",
        );
    }
    if options.store {
        let lines: Vec<String> = predicted.iter().map(ToString::to_string).collect();
        let text =
            format!("# cargo xtask validate --verdicts --store\n# {}\n{}\n", verdicts::COLUMNS, lines.join("\n"));
        stored::write("h200-verdicts.csv", &text).map_err(Stop::Error)?;
    }
    let beside = super::verdicts::Beside::new(&predicted, &measured);
    let text = if options.csv { beside.csv() } else { beside.table() };
    Ok((text, u8::from(!beside.agrees())))
}

fn csv(points: &[Compared]) -> String {
    let line = |point: &Compared| {
        let Compared { record, predicted_ns, role, .. } = point;
        let (case, kernel, at, cache) = (&record.case, &record.kernel, &record.at, record.cache);
        format!("{case},{kernel},{at},{cache},{:.0},{predicted_ns:.0},{}\n", record.ns, name(*role))
    };
    points.iter().map(line).collect()
}

fn name(role: Role) -> &'static str {
    match role {
        Role::HeldOut => "held out",
        Role::Fitted => "fitted",
        Role::ByOthers => "by others",
        Role::Calibration => "calibration",
    }
}

const ROLES: [Role; 4] = [Role::HeldOut, Role::Fitted, Role::ByOthers, Role::Calibration];

/// How far off predictions are: by role, then of what may be looked at by kernel, the worst last. What nothing may be fitted to is broken
/// down where it is asked for only.
fn tables(points: &[Compared], held_out: bool) -> String {
    let mut text = "Times of kernels on one GPU: predicted against measured.\n\n".to_owned() + &by_role(points);
    let of = |role: Role| points.iter().filter(move |point| point.role == role);
    let last = if held_out { Role::HeldOut } else { Role::Calibration };
    let roles = if held_out { [Role::ByOthers, Role::Fitted, last] } else { [last, Role::ByOthers, Role::Fitted] };
    for role in roles {
        let mut kernels: BTreeMap<&String, Vec<Compared>> = BTreeMap::new();
        of(role).for_each(|point| kernels.entry(&point.record.kernel).or_default().push(point.clone()));
        let mut rows: Vec<(String, Errors)> =
            kernels.into_iter().map(|(name, points)| (name.clone(), Errors::of(points.iter()))).collect();
        rows.sort_by(|(_, one), (_, other)| one.worst.total_cmp(&other.worst));
        text += "\n";
        text += &table(&format!("{}, by kernel", name(role)), rows);
    }
    text
}

fn by_role(points: &[Compared]) -> String {
    let errors = |role: Role| Errors::of(points.iter().filter(|point| point.role == role));
    let rows = ROLES.into_iter().map(|role| (name(role).to_owned(), errors(role)));
    table("kernels", rows.filter(|(_, errors)| errors.points > 0).collect())
}

/// How far off predictions are when the clock leaves out one effect.
fn effects(options: &Options, records: &[Record]) -> Result<String, RunError> {
    let mut rows: [Vec<(String, Errors)>; ROLES.len()] = Default::default();
    for without in std::iter::once(None).chain(Effect::ALL.into_iter().map(Some)) {
        let points = suite(options, without, records, None)?;
        let title = without.map_or("nothing", Effect::name);
        for (role, rows) in ROLES.into_iter().zip(&mut rows) {
            rows.push((title.to_owned(), Errors::of(points.iter().filter(|point| point.role == role))));
        }
    }
    let tables = ROLES.into_iter().zip(rows).map(|(role, rows)| table(&format!("{}, without", name(role)), rows));
    Ok(tables.collect::<Vec<_>>().join("\n"))
}

fn table(title: &str, rows: Vec<(String, Errors)>) -> String {
    let heads = [title, "points", "median", "9 of 10", "worst", "bias"];
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let row = |(name, errors): (String, Errors)| {
        let Errors { points, median, p90, worst, bias } = errors;
        let bias = format!("{:+.1}%", 100.0 * bias);
        [name, points.to_string(), percent(median), percent(p90), percent(worst), bias]
    };
    let mut table = render::blank(heads, output::look());
    rows.into_iter().map(row).for_each(|row| {
        table.add_row(row);
    });
    format!("{}\n", table.trim_fmt())
}
