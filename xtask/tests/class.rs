//! `grade --class`: right answers pass, and hostile ones are refused or reach nothing.
//!
//! Each file of `tests/hostile` is one submission to `mul_add`. Its first line says what must come of it:
//!
//! - `contained`: a pass, because the kernel is right and all else had no effect. What it tries, it checks itself, and panics if it
//!   succeeds.
//! - `refused: CODE`: a failure of this kind; `refused`: of any.
//! - `unable`: nothing is graded.
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
use tempfile::TempDir;

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
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
    unavailable
}

/// Processes and folders of runs that have ended.
fn left_behind() -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let class = program.parent().expect("a folder").join("class");
    let folders = fs::read_dir(&class).into_iter().flatten().flatten().map(|entry| entry.path().display().to_string());
    let mut left: Vec<String> = folders.collect();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let program = fs::read_link(process.path().join("exe")).unwrap_or_default();
        if program.starts_with(&class) {
            left.push(format!("process {}: {}", process.path().display(), program.display()));
        }
    }
    left
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

    fn expected(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['/', '#', ' '])
    }

    /// Runs it; an error says in what it is not as it should be.
    fn run(&self) -> Result<(), String> {
        let room = tempfile::tempdir().expect("a temporary folder");
        let (folder, outside) = (room.path().join("submission"), room.path().join("outside"));
        let secret = outside.join("secret");
        fs::create_dir(&folder).and_then(|()| fs::create_dir(&outside)).expect("folders");
        fs::write(&secret, SECRET).expect("a file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let port = listener.local_addr().expect("a port").port().to_string();
        self.write(&folder, &secret, &port);
        let before = listing(&room);

        let output = grade(&["--class", &folder.display().to_string(), "mul_add", "--timeout", "25"]);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let all = format!("{stdout}{}", String::from_utf8_lossy(&output.stderr));
        let report = report(&output);
        let failure = &report["exercises"][0]["parts"];
        let code = ["right", "lean", "fast"].iter().find_map(|part| failure[part]["failure"]["code"].as_str());
        let verdict = report["exercises"][0]["verdict"].as_str().unwrap_or_default();
        let as_expected = match (self.expected().split_once(": "), self.expected()) {
            (Some(("refused", wanted)), _) => output.status.code() == Some(1) && code == Some(wanted),
            (None, "refused") => output.status.code() == Some(1) && verdict == "fail",
            (None, "contained") => output.status.code() == Some(0) && verdict == "pass",
            (None, "unable") => output.status.code() == Some(2) && verdict != "pass",
            _ => return Err("its first line says nothing that is known".to_owned()),
        };
        let problem = if !as_expected {
            "something else came of it"
        } else if all.contains(SECRET) || all.contains("root:") {
            "it read what it must not"
        } else if all.contains('\u{1b}') {
            "a terminal would obey it"
        } else if listing(&room) != before || fs::read_to_string(&secret).ok().as_deref() != Some(SECRET) {
            "files were changed"
        } else if listener.accept().is_ok() {
            "it reached the network"
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

/// The names of all that is there.
fn listing(room: &TempDir) -> Vec<PathBuf> {
    let mut found = vec![room.path().to_owned()];
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
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("the cases").pop();
                    let Some(case) = next else { break };
                    let started = Instant::now();
                    if let Err(why) = case.run() {
                        wrong.lock().expect("the results").push(format!("{}: {why}", case.name));
                    }
                    if started.elapsed() > Duration::from_secs(60) {
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
    for (text, problem) in [
        ("// refused: crash\nfn hostile() {}", "something else"),
        ("// contained\nfn hostile() { panic!() }", "something else"),
        ("// contained\nfn hostile() { std::fs::read(\"@SECRET@\").unwrap(); }", "something else"),
        ("// nothing\nfn hostile() {}", "first line"),
    ] {
        let why = case(text).run().expect_err(text);
        assert!(why.contains(problem), "{why}");
    }
    assert!(case("// contained\nfn hostile() {}").run().is_ok());
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
