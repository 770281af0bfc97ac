//! Makes submissions of the answers and of the mistakes in them: `$OUT_DIR/collected.rs`, which `src/main.rs` includes.
//!
//! Each entry of `mistakes/EXERCISE.toml` edits `answers/EXERCISE.{cu,rs}`, where there is none the plain solution, or has a file of its own instead of one of the two:
//! `mistakes/EXERCISE/NAME.cu`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use fusion_edits::Edit;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=answers");
    println!("cargo::rerun-if-changed=mistakes");
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let mut made = Made::default();
    for list in fs::read_dir(package.join("mistakes"))? {
        let list = list?.path();
        if list.extension().is_some_and(|extension| extension == "toml") {
            made.exercise(&package, &answer_to(&package, &list)?, &out)?;
        }
    }
    let Made { modules, answers, mistakes } = made;
    let function =
        |name: &str, of: &str, items: &str| format!("fn {name}() -> Vec<{of}> {{\n    vec![\n{items}    ]\n}}\n");
    let text = modules + &function("answers", "Entry", &answers) + &function("mistakes", "Sample", &mistakes);
    fs::write(out.join("collected.rs"), text)
}

/// The kernel that the mistakes of a list are made in.
fn answer_to(package: &Path, list: &Path) -> io::Result<PathBuf> {
    let file = Path::new(list.file_stem().unwrap_or_default()).with_extension("cu");
    let own = package.join("answers").join(&file);
    if own.exists() {
        return Ok(own);
    }
    let solutions = package.join("../../solutions");
    println!("cargo::rerun-if-changed={}", solutions.display());
    let days = fs::read_dir(&solutions)?.collect::<io::Result<Vec<_>>>()?;
    let mut answers = days.iter().map(|day| day.path().join("src").join(&file));
    answers.find(|answer| answer.exists()).ok_or_else(|| io::Error::other(format!("{}: no answer", list.display())))
}

/// Rust code.
#[derive(Default)]
struct Made {
    modules: String,
    answers: String,
    mistakes: String,
}

impl Made {
    fn exercise(&mut self, package: &Path, answer: &Path, out: &Path) -> io::Result<()> {
        let exercise = answer.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let entry = self.entry(&exercise, "right", answer, &answer.with_extension("rs"));
        self.answers += &format!("        {entry},\n");
        let list = package.join("mistakes").join(&exercise).with_extension("toml");
        let mistakes = fusion_edits::read(&fs::read_to_string(&list)?).map_err(io::Error::other)?;
        for (name, mistake) in mistakes {
            let file = |extension: &str, edits: &[Edit]| {
                let own = list.with_extension("").join(&name).with_extension(extension);
                if own.exists() {
                    return Ok(own);
                }
                let text = fs::read_to_string(answer.with_extension(extension))?;
                let edited = fusion_edits::apply(&text, edits)
                    .map_err(|stale| io::Error::other(format!("{}: {name}: {stale}", list.display())))?;
                let path = out.join(&exercise).join(&name).with_extension(extension);
                fs::create_dir_all(out.join(&exercise))?;
                fs::write(&path, edited)?;
                io::Result::Ok(path)
            };
            let (kernel, launch) = (file("cu", &mistake.cu)?, file("rs", &mistake.rs)?);
            let entry = self.entry(&exercise, &name, &kernel, &launch);
            let sentence = mistake.mistake;
            self.mistakes += &format!(
                "        Sample {{ name: {name:?}, verdict: \"\", sentence: {sentence:?}, entry: {entry} }},\n"
            );
        }
        Ok(())
    }

    /// The expression of an entry, whose launch becomes a module.
    fn entry(&mut self, exercise: &str, name: &str, kernel: &Path, launch: &Path) -> String {
        let module = format!("{exercise}_{name}");
        self.modules += &format!(
            "#[path = {launch:?}]\n#[allow(unreachable_pub, unused, clippy::all, clippy::unwrap_used)]\nmod {module};\n"
        );
        format!("entry!({exercise}, {module}::{exercise}, include_str!({kernel:?}), include_str!({launch:?}))")
    }
}
