//! xtask beside a shell script in the place of the program that holds the submissions.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with xtask in it, a compiler that will not be used, and a worker that does as the script says.
pub(crate) struct Prebuilt {
    pub(crate) folder: TempDir,
}

/// How a worker tells something.
const TELL: &str = "read -r token; tell() { echo \"$token $*\" >&0; }\n";

/// What a worker says of a submission that passes. `$3` is the exercise's name; the day is in the worker's.
pub(crate) const PASS: &str = r#"
device='{"kind":"emulated","name":"Fake","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
right='{"verdict":"pass","evidence":{"devices":["Fake"],"shapes":15,"launches":30}}'
timing='{"basis":"predicted","time_ns":{"median":10,"low":10,"high":10},"other_ns":{"median":15,"low":15,"high":15},"speedup":{"median":1.5,"low":1.5,"high":1.5}}'
fast='{"verdict":"pass","evidence":{"device":"Fake","driver":"13.0","shape":"N = 5","bar":1.4,"ideal":1.6,"timing":'$timing',"cold":true}}'
parts='{"right":'$right',"lean":{"verdict":"pass"},"fast":'$fast'}'
tell '{"fusion":"judged","device":'$device',"judgement":{"name":"'$3'","day":'${0##*-day}',"kind":"exercise","verdict":"pass","parts":'$parts'}}'
"#;

/// Writes a shell script that can be run.
///
/// Another process writes it: were it open for writing here, a child that another test forks meanwhile would hold it open
/// too, and running it would fail with "text file busy".
pub(crate) fn write_script(path: &Path, text: &str) {
    let write = "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(text).status();
    assert!(status.is_ok_and(|status| status.success()), "{} cannot be written", path.display());
}

impl Prebuilt {
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let program = env!("CARGO_BIN_EXE_xtask");
        if fs::hard_link(program, path("xtask")).is_err() {
            let copied = Command::new("cp").arg(program).arg(path("xtask")).status();
            assert!(copied.is_ok_and(|status| status.success()), "xtask cannot be copied");
        }
        for name in ["exercises-day22", "solutions-day22"] {
            write_script(&path(name), &format!("{TELL}{script}"));
        }
        Self { folder }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path().join("xtask"));
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO").env("FUSION_NVRTC", self.compiler());
        command
    }

    /// Something that looks like a compiler: it is looked for, and opened only by workers.
    pub(crate) fn compiler(&self) -> std::path::PathBuf {
        let folder = self.folder.path().join("nvrtc");
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"] {
            fs::write(folder.join(name), "").expect("a file");
        }
        folder.join("libnvrtc.so.13")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("xtask runs")
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(arguments);
        let value = serde_json::from_slice(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (code(&output), value.unwrap_or_else(|error| panic!("not one JSON object: {error}\n{errors}")))
    }
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

/// A checkout of the course with its starters and solutions, in which a script judges what is written into an answer: `TODO`, `wrong`
/// and `right`.
pub(crate) struct Checkout {
    prebuilt: Prebuilt,
}

/// `$3` is the exercise's name.
const BY_TEXT: &str = r#"
case $1 in
profile)
    device='{"kind":"emulated","name":"Emulated H200","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
    account='{"overhead":0.1,"dispatch":0,"tail":0,"states":{"long_scoreboard":1},"busy":{"dram":0.95},"flight":{"bytes":1,"needed":1},"warps":{"resident":60,"fit":64,"most":64},"lines":[]}'
    takes='{"registers":30,"local_bytes":0,"shared_bytes":128,"warps":64,"most_warps":64,"limited_by":["threads"]}'
    compiled='{"takes":'$takes',"spills":[4,8],"hot":[{"text":"L1:"},{"line":7,"text":"add.f32 %f1, %f2, %f3;"}],"is_loop":true}'
    launch='{"kernel":"k","grid":[4,1,1],"block":[32,1,1],"ns":2000,"account":'$account',"compiled":'$compiled'}'
    tell '{"fusion":"profiled","device":'$device',"profiled":{"variant":"submission","shape":"N = 5","rows":1,"columns":5,"predicted":{"ns":2000,"launches":['$launch']}}}'
    exit 0;;
esac
case $0 in
*solutions*) ;;
*) text=$(cat exercises/day*/src/$3.cu)
   case $text in
   *forever*) exec sleep 1000;;
   *syntax*) failure='{"code":"compile","title":"expected a `;`"}';;
   *TODO*|*wrong*) failure='{"code":"values","title":"out[0] = 1, and 2 is right"}';;
   esac;;
esac
if [ -n "$failure" ]; then
    device='{"kind":"emulated","name":"Fake","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
    parts='{"right":{"verdict":"fail","failure":'$failure'}}'
    tell '{"fusion":"judged","device":'$device',"judgement":{"name":"'$3'","day":'${0##*-day}',"kind":"exercise","verdict":"fail","parts":'$parts'}}'
    exit 0
fi
"#;

impl Checkout {
    pub(crate) fn new() -> Self {
        let prebuilt = Prebuilt::new(&format!("{BY_TEXT}{PASS}"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = prebuilt.folder.path().join("course");
        for file in ["Cargo.toml", "xtask/Cargo.toml"] {
            write(&root.join(file), "");
        }
        for day in ["day21", "day22", "day23"] {
            let script = prebuilt.folder.path().join("exercises-day22");
            for program in ["exercises", "solutions"] {
                // The script is the same for all; its name is not. The first two are there.
                let _there = fs::hard_link(&script, prebuilt.folder.path().join(format!("{program}-{day}")));
            }
            for (from, to) in [
                (format!("exercises/{day}/starter"), format!("exercises/{day}/starter")),
                (format!("exercises/{day}/starter"), format!("exercises/{day}/src")),
                (format!("solutions/{day}/src"), format!("solutions/{day}/src")),
                (format!("solutions/{day}/top"), format!("solutions/{day}/top")),
            ] {
                for file in fs::read_dir(source.join(from)).into_iter().flatten().flatten() {
                    let text = fs::read_to_string(file.path()).expect("a source");
                    write(&root.join(&to).join(file.file_name()), &text);
                }
            }
        }
        Self { prebuilt }
    }

    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.prebuilt.folder.path().join("course")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.prebuilt.command(arguments);
        command.current_dir(self.root());
        command
    }

    pub(crate) fn compiler(&self) -> std::path::PathBuf {
        self.prebuilt.compiler()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("xtask runs")
    }

    pub(crate) fn grade(&self, exercise: &str) -> Output {
        self.run(&["grade", exercise, "--prebuilt", "--device", "emulated"])
    }

    /// The kernel's file of an answer.
    pub(crate) fn answer(&self, exercise: &str) -> std::path::PathBuf {
        let day = fusion_course::find(exercise).expect("an exercise").day;
        self.root().join(format!("exercises/day{day}/src/{exercise}.cu"))
    }

    pub(crate) fn edit(&self, exercise: &str, text: &str) {
        write(&self.answer(exercise), text);
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}
