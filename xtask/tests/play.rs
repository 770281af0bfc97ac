//! `xtask play` on real files: those of `tests/play`, and those that the course shows. What it says of each stands beside it, and
//! `BLESS=1` writes it anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn play(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("play").args(arguments).current_dir(folder);
    command.env_remove("COLUMNS").env_remove("FUSION_EMULATOR_PROFILE").output().expect("xtask runs")
}

fn screen(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let program = env!("CARGO_BIN_EXE_xtask");
    let code = output.status.code().expect("an exit code");
    format!("{out}{err}exit code {code}\n").replace(program, "cargo xtask")
}

/// Files whose names end in `.cu`, sorted.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".cu")).collect();
    names.sort();
    names
}

#[test]
fn what_is_said_of_each_file() {
    let mut wrong = Vec::new();
    let folders = [(Path::new(ROOT).join("lessons/first-kernel/play"), "course"), (tests(), "")];
    for (folder, prefix) in folders {
        let names = files(&folder);
        assert!(names.len() >= 3, "{}", folder.display());
        for name in names {
            let said = screen(&play(&folder, &[&name, "--device", "emulated"]));
            let expected = tests().join(prefix).join(&name).with_extension("txt");
            if std::env::var_os("BLESS").is_some() {
                fs::create_dir_all(expected.parent().expect("a folder")).expect("a folder");
                fs::write(&expected, &said).expect("a file");
            }
            let blessed = fs::read_to_string(&expected).unwrap_or_default();
            if said != blessed {
                wrong.push(format!("{name} says\n{said}\nand not\n{blessed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/play")
}

#[test]
fn a_first_file_is_written_played_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(play(folder.path(), &["--new", "mine.cu"]).status.code(), Some(0));
    let arguments = ["mine.cu", "--device", "emulated", "--json", "--svg", "mine.svg", "--trace", "mine.json"];
    let output = play(folder.path(), &arguments);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(output.status.code(), Some(0), "{object:#}");
    assert_eq!((&object["version"], &object["exit_code"], &object["file"]), (&1.into(), &0.into(), &"mine.cu".into()));
    assert_eq!(object["buffers"][0]["elements"][7], "21");
    assert_eq!(object["launches"][0]["counters"]["dram_read_bytes"], 4000);
    assert_eq!(object["timing"]["basis"], "predicted");
    assert!(
        object["printed"][0].as_str().is_some_and(|line| line.starts_with("block 0 has 256 threads")),
        "{object:#}"
    );
    let picture = fs::read_to_string(folder.path().join("mine.svg")).expect("it was written");
    assert!(picture.contains("`cargo xtask play`") && picture.contains("scale: what warps reach"), "{picture}");
    let trace = fs::read_to_string(folder.path().join("mine.json")).expect("it was written");
    assert!(trace.contains("one multiprocessor, first blocks of scale"), "{trace}");
    // On another GPU.
    let other = text(&play(folder.path(), &["mine.cu", "--device", "emulated", "--profile", "t4"]));
    assert!(other.contains("Emulated T4") && other.contains("of 32 warps"), "{other}");
    // Options that do not go together are told.
    assert_eq!(play(folder.path(), &["--new", "mine.cu", "--json"]).status.code(), Some(2));
    assert_eq!(play(folder.path(), &["nowhere.cu"]).status.code(), Some(2));
}
