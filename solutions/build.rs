//! Collects a day's top rungs and samples, so that adding one is adding its files, or an entry.
//!
//! Each `top/<exercise>.cu` becomes an entry of `$OUT_DIR/top.rs`, which `top.rs` beside this file includes. It is launched
//! by the function `<exercise>` of the `.rs` beside it.
//!
//! Samples are what the grader is tested with. Each becomes an entry of `$OUT_DIR/samples.rs`, which `samples.rs` beside this
//! file includes. One is each `unusual/<exercise>/<name>.cu` and each `natural/<exercise>/<name>.cu`, launched by the `.rs` beside it, or as
//! the solution is where there is none. Another one is each entry of `wrong/<exercise>.toml`. Its kernel is the solution's with the entry's edits, or all of `wrong/<exercise>/<entry>.cu` where that is another kernel. Its
//! launch comes about in the same way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use fusion_edits::{Edit, Mistake};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=wrong");
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    for folder in ["top", "unusual", "natural"] {
        // Cargo takes a folder that is not there as one that has changed, every time.
        println!("cargo::rerun-if-changed={}", if package.join(folder).exists() { folder } else { "." });
    }
    let day = variable("CARGO_PKG_NAME")?.trim_start_matches("solutions-").to_owned();
    top(&package, &day)?;
    samples(&package, &day)
}

/// Collects the top rungs.
fn top(package: &Path, day: &str) -> io::Result<()> {
    let (mut modules, mut entries) = (String::new(), String::new());
    for kernel in sorted(&package.join("top"))?.iter().filter(|path| path.extension().is_some_and(|it| it == "cu")) {
        let (exercise, launch) = (stem(kernel), kernel.with_extension("rs"));
        modules += &format!("#[path = {launch:?}]\nmod {exercise};\n");
        let path = format!("solutions/{day}/top/{exercise}.cu");
        let source = format!("Source {{ path: {path:?}.to_owned(), text: include_str!({kernel:?}).to_owned() }}");
        entries += &format!("        course::{exercise}::entry({exercise}::{exercise}, {source}),\n");
    }
    let uses = if entries.is_empty() { "" } else { &format!("use fusion_course::{{Source, {day} as course}};\n") };
    let text = format!("{uses}{modules}\nfn collected() -> Vec<Entry> {{\n    vec![\n{entries}    ]\n}}\n");
    fs::write(PathBuf::from(variable("OUT_DIR")?).join("top.rs"), text)
}

/// Collects the samples: right answers, and wrong ones.
fn samples(package: &Path, day: &str) -> io::Result<()> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let (mut modules, mut entries) = (String::new(), String::new());
    for exercise in exercises(package)? {
        let mut collected = Vec::new();
        for (folder, verdict) in ANSWERS {
            collected.extend(answers(&package.join(folder).join(&exercise), folder, verdict)?);
        }
        let file = package.join("wrong").join(&exercise).with_extension("toml");
        if file.exists() {
            let solution = package.join("src").join(&exercise);
            let texts = Texts { solution, whole: file.with_extension(""), edited: out.join(&exercise) };
            let wrong = texts.collect(&file).map_err(|error| at(&format!("wrong/{exercise}.toml"), &error))?;
            collected.extend(wrong);
        }
        let launches: BTreeSet<_> = collected.iter().filter_map(|(_, sample)| sample.launch.as_ref()).collect();
        for launch in launches {
            // A solution's launch is public, and stays so when it is edited.
            let module = format!("mod {exercise}_{};", stem(launch));
            modules += &format!("#[path = {launch:?}]\n#[allow(unreachable_pub)]\n{module}\n");
        }
        for (name, Collected { folder, verdict, sentence, kernel, launch }) in &collected {
            let function = match launch {
                Some(launch) => format!("{exercise}_{}::{exercise}", stem(launch)),
                None => format!("crate::{exercise}::{exercise}"),
            };
            let path = format!("solutions/{day}/{folder}/{exercise}/{name}.cu");
            let source = format!("Source {{ path: {path:?}.to_owned(), text: include_str!({kernel:?}).to_owned() }}");
            let entry = format!("course::{exercise}::entry({function}, {source})");
            let named = format!("name: {name:?}, verdict: {verdict:?}, sentence: {sentence:?}");
            entries += &format!("        Sample {{ {named}, entry: {entry} }},\n");
        }
    }
    let uses = format!("use fusion_course::{day} as course;\n");
    let text = format!("{uses}{modules}\nfn collected() -> Vec<Sample> {{\n    vec![\n{entries}    ]\n}}\n");
    fs::write(out.join("samples.rs"), text)
}

/// The exercises that have samples.
fn exercises(package: &Path) -> io::Result<BTreeSet<String>> {
    let mut paths = sorted(&package.join("wrong"))?;
    paths.retain(|path| path.is_file());
    for (folder, _) in ANSWERS {
        paths.extend(sorted(&package.join(folder))?);
    }
    Ok(paths.iter().map(|path| stem(path)).collect())
}

/// The folders of right answers, and what must be said of them: `PASS` and `RIGHT` of `fusion_course::Sample`.
const ANSWERS: [(&str, &str); 2] = [("unusual", "pass"), ("natural", "right")];

/// The right answers to an exercise in a folder, whose files begin with a comment that says what they are.
fn answers(path: &Path, folder: &'static str, verdict: &str) -> io::Result<Vec<(String, Collected)>> {
    let mut collected = Vec::new();
    for kernel in sorted(path)?.into_iter().filter(|path| path.extension().is_some_and(|it| it == "cu")) {
        let text = fs::read_to_string(&kernel)?;
        let sentence = text.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or_default().to_owned();
        let launch = Some(kernel.with_extension("rs")).filter(|launch| launch.exists());
        collected.push((stem(&kernel), Collected { folder, verdict: verdict.to_owned(), sentence, kernel, launch }));
    }
    Ok(collected)
}

/// A sample, and where the texts of its two files are.
struct Collected {
    folder: &'static str,
    verdict: String,
    sentence: String,
    kernel: PathBuf,
    /// None for the solution's.
    launch: Option<PathBuf>,
}

/// Where the texts of an exercise's wrong kernels come from.
struct Texts {
    /// The solution's files, without their extensions.
    solution: PathBuf,
    /// The folder of kernels that are other ones.
    whole: PathBuf,
    /// The folder that edited texts are written to.
    edited: PathBuf,
}

impl Texts {
    fn collect(&self, file: &Path) -> io::Result<Vec<(String, Collected)>> {
        let mistakes = fusion_edits::read(&fs::read_to_string(file)?).map_err(io::Error::other)?;
        let mut collected = Vec::new();
        for (name, mistake) in mistakes {
            let wrong = self.one(&name, mistake).map_err(|error| at(&name, &error))?;
            collected.push((name, wrong));
        }
        for path in sorted(&self.whole)? {
            let used = collected.iter().any(|(_, wrong)| wrong.kernel == path || wrong.launch.as_ref() == Some(&path));
            if !used && path.extension().is_some_and(|extension| extension == "cu" || extension == "rs") {
                return Err(io::Error::other(format!("it has no entry for {}", path.display())));
            }
        }
        Ok(collected)
    }

    fn one(&self, name: &str, mistake: Mistake) -> io::Result<Collected> {
        let kernel = self.text(name, "cu", &mistake.cu)?;
        let launch = self.text(name, "rs", &mistake.rs)?;
        if kernel.is_none() && launch.is_none() {
            return Err(io::Error::other("it edits nothing, and has no files"));
        }
        let kernel = kernel.unwrap_or_else(|| self.solution.with_extension("cu"));
        let verdict = mistake.verdict().ok_or("it states no one verdict").map_err(io::Error::other)?;
        Ok(Collected { folder: "wrong", verdict, sentence: mistake.mistake, kernel, launch })
    }

    /// Where an entry's text of a kind is, unless it is the solution's.
    fn text(&self, name: &str, extension: &str, edits: &[Edit]) -> io::Result<Option<PathBuf>> {
        let whole = self.whole.join(name).with_extension(extension);
        match (whole.exists(), edits.is_empty()) {
            (true, true) => return Ok(Some(whole)),
            (true, false) => {
                return Err(io::Error::other(format!("it edits the .{extension}, and has one of its own")));
            }
            (false, true) => return Ok(None),
            (false, false) => {}
        }
        let solution = self.solution.with_extension(extension);
        let text = fs::read_to_string(&solution)?;
        let edited = fusion_edits::apply(&text, edits).map_err(|stale| at(&solution.display().to_string(), &stale))?;
        fs::create_dir_all(&self.edited)?;
        let path = self.edited.join(name).with_extension(extension);
        fs::write(&path, edited)?;
        Ok(Some(path))
    }
}

fn at(place: &str, error: &dyn std::error::Error) -> io::Error {
    io::Error::other(format!("{place}: {error}"))
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

/// The paths in a folder, which may not be there.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
