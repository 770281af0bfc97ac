//! `cargo xtask validate`: what the clock of the emulated device predicts, beside what a GPU took.

use std::collections::BTreeMap;

use fusion_device::Compiler;
use fusion_grader::judgement::RunError;
use fusion_grader::render;
use fusion_timings::{Compared, Errors, Role, validate};

use crate::{output, toolchain};

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 compared, 2 could not run.")]
pub(crate) struct Options {
    /// Print every point: file, kernel, sizes, cache, measured and predicted nanoseconds, role
    #[arg(long)]
    csv: bool,
}

/// Runs and returns the exit code.
pub(crate) fn run(options: &Options) -> u8 {
    match compare() {
        Ok(points) if output::print(&if options.csv { csv(&points) } else { tables(&points) }) => 0,
        Ok(_) => 2,
        Err(error) => {
            output::note(&format!("error: {}", error.message));
            2
        }
    }
}

fn compare() -> Result<Vec<Compared>, RunError> {
    toolchain::ready()?;
    let failed = |why: String| RunError::new("validate", why);
    let toolchain = fusion_toolchain::find().map_err(|error| failed(error.to_string()))?;
    let compiler = Compiler::open(&toolchain).map_err(|error| failed(error.to_string()))?;
    validate(&compiler, |case| output::note(&format!("predicted {case}"))).map_err(failed)
}

fn csv(points: &[Compared]) -> String {
    let line = |point: &Compared| {
        let Compared { record, predicted_ns, role } = point;
        let (case, kernel, at, cache) = (&record.case, &record.kernel, &record.at, record.cache);
        format!("{case},{kernel},{at},{cache},{:.0},{predicted_ns:.0},{}\n", record.ns, name(*role))
    };
    points.iter().map(line).collect()
}

fn name(role: Role) -> &'static str {
    match role {
        Role::HeldOut => "held out",
        Role::Fitted => "fitted",
        Role::Calibration => "calibration",
    }
}

/// How far off predictions are: by role, then by file and kernel of what nothing was fitted to.
fn tables(points: &[Compared]) -> String {
    let mut text = "Times of kernels on one H200: predicted against measured.\n\n".to_owned();
    let roles = [Role::HeldOut, Role::Fitted, Role::Calibration];
    let by_role = roles.map(|role| (name(role).to_owned(), Errors::of(points.iter().filter(|it| it.role == role))));
    text += &table("points", by_role.into());
    let held_out = || points.iter().filter(|point| point.role == Role::HeldOut);
    for (title, of) in [
        ("held out, by file", (|point| &point.record.case) as fn(&Compared) -> &String),
        ("held out, by kernel", |point| &point.record.kernel),
    ] {
        let mut groups: BTreeMap<&String, Vec<Compared>> = BTreeMap::new();
        held_out().for_each(|point| groups.entry(of(point)).or_default().push(point.clone()));
        let rows = groups.into_iter().map(|(name, points)| (name.clone(), Errors::of(points.iter()))).collect();
        text += "\n";
        text += &table(title, rows);
    }
    text
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
