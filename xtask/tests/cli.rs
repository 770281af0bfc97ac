//! The command line, with a shell script in the place of the program that holds the submissions.

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use common::{Checkout, PASS, Prebuilt, code, write_script};
use serde_json::Value;

#[test]
fn everything_passes() {
    let prebuilt = Prebuilt::new(PASS);
    let output = prebuilt.run(&["grade", "day22", "--device", "emulated"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(code(&output), 0, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("| add_gelu      | 30 launches | pass | 1.50x predicted, bar 1.40x | pass    |"), "{text}");
    assert!(text.contains("5 of 5 passed.\nNext: compare with the solutions in solutions/day22/src\nThen: "), "{text}");
    assert!(text.ends_with("xtask bench day22\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn json_is_one_object() {
    let (code, report) = Prebuilt::new(PASS).json(&["grade", "add_gelu", "mul_add", "--json", "--device", "emulated"]);
    assert_eq!((code, &report["version"], &report["device"]["name"]), (0, &3.into(), &"Fake".into()));
    let names: Vec<&Value> = report["exercises"].as_array().into_iter().flatten().map(|e| &e["name"]).collect();
    assert_eq!(names, ["mul_add", "add_gelu"]);
    assert_eq!(report["exercises"][0]["parts"]["right"]["evidence"]["launches"], 30);
}

#[test]
fn an_unknown_target_names_its_neighbours() {
    let prebuilt = Prebuilt::new(PASS);
    let output = prebuilt.run(&["grade", "add_gleu"]);
    assert_eq!((code(&output), output.stdout.len()), (2, 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `add_gelu`?"));
    let (code, report) = prebuilt.json(&["grade", "add_gleu", "--json"]);
    assert_eq!((code, &report["error"]["code"]), (2, &"unknown-target".into()));
    assert_eq!(report["error"]["nearest"][0], "add_gelu");
    assert_eq!(report["exit_code"], 2);
}

#[test]
fn crash_hang_and_garbage_lose_only_their_exercise() {
    let script = format!(
        "case $3 in mul_add) kill -SEGV $$;; add_gelu) exec sleep 1000;; add_mul_exp) tell() {{ echo \"$*\"; }};; esac\n{PASS}"
    );
    let (code, report) =
        Prebuilt::new(&script).json(&["grade", "day22", "--json", "--device", "emulated", "--timeout", "1"]);
    assert_eq!(code, 1);
    let of = |name: &str| {
        let all = report["exercises"].as_array().into_iter().flatten();
        let exercise = all.clone().find(|exercise| exercise["name"] == name).expect("every exercise has a verdict");
        (exercise["verdict"].clone(), exercise["parts"]["right"]["failure"]["code"].clone())
    };
    assert_eq!(of("add_mul_relu"), ("pass".into(), Value::Null));
    assert_eq!(of("mul_add"), ("fail".into(), "crash".into()));
    assert_eq!(of("add_mul_exp"), ("fail".into(), "crash".into()));
    assert_eq!(of("add_gelu"), ("fail".into(), "timeout".into()));
    assert_eq!(of("quantize_int8"), ("pass".into(), Value::Null));
}

#[test]
fn a_gpu_that_was_asked_for_and_is_not_there_cannot_be_graded_on() {
    let script = r#"tell '{"fusion":"probed","gpu":null,"note":"no driver here"}'"#;
    let (code, report) = Prebuilt::new(script).json(&["grade", "day22", "--json", "--device", "gpu"]);
    assert_eq!((code, &report["error"]["code"]), (2, &"no-gpu".into()));
    assert_eq!(report["error"]["message"], "no driver here");
}

#[test]
fn a_missing_program_says_how_to_get_it() {
    let prebuilt = Prebuilt::new(PASS);
    fs::remove_file(prebuilt.folder.path().join("solutions-day22")).expect("it was there");
    let output = prebuilt.run(&["grade", "--solutions", "add_gelu"]);
    assert_eq!(code(&output), 2);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("cargo build -p solutions-day22"), "{text}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let prebuilt = Prebuilt::new(PASS);
    let mut child = prebuilt
        .command(&["grade", "day22", "--device", "emulated"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xtask runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((code(&output), String::from_utf8_lossy(&output.stderr).as_ref()), (0, ""));
}

#[test]
fn an_interrupt_tells_what_is_known_and_leaves_no_child_behind() {
    // One is judged; all others hang, and one of them says so.
    let script = format!(
        "echo $$ > $3.new; mv $3.new $3.pid\n\
         case $3 in mul_add) ;; add_mul_relu) echo waiting >&2; exec sleep 1000;; *) exec sleep 1000;; esac\n{PASS}"
    );
    let prebuilt = Prebuilt::new(&script);
    let mut child = prebuilt
        .command(&["grade", "day22", "--device", "emulated"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xtask runs");
    let stderr = child.stderr.take().expect("a pipe");
    let waiting = BufReader::new(stderr).lines().map_while(Result::ok).any(|line| line == "add_mul_relu: waiting");
    assert!(waiting);
    let pid_of = |name: &str| fs::read_to_string(prebuilt.folder.path().join(format!("{name}.pid"))).ok();
    let is_alive = |pid: &str| {
        Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().expect("kill runs").success()
    };
    // It is gone when xtask has heard of its end.
    while pid_of("mul_add").is_none_or(|pid| is_alive(&pid)) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(signal.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 130);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("1 of 1 passed."), "{text}");
    assert!(!is_alive(&pid_of("add_mul_relu").expect("the script wrote it")));
}

#[test]
fn a_gpu_judges_one_exercise_after_the_other_when_the_emulated_device_has_judged_all() {
    // What is judged on the GPU finds how many others run, and writes down whose turn it is.
    let script = format!(
        r#"
gpu='{{"kind":"gpu","name":"Fake GPU","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}}'
case $1 in probe) tell '{{"fusion":"probed","gpu":'$gpu',"note":null}}'; exit 0;; esac
case "$*" in *"--device gpu"*) echo "$3 $(ls *.running 2>/dev/null | wc -l)" >> turns;; esac
: > $3.running
sleep 0.1
rm $3.running
{PASS}"#
    );
    let prebuilt = Prebuilt::new(&script);
    let (code, report) = prebuilt.json(&["grade", "day22", "--json"]);
    assert_eq!(code, 0, "{report}");
    let names: Vec<&str> =
        report["exercises"].as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), 5);
    let turns = fs::read_to_string(prebuilt.folder.path().join("turns")).expect("the GPU had its turns");
    assert_eq!(turns, names.iter().map(|name| format!("{name} 0\n")).collect::<String>());
}

#[test]
fn a_code_is_explained() {
    let prebuilt = Prebuilt::new(PASS);
    for asked in ["E-RACE-SHARED", "e-race-shared", "race-shared"] {
        let output = prebuilt.run(&["explain", asked]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(code(&output), 0);
        assert!(text.starts_with("E-RACE-SHARED\n") && text.contains("__syncthreads"), "{text}");
    }
    let all = String::from_utf8_lossy(&prebuilt.run(&["explain"]).stdout).into_owned();
    assert!(all.contains("E-RACE-SHARED") && all.contains("P-DIVERGENT"), "{all}");
    let unknown = prebuilt.run(&["explain", "E-RACE-SHRAED"]);
    assert_eq!((code(&unknown), unknown.stdout.len()), (2, 0));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `E-RACE-SHARED`"));
}

#[test]
fn a_shell_completes_commands_exercises_and_codes() {
    let prebuilt = Prebuilt::new(PASS);
    // The others complete commands and options.
    for (shell, word) in
        [("bash", "add_gelu"), ("zsh", "add_gelu"), ("fish", "doctor"), ("elvish", "doctor"), ("powershell", "doctor")]
    {
        let output = prebuilt.run(&["completions", shell]);
        assert!(code(&output) == 0 && String::from_utf8_lossy(&output.stdout).contains(word), "{shell}");
    }
    if Command::new("bash").arg("--version").output().is_err() {
        eprintln!("skipped: there is no bash to complete in");
        return;
    }
    fs::write(prebuilt.folder.path().join("script"), prebuilt.run(&["completions", "bash"]).stdout).expect("a file");
    for (typed, completed) in [
        ("grade add_g", "add_gelu add_gelu_vec"),
        ("hint softm", "softmax"),
        ("watch day2", "day21 day22 day23 day24 day25 day26 day27 day28"),
        ("expl", "explain"),
        ("explain E-RACE-SH", "E-RACE-SHARED"),
        ("grade --dev", "--device"),
    ] {
        let last = typed.rsplit(' ').next().unwrap_or_default();
        let words = typed.split(' ').count();
        let line = format!(
            "source ./script; COMP_WORDS=(xtask {typed}); COMP_CWORD={words}; _xtask xtask '{last}' x; echo ${{COMPREPLY[@]}}"
        );
        let output = Command::new("bash").args(["-c", &line]).current_dir(prebuilt.folder.path()).output();
        assert_eq!(String::from_utf8_lossy(&output.expect("bash runs").stdout).trim(), completed, "{typed}");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let prebuilt = Prebuilt::new(PASS);
    for arguments in [&["grade", "--nope"][..], &["nope"], &["grade", "--device", "toaster"]] {
        assert_eq!(code(&prebuilt.run(arguments)), 2, "{arguments:?}");
    }
}

/// A workspace with one solution in it, whose mutants a script judges. The script is told them as `--mutant ID`.
fn verify_mutants(script: &str, list: &str, arguments: &[&str]) -> Output {
    let prebuilt = Prebuilt::new(&format!(
        r#"while [ $# -gt 0 ]; do
            if [ "$1" = --mutant ]; then id="$2"; {script}; fi
            shift
        done"#
    ));
    let root = prebuilt.folder.path().join("workspace");
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("Cargo.toml", "");
    write("xtask/Cargo.toml", "");
    write("solutions/day22/src/mul_add.cu", "__global__ void mul_add(float* out) {\n    out[threadIdx.x] = 1.0f;\n}\n");
    write("solutions/day22/mutants/mul_add.txt", list);
    let mut command = prebuilt.command(&["verify", "mul_add", "--mutants", "--prebuilt"]);
    command.args(arguments).current_dir(&root).output().expect("xtask runs")
}

const REFUSED: &str =
    r#"tell '{"fusion":"mutant","id":"'$id'","fate":{"fate":"refused","failure":{"code":"values","title":"wrong"}}}'"#;
const SURVIVED: &str = r#"tell '{"fusion":"mutant","id":"'$id'","fate":{"fate":"survived"}}'"#;

#[test]
fn mutants_that_are_refused_verify() {
    let output = verify_mutants(REFUSED, "", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("100.0%\nrefused for: values ") && text.ends_with("verified\n"), "{text}");
}

#[test]
fn survivors_below_the_bar_are_named_and_fail() {
    let output = verify_mutants(SURVIVED, "", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("problem: 0.0% of the mutants that are wrong are refused, and 97% should be"), "{text}");
    let survivor = "survived: mul_add/half-constant@2:24: halves a constant\n    - out[threadIdx.x] = 1.0f;\n    + out[threadIdx.x] = (0.5f * 1.0f);\n";
    assert!(text.contains(survivor), "{text}");
}

#[test]
fn listed_survivors_are_equivalent_and_the_json_says_why() {
    let output = verify_mutants(SURVIVED, "*: nobody looks\n", &["--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{json}");
    let score = &json["mutants"]["exercises"][0];
    assert_eq!(score["exercise"], "mul_add");
    assert_eq!(score["equivalent"][0]["reason"], "nobody looks");
    assert_eq!(json["mutants"]["share"], 1.0);
}

#[test]
fn a_worker_that_dies_takes_one_mutant_with_it() {
    let output = verify_mutants(&format!("case $id in half*) kill -SEGV $$;; *) {REFUSED};; esac"), "", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("mul_add/half-constant@2:24 is refused for `crash`, which is no reason"), "{text}");
    assert!(text.contains("1 problem\n"), "{text}");
}

#[test]
fn rivals_without_pytorch_say_so() {
    let prebuilt = Prebuilt::new(PASS);
    let python = prebuilt.folder.path().join("python");
    let says = |text: &str| {
        write_script(&python, text);
        let output = prebuilt.run(&["rivals", "add_gelu", "--python", &python.to_string_lossy()]);
        assert_eq!((code(&output), output.stdout.len()), (2, 0));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = says(r#"echo '{"unable": "PyTorch is not installed for this Python"}'; exit 2"#);
    assert!(text.contains("PyTorch is not installed") && text.contains("--python names another one"), "{text}");
    let text = says("echo nonsense >&2; exit 1");
    assert!(text.contains("said nothing about PyTorch: nonsense"), "{text}");
    fs::remove_file(&python).expect("it was there");
    let output = prebuilt.run(&["rivals", "--python", "/nonexistent/python"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn a_sweep_is_shown_with_what_was_left_out() {
    let script = r#"
device='{"kind":"emulated","name":"Fake","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
variant='{"role":"submission","name":"submission","timing":{"basis":"predicted","time_ns":{"median":2000,"low":2000,"high":2000},"speedup":{"median":2,"low":2,"high":2}},"bound":"what takes long","accuracy":[]}'
size='{"exercise":"'$3'","shape":"N = 5","rows":1,"columns":5,"read_bytes":1,"written_bytes":1,"needed_bytes":8000,"unfused_bytes":9,"steps":[],"variants":['$variant']}'
case $0 in
*solutions*) tell '{"fusion":"timed","device":'$device',"size":'$size'}';;
*) tell '{"fusion":"untimed","shape":null,"note":"not right"}';;
esac"#;
    let prebuilt = Prebuilt::new(script);
    let output = prebuilt.run(&["bench", "add_gelu", "--device", "emulated", "--no-build"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("| N = 5 | solution | PREDICTED | 2.000   | 2.000-2.000 | 4    |"), "{text}");
    assert!(text.contains("\nBound at N = 5 (PREDICTED) by\n  solution  what takes long\n"), "{text}");
    assert!(text.contains("note: yours: not right"), "{text}");
    let all = prebuilt.run(&["bench", "add_gelu", "--device", "emulated", "--no-build", "--solutions", "--csv"]);
    assert_eq!((code(&all), String::from_utf8_lossy(&all.stdout).lines().count()), (0, 2));
    let unknown = prebuilt.run(&["bench", "--sizes", "many"]);
    assert_eq!((code(&unknown), unknown.stdout.len()), (2, 0));
}

#[test]
fn a_bench_without_a_place_for_its_pictures_times_nothing() {
    let prebuilt = Prebuilt::new("touch started; exit 3");
    fs::write(prebuilt.folder.path().join("file"), "").expect("a file");
    let output = prebuilt.run(&["bench", "add_gelu", "--no-build", "--solutions", "--svg", "file"]);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write pictures into file"), "{output:?}");
    assert!(!prebuilt.folder.path().join("started").exists());
}

#[test]
fn a_doctor_says_what_is_wrong_and_how_to_fix_it() {
    let checkout = Checkout::new();
    let asked = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = checkout.command(&["doctor"]);
        let output = command.args(arguments).envs(variables.iter().copied()).output().expect("xtask runs");
        (code(&output), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) =
        asked(&["nvrtc", "emulated"], &[("FUSION_NVRTC", "/nowhere"), ("FUSION_EMULATED_GPU", "voodoo")]);
    assert_eq!(code, 1, "{text}");
    for line in [
        "  problem  nvrtc     FUSION_NVRTC is /nowhere, but there is no such file or directory.\n",
        "fix: unset FUSION_EMULATED_GPU\n",
        "\n2 problems. Fix the problems from the top",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let (code, json) = asked(&["--json", "emulated", "driver"], &[]);
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((code, &report["version"], &report["checks"][1]["name"]), (0, &1.into(), &"emulated".into()), "{json}");
    // What looks like a compiler and is none costs the process that opens it nothing.
    let (_, json) = asked(&["--json", "kernel"], &[]);
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(report["checks"][0]["state"], "problem", "{json}");
    assert_eq!(asked(&["no-such-check"], &[]).0, 2);
}
