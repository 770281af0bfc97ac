//! The verdicts *fast* on everything that can be launched as an answer: measured on a GPU into a file, or predicted and held against that.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use fusion_course::Exercise;
use fusion_diagnostic::noun;
use fusion_grader::judgement::{DeviceKind, Kind, RunError};
use fusion_grader::protocol::Message;
use fusion_grader::render;
use fusion_grader::verdicts::{Agreement, COLUMNS, Ratio, Ruling};

use crate::interrupt::Interrupt;
use crate::judge::{Stop, cannot_run};
use crate::process::{self, End, Said, Watch};
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::target::Selection;
use crate::{output, parallel, target, toolchain};

/// For one answer at one size.
const LIMIT: Duration = Duration::from_secs(120);

/// Measures the verdicts on this machine's GPU and has each written as soon as it is there; returns whether nothing was
/// left out.
pub(super) fn measure(
    targets: &[String],
    prebuilt: bool,
    interrupt: &Interrupt,
    write: &mut impl FnMut(&str) -> Result<(), Stop>,
) -> Result<bool, Stop> {
    let workers = Workers::get(targets, prebuilt, interrupt)?;
    write(&super::measure::origin(&workers.programs, "measure --verdicts", COLUMNS, interrupt)?)?;
    let mut complete = true;
    for exercise in workers.exercises() {
        complete &= workers.ask(exercise, DeviceKind::Gpu, |ruling| write(&ruling.to_string()))?;
    }
    Ok(complete)
}

/// What the emulated device predicts.
pub(super) fn predict(targets: &[String], prebuilt: bool, interrupt: &Interrupt) -> Result<Vec<Ruling>, Stop> {
    let workers = Workers::get(targets, prebuilt, interrupt)?;
    let exercises = workers.exercises();
    let told = parallel::each(exercises.len(), |index| {
        let mut rulings = Vec::new();
        workers.ask(exercises[index], DeviceKind::Emulated, |ruling| {
            rulings.push(ruling);
            Ok(())
        })?;
        Ok(rulings)
    })?;
    Ok(told.into_iter().flatten().collect())
}

/// The programs that judge, and what they are asked for.
struct Workers<'a> {
    selections: Vec<Selection>,
    programs: Programs,
    interrupt: &'a Interrupt,
    progress: Progress,
}

impl<'a> Workers<'a> {
    fn get(targets: &[String], prebuilt: bool, interrupt: &'a Interrupt) -> Result<Self, Stop> {
        toolchain::ready().map_err(Stop::Error)?;
        let selections =
            target::resolve(targets, fusion_course::days()).map_err(|unknown| failed(&unknown.to_string()))?;
        let package = |selection: &Selection| programs::package(Kind::Solution, selection.day.number);
        let packages: Vec<String> = selections.iter().map(package).collect();
        let programs = Programs::get(&packages, prebuilt, interrupt).map_err(Stop::Error)?;
        let progress = Progress::new(selections.iter().map(|selection| selection.exercises.len()).sum());
        Ok(Self { selections, programs, interrupt, progress })
    }

    fn exercises(&self) -> Vec<&'static Exercise> {
        self.selections.iter().flat_map(|selection| selection.exercises.clone()).collect()
    }

    /// Has each verdict of an exercise heard; returns whether nothing was left out.
    fn ask(
        &self,
        exercise: &Exercise,
        device: DeviceKind,
        mut hear: impl FnMut(Ruling) -> Result<(), Stop>,
    ) -> Result<bool, Stop> {
        let package = programs::package(Kind::Solution, exercise.day);
        let Some(program) = self.programs.paths.get(&package) else {
            return Err(failed(&format!("`{package}` does not compile")));
        };
        let device = match device {
            DeviceKind::Gpu => "gpu",
            DeviceKind::Emulated => "emulated",
        };
        let mut command = Command::new(program);
        command.args(["verdicts", "--exercise", exercise.name, "--device", device]);
        if let Some(root) = &self.programs.root {
            command.current_dir(root);
        }
        let (mut complete, mut unable, mut heard) = (true, None, Ok(()));
        let end = process::run(&mut command, &Watch { limit: LIMIT, interrupt: self.interrupt }, |said| match said {
            Said::Message(message) => match *message {
                Message::Measured { record } => match record.parse() {
                    Ok(ruling) if heard.is_ok() => heard = hear(ruling),
                    Ok(_) => {}
                    Err(why) => unable = Some(RunError::new("verdicts", why)),
                },
                Message::Untimed { note, .. } => {
                    self.progress.remark(&format!("{}: {note}", exercise.name));
                    complete = false;
                }
                Message::Progress { text } => self.progress.say(format!("{}: {text}", exercise.name)),
                Message::Unable { error } => unable = Some(error),
                _ => {}
            },
            Said::Printed(line) | Said::Complained(line) => self.progress.note(&format!("{}: {line}", exercise.name)),
        });
        heard?;
        match (end.map_err(|error| cannot_run(program, &error))?, unable) {
            (End::Interrupted, _) => return Err(Stop::Interrupted),
            (_, Some(error)) => return Err(Stop::Error(error)),
            (End::Exited(0), None) => {}
            (end, None) => {
                self.progress.note(&format!("{}: ended with {end:?}", exercise.name));
                complete = false;
            }
        }
        self.progress.step();
        Ok(complete)
    }
}

/// Predicted verdicts beside measured ones.
pub(super) struct Beside<'a> {
    rows: Vec<(&'a Ruling, Option<&'a Ruling>)>,
    /// Measured verdicts on the same exercises of which nothing is predicted.
    alone: usize,
}

impl<'a> Beside<'a> {
    pub(super) fn new(predicted: &'a [Ruling], measured: &'a [Ruling]) -> Self {
        let known: HashMap<_, _> = measured.iter().map(|ruling| (ruling.key(), ruling)).collect();
        let rows: Vec<_> = predicted.iter().map(|ruling| (ruling, known.get(&ruling.key()).copied())).collect();
        let exercises: HashSet<&str> = predicted.iter().map(|ruling| ruling.exercise.as_str()).collect();
        let asked = measured.iter().filter(|ruling| exercises.contains(ruling.exercise.as_str())).count();
        let alone = asked - rows.iter().filter(|(_, measured)| measured.is_some()).count();
        Self { rows, alone }
    }

    fn contrary(&self) -> impl Iterator<Item = &(&'a Ruling, Option<&'a Ruling>)> {
        self.rows.iter().filter(|(predicted, measured)| predicted.agreement(*measured) == Agreement::Contrary)
    }

    /// Whether no verdict is contrary to the measured one.
    pub(super) fn agrees(&self) -> bool {
        self.contrary().next().is_none()
    }

    /// Every verdict: a line of the predicted one, then what was measured.
    pub(super) fn csv(&self) -> String {
        let mut text =
            format!("{COLUMNS},measured speedup,measured speedup over the kernel to beat,measured verdict\n");
        for (predicted, measured) in &self.rows {
            let speedup =
                |ratio: Option<Ratio>| ratio.map_or_else(String::new, |it| format!("{:.3}", it.speedup.median));
            let [chain, rival, verdict] = measured.map_or_else(Default::default, |measured| {
                [speedup(measured.chain), speedup(measured.rival), measured.verdict.to_string()]
            });
            let _infallible = writeln!(text, "{predicted},{chain},{rival},{verdict}");
        }
        text
    }

    /// How many verdicts of each exercise agree, and every one that does not.
    pub(super) fn table(&self) -> String {
        const AGREEMENTS: [Agreement; 4] = [Agreement::Same, Agreement::Open, Agreement::Unknown, Agreement::Contrary];
        let mut counts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
        for (predicted, measured) in &self.rows {
            let agreement = predicted.agreement(*measured);
            for who in [predicted.exercise.as_str(), "~ all"] {
                let counts = counts.entry(who).or_default();
                AGREEMENTS.iter().zip(counts).filter(|(it, _)| **it == agreement).for_each(|(_, count)| *count += 1);
            }
        }
        let header = ["verdicts, by exercise", "same", "inconclusive", "none with a GPU", "contrary"];
        let mut table = render::blank(header, output::look());
        for (who, counts) in counts {
            let mut row = vec![who.trim_start_matches("~ ").to_owned()];
            row.extend(counts.map(|count| count.to_string()));
            table.add_row(row);
        }
        let mut text = format!("{}\n", table.trim_fmt());
        if self.alone > 0 {
            let _infallible = writeln!(
                text,
                "\n{} measured {} without a predicted one",
                self.alone,
                noun(self.alone as u64, "verdict")
            );
        }
        for (predicted, measured) in self.contrary() {
            let _infallible = writeln!(text, "\n{}", contrary(predicted, *measured));
        }
        text
    }
}

/// What was predicted and what was measured of a verdict.
fn contrary(predicted: &Ruling, measured: Option<&Ruling>) -> String {
    let mut text = format!("{}: {} is predicted", predicted.key().join(" ").replace("  ", " "), predicted.verdict);
    if let Some(measured) = measured {
        let _infallible = write!(text, ", {} measured", measured.verdict);
    }
    let measured = |which: fn(&Ruling) -> Option<Ratio>| measured.and_then(which);
    for (whom, predicted, measured) in [
        ("the unfused chain", predicted.chain, measured(|ruling| ruling.chain)),
        ("the kernel to beat", predicted.rival, measured(|ruling| ruling.rival)),
    ] {
        let Some(Ratio { speedup, bar }) = predicted else { continue };
        let (median, low, high) = (speedup.median, speedup.low, speedup.high);
        let _infallible = write!(
            text,
            "\n    beside {whom}: {median:.2}x predicted, {low:.2}x to {high:.2}x with its band; bar {bar:.2}x"
        );
        if let Some(Ratio { speedup, .. }) = measured {
            let _infallible = write!(text, "; {:.2}x measured", speedup.median);
        }
    }
    text
}

fn failed(why: &str) -> Stop {
    Stop::Error(RunError::new("verdicts", why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_contrary_is_told_with_both_speedups() {
        let parse = |line: &str| line.parse::<Ruling>().expect("it is a verdict");
        let predicted = [
            parse("softmax,natural,tree,rows=1 columns=9,2.000,1.640,2.600,1.500,,,,,pass"),
            parse("softmax,solution,,rows=1 columns=9,2.000,1.640,2.600,1.700,,,,,inconclusive"),
            parse("softmax,top,,rows=1 columns=9,2.000,1.640,2.600,1.500,,,,,pass"),
        ];
        let measured = [
            parse("softmax,natural,tree,rows=1 columns=9,1.400,1.390,1.410,1.500,,,,,fail"),
            parse("softmax,solution,,rows=1 columns=9,1.800,1.790,1.810,1.700,,,,,pass"),
            parse("softmax,top,,rows=1 columns=9,1.900,1.890,1.910,1.500,,,,,pass"),
        ];
        let beside = Beside::new(&predicted, &measured);
        assert!(!beside.agrees() && Beside::new(&predicted[1..], &measured).agrees());
        let text = beside.table();
        let told = "softmax natural tree rows=1 columns=9: pass is predicted, fail measured\n    beside the unfused chain: \
                    2.00x predicted, 1.64x to 2.60x with its band; bar 1.50x; 1.40x measured\n";
        assert!(text.ends_with(told), "{text}");
        assert_eq!(beside.csv().lines().count(), 4);
    }
}
