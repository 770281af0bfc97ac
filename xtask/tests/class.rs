//! `grade --class`: right answers pass, and hostile ones are refused or reach nothing.
//!
//! Each file of `tests/hostile` is one submission to `mul_add`. Its first line says what must come of it:
//!
//! - `contained`: a pass, because the kernel is right and all else had no effect. What it tries, it checks itself, and panics if it
//!   succeeds.
//! - `refused: CODE`: a failure of this kind; `refused`: of any.
//!
//! After `honest:` stands what must come of it without `--class`, for what `grade` promises, too.
//!
//! A `.rs` has a function `hostile`, which the launch calls before it does what is right, or a `mul_add` of its own. A `.cu` is the
//! whole kernel. A `.sh` makes the folder. `@SECRET@` is a file of others', `@OUTSIDE@` the folder that it is in, `@ROOT@` this
//! repository, `@PORT@` a port that something listens at.

#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What is in the file of others'.
const SECRET: &str = "nothing of this may be seen: 2f1c";

/// So many at once: some of them only wait.
const AT_ONCE: usize = 4;

/// One test at a time: each looks whether anything is left.
static ALONE: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

fn grade(arguments: &[&str]) -> Output {
    grade_by(Command::new(env!("CARGO_BIN_EXE_xtask")), arguments)
}

/// The same, started with a file open as descriptor 9.
fn grade_with_9(file: &Path, arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" \"$@\" 9<\"$file\"", env!("CARGO_BIN_EXE_xtask")]).env("file", file);
    grade_by(shell, arguments)
}

fn grade_by(mut command: Command, arguments: &[&str]) -> Output {
    command.arg("grade").args(arguments).arg("--json").current_dir(root()).stdin(Stdio::null());
    command.env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR")).output().expect("xtask runs")
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

/// Whether this machine cannot confine programs, which `--class` then says.
fn unavailable() -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = grade(&["--class", &folder.path().display().to_string(), "mul_add"]);
    let unavailable = report(&output)["error"]["code"] == "not-contained";
    assert!(!unavailable || output.status.code() == Some(2));
    if unavailable {
        eprintln!("skipped: this machine cannot confine programs");
    }
    unavailable
}

/// Processes and folders of runs that have ended.
fn left_behind() -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let class = program.parent().expect("a folder").join("class");
    let folders = fs::read_dir(&class).into_iter().flatten().flatten().map(|entry| entry.path().display().to_string());
    folders.chain(processes(&class)).collect()
}

/// Processes whose program is in a folder.
fn processes(folder: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.path());
    let inside =
        |process: &PathBuf| fs::read_link(process.join("exe")).is_ok_and(|program| program.starts_with(folder));
    all.filter(inside).map(|process| process.display().to_string()).collect()
}

/// A hostile submission.
struct Case {
    name: String,
    text: String,
    extension: String,
}

impl Case {
    fn all() -> Vec<Case> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
        let mut cases: Vec<Case> =
            fs::read_dir(folder).expect("the cases").flatten().map(|entry| Case::at(&entry.path())).collect();
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        cases
    }

    fn at(path: &Path) -> Case {
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("a case is text");
        Case { name: part(path.file_stem()), text, extension: part(path.extension()) }
    }

    /// What must come of it with `--class`, and without.
    fn expected(&self) -> (&str, Option<&str>) {
        let line = self.text.lines().next().unwrap_or_default().trim_start_matches(['/', '#', ' ']);
        line.split_once("; honest: ").map_or((line, None), |(class, honest)| (class, Some(honest)))
    }

    /// Runs it; an error says in what it is not as it should be.
    fn run(&self, libraries: &Libraries) -> Result<(), String> {
        let (class, honest) = self.expected();
        self.judge(class, |folder, _| {
            let secret = folder.with_file_name("outside").join("secret");
            // One that never ends keeps a core busy until its time is up.
            let timeout = if class == "refused: timeout" { "12" } else { "25" };
            grade_with_9(&secret, &["--class", &folder.display().to_string(), "mul_add", "--timeout", timeout])
        })?;
        let Some(honest) = honest else { return Ok(()) };
        let judged = self.judge(honest, |folder, program| libraries.grade(folder, program));
        judged.map_err(|why| format!("without --class: {why}"))
    }

    fn judge(&self, expected: &str, grade: impl FnOnce(&Path, &Path) -> Output) -> Result<(), String> {
        let room = tempfile::tempdir().expect("a temporary folder");
        let (folder, outside) = (room.path().join("submission"), room.path().join("outside"));
        let (secret, program) = (outside.join("secret"), room.path().join("program"));
        [&folder, &outside, &program].iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
        fs::write(&secret, SECRET).expect("a file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let port = listener.local_addr().expect("a port").port().to_string();
        self.write(&folder, &secret, &port);
        let before = listing(&[&folder, &outside]);

        let output = grade(&folder, &program);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        let report = report(&output);
        let parts = &report["exercises"][0]["parts"];
        let code = ["right", "lean", "fast"].iter().find_map(|part| parts[part]["failure"]["code"].as_str());
        let verdict = report["exercises"][0]["verdict"].as_str().unwrap_or_default();
        let mut as_expected = false;
        for expected in expected.split(" or ") {
            as_expected |= match expected.split_once(": ") {
                Some(("refused", wanted)) => output.status.code() == Some(1) && code == Some(wanted),
                None if expected == "refused" => output.status.code() == Some(1) && verdict == "fail",
                None if expected == "contained" => output.status.code() == Some(0) && verdict == "pass",
                _ => return Err("its first line says nothing that is known".to_owned()),
            };
        }
        let problem = if !as_expected {
            "something else came of it"
        } else if all.contains(SECRET) || all.contains("root:") {
            "it read what it must not"
        } else if all.contains('\u{1b}') {
            "a terminal would obey it"
        } else if listing(&[&folder, &outside]) != before || fs::read_to_string(&secret).ok().as_deref() != Some(SECRET)
        {
            "files were changed"
        } else if listener.accept().is_ok() {
            "it reached the network"
        } else if !processes(&program).is_empty() {
            "a process is left"
        } else {
            return Ok(());
        };
        let shown: String = all.chars().take(3000).collect();
        Err(format!("{problem}: {verdict} {code:?}, {:?}\n{shown}", output.status))
    }

    fn write(&self, folder: &Path, secret: &Path, port: &str) {
        let outside = secret.parent().expect("a folder").display().to_string();
        let (here, root, solutions) = (env!("CARGO_MANIFEST_DIR"), root(), root().join("solutions/day22/src"));
        let text = self.text.replace("@SECRET@", &secret.display().to_string()).replace("@OUTSIDE@", &outside);
        let text = text.replace("@ROOT@", &root.display().to_string()).replace("@PORT@", port);
        let template =
            |name: &str| fs::read_to_string(Path::new(here).join("tests/class").join(name)).expect("a template");
        let right = |file: &str| fs::read_to_string(solutions.join(file)).expect("a solution");
        let launch = match (self.extension.as_str(), text.contains("pub fn mul_add")) {
            ("rs", true) => template("template.rs") + &text,
            ("rs", false) => template("template.rs") + &template("launch.rs") + &text,
            _ => right("mul_add.rs"),
        };
        if self.extension == "sh" {
            let mut shell = Command::new("sh");
            shell.args(["-ec", &text]).current_dir(folder).env("right", solutions);
            shell.env("secret", secret).env("outside", outside);
            assert!(shell.status().is_ok_and(|status| status.success()), "{}", self.name);
            return;
        }
        let kernel = if self.extension == "cu" { text } else { right("mul_add.cu") };
        fs::write(folder.join("mul_add.rs"), launch)
            .and_then(|()| fs::write(folder.join("mul_add.cu"), kernel))
            .expect("files");
    }
}

/// The course's libraries, for a worker that holds a submission as those of `exercises` do.
struct Libraries {
    rustc: Vec<String>,
    driver: PathBuf,
}

impl Libraries {
    fn find() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--package", "xtask", "--message-format=json"]).current_dir(root());
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let said = build.output().expect("cargo runs").stdout;
        let mut rustc = Vec::new();
        let mut driver = PathBuf::new();
        for line in String::from_utf8_lossy(&said).lines() {
            let message: Value = serde_json::from_str(line).unwrap_or_default();
            let name = message["target"]["name"].as_str().unwrap_or_default().replace('-', "_");
            let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for file in files {
                if file.ends_with(".rlib") && ["cudarc", "fusion_course", "fusion_grader"].contains(&name.as_str()) {
                    let deps = Path::new(file).parent().expect("a folder");
                    rustc.extend(["--extern".to_owned(), format!("{name}={file}")]);
                    rustc.extend(["-L".to_owned(), format!("dependency={}", deps.display())]);
                    driver = deps.join("libfusion_driver.so");
                }
            }
        }
        Self { rustc, driver }
    }

    /// Grades a submission as `grade` does: its Rust code is in the worker.
    fn grade(&self, folder: &Path, program: &Path) -> Output {
        let main = program.join("main.rs");
        let text = format!(
            "#[path = {:?}]\nmod mul_add;\nfn main() -> std::process::ExitCode {{\n\
             let source = fusion_course::Source {{ path: \"mul_add.cu\".to_owned(), text: include_str!({:?}).to_owned() }};\n\
             let entries = vec![fusion_course::day22::mul_add::entry(mul_add::mul_add, source)];\n\
             fusion_grader::main(fusion_course::Submission {{ day: 22, entries }})\n}}\n",
            folder.join("mul_add.rs"),
            folder.join("mul_add.cu"),
        );
        fs::write(&main, text).expect("a file");
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc
            .args(["--edition=2024", "--cap-lints=allow", "-Cstrip=debuginfo", "-o"])
            .arg(program.join("exercises-day22"))
            .arg(&main);
        let built = rustc.args(&self.rustc).current_dir(root()).output().expect("rustc runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let xtask = program.join("xtask");
        if fs::hard_link(env!("CARGO_BIN_EXE_xtask"), &xtask).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_xtask"), &xtask).expect("a copy");
        }
        let mut command = Command::new(xtask);
        command.args(["grade", "mul_add", "--prebuilt", "--device", "emulated", "--timeout", "12", "--json"]);
        command.env("FUSION_EMULATOR", &self.driver).current_dir(root()).stdin(Stdio::null());
        command.output().expect("xtask runs")
    }
}

/// The names of all that is there.
fn listing(folders: &[&Path]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders.iter().map(|folder| folder.to_path_buf()).collect();
    let mut next = 0;
    while next < found.len() {
        if found[next].is_dir() && !found[next].is_symlink() {
            found.extend(fs::read_dir(&found[next]).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        next += 1;
    }
    found.sort();
    found
}

#[test]
fn hostile_submissions_are_refused_or_contained() {
    let _alone = ALONE.lock();
    if unavailable() {
        return;
    }
    let only = std::env::var("HOSTILE").unwrap_or_default();
    let waiting: Mutex<Vec<Case>> =
        Mutex::new(Case::all().into_iter().filter(|case| case.name.contains(&only)).collect());
    let count = waiting.lock().expect("the cases").len();
    assert!(count >= 60 || !only.is_empty(), "there are only {count}");
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let libraries = Libraries::find();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("the cases").pop();
                    let Some(case) = next else { break };
                    let started = Instant::now();
                    if let Err(why) = case.run(&libraries) {
                        wrong.lock().expect("the results").push(format!("{}: {why}", case.name));
                    }
                    if started.elapsed() > Duration::from_secs(120) {
                        wrong.lock().expect("the results").push(format!(
                            "{}: it took {:?}",
                            case.name,
                            started.elapsed()
                        ));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("the results");
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {count} are not as they should be:\n{}", wrong.len(), wrong.join("\n\n"));
    assert_eq!(left_behind(), Vec::<String>::new());
}

#[test]
fn the_suite_notices_what_is_not_as_it_should_be() {
    let _alone = ALONE.lock();
    if unavailable() {
        return;
    }
    let case = |text: &str| Case { name: "planted".to_owned(), text: text.to_owned(), extension: "rs".to_owned() };
    let libraries = Libraries::find();
    for (text, problem) in [
        ("// refused: crash\nfn hostile() {}", "something else"),
        ("// contained; honest: refused\nfn hostile() {}", "without --class: something else"),
        ("// contained\nfn hostile() { panic!() }", "something else"),
        ("// contained\nfn hostile() { std::fs::read(\"@SECRET@\").unwrap(); }", "something else"),
        ("// nothing\nfn hostile() {}", "first line"),
    ] {
        let why = case(text).run(&libraries).expect_err(text);
        assert!(why.contains(problem), "{why}");
    }
    assert!(case("// contained; honest: contained\nfn hostile() {}").run(&libraries).is_ok());
}

#[test]
fn right_answers_pass() {
    let _alone = ALONE.lock();
    if unavailable() {
        return;
    }
    // A row operation with shared memory, one with scratch, and one that multiplies matrices.
    let output = grade(&["--class", "solutions", "day22", "softmax", "rmsnorm_short_rows", "ffn_sublayer"]);
    let report = report(&output);
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    assert_eq!(report["exercises"].as_array().map(Vec::len), Some(8));
    assert_eq!(report["class"]["folder"], "solutions");
    // It is drawn.
    assert!(report["seed"].as_u64().is_some_and(|seed| seed > 1));
    assert_eq!(left_behind(), Vec::<String>::new());
}

#[test]
fn a_changed_signature_is_explained() {
    let _alone = ALONE.lock();
    if unavailable() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::copy(root().join("solutions/day22/src/mul_add.cu"), folder.path().join("mul_add.cu")).expect("a kernel");
    for text in ["pub fn mul_add() {}", "pub fn another() {}"] {
        fs::write(folder.path().join("mul_add.rs"), text).expect("a file");
        let report = report(&grade(&["--class", &folder.path().display().to_string(), "mul_add"]));
        let failure = &report["exercises"][0]["parts"]["right"]["failure"];
        assert_eq!(
            failure["title"], "`mul_add.rs` must have `pub fn mul_add` with the starter's parameters",
            "{report:#}"
        );
        assert!(failure["location"].is_null() && !failure.to_string().contains("main.rs"), "{failure:#}");
    }
}

#[test]
fn launches_are_taken_down_as_they_are() {
    let _alone = ALONE.lock();
    if unavailable() {
        return;
    }
    for (exercise, name) in [
        ("add_gelu", "cooperative"),
        ("add_gelu", "extended_launch"),
        ("add_gelu", "packed_parameters"),
        ("add_gelu", "raw_launch"),
        ("add_mul_exp", "struct_by_value"),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for extension in ["cu", "rs"] {
            let answer = root().join(format!("solutions/day22/unusual/{exercise}/{name}.{extension}"));
            fs::copy(answer, folder.path().join(format!("{exercise}.{extension}"))).expect("an answer");
        }
        let output = grade(&["--class", &folder.path().display().to_string(), exercise]);
        assert_eq!(
            report(&output)["exercises"][0]["parts"]["lean"]["verdict"],
            "pass",
            "{name}: {:#}",
            report(&output)
        );
    }
    assert_eq!(left_behind(), Vec::<String>::new());
}
