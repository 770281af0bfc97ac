//! Mutants of the solutions and of the top rungs: systematic wrong versions, which the grader must refuse.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fusion_grader::judgement::{DeviceKind, Fate, Parts, RunError};
use fusion_mutants::{Equivalents, Mutant};

use super::Tally;
use super::score::{Equivalent, Score, Survivor};
use crate::interrupt::Interrupt;
use crate::judge::{self, Stop};
use crate::parallel;
use crate::process::{End, Watch};
use crate::progress::Progress;

/// What it takes to judge mutants.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    /// The workspace's root, under which the sources and the lists lie.
    pub(crate) root: &'a Path,
    /// Of a kernel that has more, so many are judged, evenly spread over it.
    pub(crate) most: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) limit: Duration,
    pub(crate) interrupt: &'a Interrupt,
    pub(crate) progress: &'a Progress,
}

/// The right kernel that mutants are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Original<'a> {
    pub(crate) day: u32,
    pub(crate) exercise: &'a str,
    /// The top rung of its ladder, not its solution.
    pub(crate) top: bool,
    /// What judges them.
    pub(crate) program: &'a Path,
}

impl Original<'_> {
    fn path(&self) -> String {
        let folder = if self.top { "top" } else { "src" };
        format!("solutions/day{}/{folder}/{}.cu", self.day, self.exercise)
    }

    /// The mutants that are no mistakes.
    fn list(&self) -> String {
        let folder = if self.top { "mutants/top" } else { "mutants" };
        format!("solutions/day{}/{folder}/{}.txt", self.day, self.exercise)
    }

    fn name(&self) -> String {
        if self.top { format!("{} (top)", self.exercise) } else { self.exercise.to_owned() }
    }
}

/// One kernel's mutants.
struct Kernel<'a> {
    original: Original<'a>,
    chosen: Vec<Mutant>,
    known: Known,
}

/// The list of mutants that are no mistakes.
struct Known {
    /// Its file.
    list: String,
    equivalents: Equivalents,
    /// Whether every mutant is judged, and so every entry must be of use.
    whole: bool,
}

/// A mutant with what became of it.
type Judged<'a> = (&'a Mutant, Fate);

/// So many of a kernel are worth another process, which has to judge the kernel itself first.
const WORTH_A_PROCESS: usize = 8;

impl Judge<'_> {
    /// Judges the mutants of these kernels, on all cores.
    pub(crate) fn all(&self, originals: &[Original<'_>], tally: &mut Tally) -> Result<(), Stop> {
        let kernels: Vec<Kernel<'_>> =
            originals.iter().filter_map(|&original| self.kernel(original, &mut tally.problems)).collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(16);
        let jobs = |(index, kernel): (usize, &Kernel<'_>)| {
            let workers = kernel.chosen.len().div_ceil(WORTH_A_PROCESS).clamp(1, cores);
            (0..workers).map(move |worker| (index, worker, workers))
        };
        // The last kernels take longest, and should not be begun last.
        let jobs: Vec<_> = kernels.iter().enumerate().flat_map(jobs).rev().collect();
        let judged = parallel::each(jobs.len(), |job| {
            let (index, worker, workers) = jobs[job];
            let Kernel { original, chosen, .. } = &kernels[index];
            let judged = self.some(original, chosen.iter().skip(worker).step_by(workers))?;
            if worker == 0 {
                self.progress.step();
            }
            Ok((index, judged))
        })?;
        let mut of_kernel: Vec<Vec<Judged<'_>>> = kernels.iter().map(|_| Vec::new()).collect();
        judged.into_iter().for_each(|(index, judged)| of_kernel[index].extend(judged));
        for (kernel, mut judged) in kernels.iter().zip(of_kernel) {
            judged.sort_by_key(|(mutant, _)| (mutant.line, mutant.column, mutant.id.as_str()));
            tally.scores.exercises.push(count(&kernel.original.name(), &kernel.known, &judged, &mut tally.problems));
        }
        Ok(())
    }

    /// Makes a kernel's mutants. What is wrong with its files goes to `problems`.
    fn kernel<'o>(&self, original: Original<'o>, problems: &mut Vec<String>) -> Option<Kernel<'o>> {
        let (path, list) = (original.path(), original.list());
        let source = std::fs::read_to_string(self.root.join(&path))
            .map_err(|error| problems.push(format!("cannot read {path}: {error}")))
            .ok()?;
        // A kernel without equivalent mutants needs no list.
        let text = std::fs::read_to_string(self.root.join(&list)).unwrap_or_default();
        let equivalents = Equivalents::parse(&text).unwrap_or_else(|error| {
            problems.push(format!("{list}: {error}"));
            Equivalents::default()
        });
        let mutants = fusion_mutants::mutants(&source);
        let one_in = self.most.map_or(1, |most| mutants.len().div_ceil(most.max(1))).max(1);
        let chosen = mutants.into_iter().step_by(one_in).collect();
        Some(Kernel { original, chosen, known: Known { list, equivalents, whole: one_in == 1 } })
    }

    /// Judges some mutants: many in one process, a new one after each that takes its process or its context with it.
    fn some<'m>(
        &self,
        original: &Original<'_>,
        mutants: impl Iterator<Item = &'m Mutant>,
    ) -> Result<Vec<Judged<'m>>, Stop> {
        let mut judged = Vec::new();
        let mut left: VecDeque<&Mutant> = mutants.collect();
        while !left.is_empty() {
            let mut command = Command::new(original.program);
            command.current_dir(self.root).args(["judge", "--exercise", original.exercise, "--device", "emulated"]);
            if original.top {
                command.arg("--top");
            }
            // What is slow is no mistake.
            let parts = Parts::wanted(DeviceKind::Emulated, false).join(",");
            command.args(["--parts", &parts, "--seed", &self.seed.to_string()]);
            for mutant in &left {
                command.args(["--mutant", &mutant.id]);
            }
            let watch = Watch { limit: self.limit, interrupt: self.interrupt };
            let (told, end) = judge::attend(&mut command, original.exercise, &watch, self.progress)?;
            let any = !told.fates.is_empty();
            for (id, fate) in told.fates {
                match left.pop_front() {
                    Some(mutant) if mutant.id == id => judged.push((mutant, fate)),
                    _ => return Err(Stop::Error(RunError::new("build", format!("{id} was not asked for")))),
                }
            }
            // The process ended in the middle of one, which is that one's fate.
            if (!any || !matches!(end, End::Exited(_)))
                && let Some(mutant) = left.pop_front()
            {
                let failure = Box::new(judge::death(end, self.limit, &told.doing, &[]));
                judged.push((mutant, Fate::Refused { failure }));
            }
        }
        Ok(judged)
    }
}

/// The score of one solution. What is wrong with the grader or with the list goes to `problems`.
fn count(
    exercise: &str,
    Known { list, equivalents, whole }: &Known,
    judged: &[Judged<'_>],
    problems: &mut Vec<String>,
) -> Score {
    let mut score = Score { exercise: exercise.to_owned(), made: judged.len(), ..Score::default() };
    // Whether each entry of the list says something that is not known without it.
    let mut needed = vec![false; equivalents.entries.len()];
    for (mutant, fate) in judged {
        let id = format!("{exercise}/{}", mutant.id);
        let listed = equivalents.find(mutant);
        match fate {
            Fate::NotCompiled => score.not_compiled += 1,
            Fate::SameCode => score.same_code += 1,
            Fate::Unjudged { note } => problems.push(format!("{id} cannot be judged: {note}\n{}", mutant.diff())),
            Fate::Refused { failure } => {
                let reason = failure.reason();
                if let Some(entry) = listed {
                    problems.push(format!(
                        "{list}:{}: {id} is listed as equivalent (\"{}\") and is refused for `{reason}`: {}\n{}",
                        entry.line,
                        entry.reason,
                        failure.title,
                        mutant.diff()
                    ));
                } else if !mutant.operator.admits(&reason) {
                    problems.push(format!(
                        "{id} is refused for `{reason}`, which is no reason for a mutant that {}: {}\n{}",
                        mutant.operator.does,
                        failure.title,
                        mutant.diff()
                    ));
                }
                *score.refused.entry(reason).or_default() += 1;
            }
            Fate::Survived => match listed {
                Some(entry) => {
                    if let Some(index) = equivalents.entries.iter().position(|other| other == entry) {
                        needed[index] = true;
                    }
                    score.equivalent.push(Equivalent { id, reason: entry.reason.clone() });
                }
                None => {
                    let does = mutant.operator.does.to_owned();
                    score.survived.push(Survivor { id, does, diff: mutant.diff() });
                }
            },
        }
    }
    for (entry, _) in equivalents.entries.iter().zip(needed).filter(|(_, needed)| *whole && !needed) {
        problems.push(format!(
            "{list}:{}: no mutant that survives is called `{}`: take the line out, or fix its pattern",
            entry.line, entry.pattern
        ));
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_grader::judgement::{Code, Failure};

    const SOURCE: &str =
        "__global__ void k(float* out, size_t n) {\n    if (threadIdx.x < n) out[threadIdx.x] = 1.0f;\n}\n";

    /// The score where every mutant has the same fate but the ones named.
    fn scored(fate: &Fate, but: &[(&str, Fate)], list: &str) -> (Score, Vec<String>) {
        let mutants = fusion_mutants::mutants(SOURCE);
        let fates = |id: &str| but.iter().find(|(name, _)| *name == id).map_or(fate, |(_, fate)| fate).clone();
        let judged: Vec<Judged<'_>> = mutants.iter().map(|mutant| (mutant, fates(&mutant.id))).collect();
        let mut problems = Vec::new();
        let equivalents = Equivalents::parse(list).unwrap();
        let known = Known { list: "list.txt".to_owned(), equivalents, whole: true };
        let score = count("k", &known, &judged, &mut problems);
        (score, problems)
    }

    fn refused(code: Code) -> Fate {
        Fate::Refused { failure: Box::new(Failure::new(code, "wrong")) }
    }

    #[test]
    fn what_survives_unlisted_is_a_survivor() {
        let (score, problems) = scored(&refused(Code::Values), &[("lt-to-le@2:21", Fate::Survived)], "");
        assert_eq!((score.survived.len(), score.refused(), problems.len()), (1, score.made - 1, 0), "{problems:?}");
        assert_eq!(score.survived[0].id, "k/lt-to-le@2:21");
        assert!(score.survived[0].diff.contains("+ if (threadIdx.x <= n)"));
    }

    #[test]
    fn a_listed_survivor_is_equivalent() {
        let but = [("lt-to-le@2:21", Fate::Survived)];
        let (score, problems) = scored(&refused(Code::Values), &but, "lt-to-le@* in \"x < n\": because");
        assert_eq!((score.survived.len(), score.equivalent.len()), (0, 1));
        assert!(problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn a_list_cannot_rot() {
        for (list, words) in [
            ("lt-to-le@*: because", "listed as equivalent (\"because\") and is refused for `values`"),
            ("no-such@*: because", "no mutant that survives is called `no-such@*`"),
        ] {
            let (_, problems) = scored(&refused(Code::Values), &[], list);
            assert!(problems.iter().any(|problem| problem.contains(words)), "{problems:?}");
        }
    }

    #[test]
    fn a_wrong_class_is_a_problem() {
        for (fate, words) in [
            (refused(Code::Crash), "is refused for `crash`, which is no reason"),
            (Fate::Unjudged { note: "it is dark".to_owned() }, "cannot be judged: it is dark"),
        ] {
            let (_, problems) = scored(&refused(Code::Values), &[("lt-to-le@2:21", fate)], "");
            assert!(problems.len() == 1 && problems[0].contains(words), "{problems:?}");
        }
    }
}
