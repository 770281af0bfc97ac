//! Outputs of commands in the book, listed in `book/generated.toml`.

mod command;
mod excerpt;
mod listing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::Failure;
use crate::changes::Changes;
use command::Made;
use listing::{Listing, Output};

/// Runs the commands that need no GPU and writes or compares what they make; of the others looks whether the file says where it is from.
pub(crate) fn regenerate(root: &Path, changes: &mut Changes) -> Result<(), Failure> {
    let path = root.join("book/generated.toml");
    let listing = Listing::parse(&crate::read(&path)?).map_err(|why| format!("book/generated.toml: {why}"))?;
    let wanted = |output: &&Output| output.files().iter().any(|file| changes.wants(file));
    let (gpu, own): (Vec<_>, Vec<_>) = listing.outputs.iter().filter(wanted).partition(|output| output.gpu);
    for output in gpu {
        for file in output.files() {
            if changes.wants(&file) {
                measured(output, &file, changes);
            }
        }
    }
    // What reads the output of another command comes after it.
    let (first, then): (Vec<_>, Vec<_>) = own.into_iter().partition(|output| !listing.reads_output(output));
    for outputs in [first, then] {
        make(root, &outputs, changes)?;
    }
    excerpts(&listing, changes)?;
    unlisted(&listing, changes);
    Ok(())
}

/// Runs the commands of these entries, each once and as many at a time as there are cores, and writes or compares what they make.
fn make(root: &Path, outputs: &[&Output], changes: &mut Changes) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    let commands: Vec<&Output> =
        outputs.iter().copied().filter(|output| seen.insert(output.command.as_str())).collect();
    let made = run_all(root, &commands)?;
    for output in outputs {
        for file in output.files() {
            if changes.wants(&file) {
                let text = made[output.command.as_str()].text(output, &file)?;
                changes.file(&file, &text, &format!("cargo xtask book --only {file}"))?;
            }
        }
    }
    Ok(())
}

fn run_all<'a>(root: &Path, commands: &[&'a Output]) -> Result<BTreeMap<&'a str, Made>, Failure> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut made = Vec::new();
        while let Some(output) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
            eprintln!("running {}", output.command);
            let begun = Instant::now();
            made.push((output.command.as_str(), command::run(root, output)?));
            eprintln!("took {:.1} s: {}", begun.elapsed().as_secs_f64(), output.command);
        }
        Ok(made)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Result<Vec<(&str, Made)>, Failure>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(commands.len())).map(|_| scope.spawn(take)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    parts.into_iter().collect::<Result<Vec<_>, _>>().map(|made| made.into_iter().flatten().collect())
}

/// Excerpts are made of the outputs as they are now, those from a GPU among them.
fn excerpts(listing: &Listing, changes: &mut Changes) -> Result<(), Failure> {
    for excerpt in &listing.excerpts {
        let file = excerpt.file();
        if !changes.wants(&file) && !changes.wants(&excerpt.of) {
            continue;
        }
        let text = crate::read(&changes.source().join(&excerpt.of))?;
        match excerpt.cut(&text) {
            Ok(text) => changes.compare(&file, &text, &format!("cargo xtask book --only {file}"))?,
            Err(why) => changes.problem(format!("book/generated.toml: {why}")),
        }
    }
    Ok(())
}

/// A file from a GPU cannot be made here. Its first line must say how it was: machine, date and command.
fn measured(output: &Output, file: &str, changes: &mut Changes) {
    let Ok(text) = std::fs::read_to_string(changes.source().join(file)) else {
        changes.problem(format!("book/src/{file} is missing\n  make it on a machine with a GPU: {}", output.command));
        return;
    };
    let first = text.lines().next().unwrap_or_default();
    let date = output.date.as_ref().map(ToString::to_string).unwrap_or_default();
    for needed in [output.command.as_str(), output.machine.as_deref().unwrap_or_default(), &date] {
        if !first.contains(needed) {
            changes.problem(format!(
                "book/src/{file}: its first line must name command, machine and date, and has no `{needed}`\n  is: {first}\n  \
                 fix the line, or its entry in book/generated.toml"
            ));
        }
    }
}

/// Files in a folder called `output` that no entry makes would be numbers from nowhere.
fn unlisted(listing: &Listing, changes: &mut Changes) {
    let mut listed: BTreeSet<String> = listing.outputs.iter().flat_map(Output::files).collect();
    listed.extend(listing.excerpts.iter().map(excerpt::Excerpt::file));
    let mut found = Vec::new();
    outputs(changes.source(), "", &mut found);
    found.sort();
    for file in found.iter().filter(|file| !listed.contains(*file)) {
        if changes.wants(file) {
            changes
                .problem(format!("book/src/{file} is in no entry of book/generated.toml: add one, or remove the file"));
        }
    }
}

/// Collects the files in all folders called `output`, by their path under `book/src`.
fn outputs(folder: &Path, path: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let inside = if path.is_empty() { name } else { format!("{path}/{name}") };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            outputs(&entry.path(), &inside, found);
        } else if path.split('/').any(|part| part == "output") {
            found.push(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book with these files under `src`, checked.
    fn check(generated: &str, files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        let source = root.path().join("book/src");
        std::fs::create_dir_all(source.join("day22/output")).unwrap();
        std::fs::write(root.path().join("book/generated.toml"), generated).unwrap();
        for (file, text) in files {
            std::fs::write(source.join(file), text).unwrap();
        }
        let mut changes = Changes::new(&source, true, None);
        match regenerate(root.path(), &mut changes) {
            Ok(()) => changes.summary(),
            Err(failure) => failure,
        }
    }

    const MEASURED: &str = r#"
        [[output]]
        file = "day22/output/a.txt"
        command = "lesson-a --device gpu"
        gpu = true
        machine = "one NVIDIA H200"
        date = 2026-11-21
    "#;

    #[test]
    fn a_measured_file_says_where_it_is_from() {
        let right = "# lesson-a --device gpu, on one NVIDIA H200, 2026-11-21\n\n1 ms\n";
        assert!(check(MEASURED, &[("day22/output/a.txt", right)]).ends_with("0 problems\n"));
        for wrong in ["1 ms\n", "# lesson-a --device gpu, on one NVIDIA H200, 2026-11-20\n", ""] {
            let text = check(MEASURED, &[("day22/output/a.txt", wrong)]);
            assert!(text.contains("must name command, machine and date"), "{text}");
        }
        assert!(check(MEASURED, &[]).contains("a.txt is missing"));
    }

    #[test]
    fn a_file_from_nowhere_is_a_problem() {
        let text = check("output = []", &[("day22/output/b.txt", "1.67\n")]);
        assert!(text.contains("day22/output/b.txt is in no entry"), "{text}");
    }

    #[test]
    fn an_output_is_compared_with_what_its_command_prints() {
        let listing = "[[output]]\nfile = \"day22/output/a.txt\"\ncommand = \"cargo --version\"\n";
        let text = check(listing, &[("day22/output/a.txt", "# cargo --version\n\ncargo 0.0\n")]);
        assert!(text.contains("a.txt differs from line 3") && text.contains("fix it with: cargo xtask book"), "{text}");
        let text = check("[[output]]\nfile = \"a.txt\"\ncommand = \"cargo nosuchcommand\"\n", &[]);
        assert!(text.contains("`cargo nosuchcommand` failed"), "{text}");
    }
}
