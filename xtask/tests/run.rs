//! `xtask run`: programs that end in every way, and this one itself as a program that uses the driver.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::Ptx;
use fusion_machine::report::{Moved, Task, Trace, Work};
use serde_json::Value;

/// How the program below behaves.
const MODE: &str = "XTASK_RUN_TEST_MODE";

const KERNELS: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry fine() { ret; }
.visible .entry stray()
{
    .reg .b64 %rd;
    mov.u64 %rd, 0;
    st.global.u32 [%rd], 1;
    ret;
}";

const RELAY: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry increment(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r4, 4;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r5, [%rd4];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd5], %r5;
    ret;
}";

fn launch(kernel: &str, times: usize) {
    let stream = CudaContext::new(0).unwrap().default_stream();
    let function = stream.context().load_module(Ptx::from_src(KERNELS)).unwrap().load_function(kernel).unwrap();
    for _ in 0..times {
        // SAFETY: the kernel has no parameters.
        unsafe { stream.launch_builder(&function).launch(LaunchConfig::for_num_elems(1)) }.unwrap();
    }
}

/// The program that uses the driver.
#[test]
#[ignore = "started by the tests below"]
fn program() {
    let mode = std::env::var(MODE).unwrap_or_default();
    match mode.as_str() {
        "many" => launch("fine", 2500),
        "relay" => relay(),
        "stray" => launch("stray", 1),
        // As abruptly as a process can end.
        "abort" => {
            launch("stray", 1);
            std::process::abort();
        }
        "parent" => {
            launch("fine", 3);
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "program"])
                .env(MODE, "stray")
                .status();
            assert!(child.unwrap().success());
        }
        _ => {}
    }
}

fn xtask(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("run").args(arguments).stdin(Stdio::null());
    command
}

fn run(program: &[&str]) -> Output {
    xtask(&["--"]).args(program).output().unwrap()
}

#[track_caller]
fn check(program: &[&str], code: i32, says: &str) {
    let output = run(program);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(says), "{said}");
}

/// What `--json` tells of this program, and the exit code.
fn judged(mode: &str) -> (Value, Option<i32>) {
    let own = std::env::current_exe().unwrap();
    let mut command = xtask(&["--json", "--checks", "none", "--profile", "t4", "--"]);
    let output = command.arg(own).args(["--ignored", "--exact", "program"]).env(MODE, mode).output().unwrap();
    let object = serde_json::from_slice(&output.stdout);
    (object.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))), output.status.code())
}

#[test]
fn what_a_process_does_is_told_however_it_ends() {
    let (object, code) = judged("many");
    assert_eq!((code, &object["processes"][0]["launches"]["fine"]), (Some(0), &Value::from(2500)));
    assert_eq!(object["processes"][0]["device"], "Emulated T4");

    let (object, code) = judged("stray");
    assert_eq!((code, &object["errors"], &object["exit_code"]), (Some(1), &Value::from(1), &Value::from(1)));
    assert_eq!(object["processes"][0]["findings"][0]["code"], "E-NULL");

    let (object, code) = judged("abort");
    assert_eq!((code, &object["end"]["signal"]), (Some(134), &Value::from(6)));
    assert_eq!((&object["errors"], &object["processes"][0]["launches"]["stray"]), (&Value::from(1), &Value::from(1)));
}

/// A copy there, two launches, and a copy back.
fn relay() {
    let stream = CudaContext::new(0).unwrap().default_stream();
    let module = stream.context().load_module(Ptx::from_src(RELAY)).unwrap();
    let increment = module.load_function("increment").unwrap();
    let there = stream.clone_htod(&vec![1_u32; 1024]).unwrap();
    let (mut between, mut back) = (stream.alloc_zeros::<u32>(1024).unwrap(), stream.alloc_zeros::<u32>(1024).unwrap());
    let config = LaunchConfig { grid_dim: (4, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: each of 1024 threads reads and writes one element of buffers of 1024.
    unsafe {
        stream.launch_builder(&increment).arg(&there).arg(&mut between).launch(config).unwrap();
        stream.launch_builder(&increment).arg(&between).arg(&mut back).launch(config).unwrap();
    }
    assert_eq!(stream.clone_dtoh(&back).unwrap(), vec![3; 1024]);
}

#[test]
fn a_trace_says_which_bytes_work_goes_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let own = std::env::current_exe().unwrap();
    let mut command = xtask(&["--trace", file.to_str().unwrap(), "--checks", "none", "--"]);
    let output = command.arg(own).args(["--ignored", "--exact", "program"]).env(MODE, "relay").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let traces: Vec<Trace> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let [trace] = traces.as_slice() else { panic!("{traces:?}") };
    let launches: Vec<&Work> = trace
        .work
        .iter()
        .filter(|work| matches!(&work.task, Task::Launch { kernel, .. } if kernel == "increment"))
        .collect();
    let [first, second] = launches.as_slice() else { panic!("{trace:?}") };
    assert_eq!(first.written, second.read);
    let lengths = |ranges: &[(u64, u64)]| ranges.iter().map(|(start, end)| end - start).collect::<Vec<_>>();
    assert_eq!((lengths(&first.read), lengths(&second.written)), (vec![4096], vec![4096]));
    assert!(matches!(first.task, Task::Launch { predicted_ns, loaded_bytes: 4096, .. } if predicted_ns > 0.0));
    let copied = trace.work.iter().filter(|work| work.task == Task::Move(Moved::ToHost));
    assert_eq!(copied.map(|work| &work.read).collect::<Vec<_>>(), [&second.written]);
}

#[test]
fn each_process_has_its_own_part() {
    let (object, code) = judged("parent");
    let processes = object["processes"].as_array().unwrap();
    let findings: Vec<usize> = processes.iter().map(|process| process["findings"].as_array().unwrap().len()).collect();
    assert_eq!((code, findings.iter().sum::<usize>(), findings.len()), (Some(1), 1, 2), "{object}");
}

#[test]
fn programs_that_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8], executable: bool| {
        // Written by another process: one that is forked here meanwhile would hold a file open that is to be run.
        let script = if executable { "cat > \"$1\" && chmod 755 \"$1\"" } else { "cat > \"$1\"" };
        let path = folder.path().join(name).display().to_string();
        let mut shell = Command::new("sh").args(["-c", script, "sh", &path]).stdin(Stdio::piped()).spawn().unwrap();
        shell.stdin.take().unwrap().write_all(bytes).unwrap();
        assert!(shell.wait().unwrap().success());
        path
    };
    check(&["/no/such/program"], 127, "there is no such file");
    check(&["no-such-program"], 127, "no folder in PATH has it");
    check(&[&write("orphan", b"#!/no/such/shell\n", true)], 127, "it is there, and what it needs");
    check(&[&write("text", b"echo", false)], 126, "it is not executable");
    check(&[&folder.path().display().to_string()], 126, "it is a folder");
    let mut whole = Vec::new();
    std::fs::File::open("/bin/sh").unwrap().read_to_end(&mut whole).unwrap();
    for len in [4, 40, 64, 100, 700] {
        let output = run(&[&write("cut", &whole[..len.min(whole.len())], true), "-c", "exit 0"]);
        assert!(output.status.code().is_some_and(|code| code >= 126), "cut at {len}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn programs_that_do_not_use_the_driver() {
    check(&["true"], 2, "it never opened the CUDA driver");
    check(&["sh", "-c", "exit 7"], 7, "ended with code 7");
    check(&["sh", "-c", "kill -SEGV $$"], 139, "signal 11: SIGSEGV");
    let output = run(&["sh", "-c", "echo out; echo err >&2; head -c 100000000 /dev/zero"]);
    assert_eq!(output.stdout.len(), 100_000_004);
    assert!(output.stderr.starts_with(b"err\n"));
    let wrong = [
        (["--checks", "race"], "`race` is not a check"),
        (["--profile", "gtx"], "no GPU of that name can be emulated"),
        (["--budget", "0"], "0 is not in 1.."),
        (["--budget", "many"], "invalid digit"),
    ];
    for (words, told) in wrong {
        let output = xtask(&words).args(["--", "true"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(told), "{output:?}");
    }
}

/// The temporary folder is where `TMPDIR` says.
#[test]
fn a_request_to_end_reaches_the_program_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let script = format!("trap 'exit 5' TERM; : > {}; while :; do sleep 0.05; done", ready.display());
    let mut command = xtask(&["--", "sh", "-c", &script]);
    let mut child = command.env("TMPDIR", folder.path()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready.exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, [ready]);
}
