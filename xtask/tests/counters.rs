//! `xtask counters`, with shell scripts in the place of the worker and of Nsight Compute.

mod common;

use common::{Prebuilt, code, write_script};

/// A worker that launches two kernels unfused and one fused, and has a GPU and no top.
const WORKER: &str = r#"
device='{"kind":"gpu","name":"NVIDIA H200","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
launch() { echo '{"kernel":"'$1'","grid":[4,1,1],"block":[32,1,1],"ns":2000}'; }
case $1 in
probe) tell '{"fusion":"probed","gpu":'$device',"note":null}';;
*) case "$*" in
   *top*) tell '{"fusion":"unable","error":{"code":"unknown-rung","message":"no such rung","nearest":[]}}';;
   *unfused*) tell '{"fusion":"profiled","device":'$device',"profiled":{"variant":"unfused","shape":"N = 5","rows":1,"columns":5,"predicted":{"ns":2000,"launches":['$(launch add)','$(launch gelu)']}}}';;
   *) tell '{"fusion":"profiled","device":'$device',"profiled":{"variant":"submission","shape":"N = 5","rows":1,"columns":5,"predicted":{"ns":2000,"launches":['$(launch add_gelu)']}}}';;
   esac;;
esac"#;

const NO_GPU: &str = r#"
case $1 in
probe) tell '{"fusion":"probed","gpu":null,"note":"no driver was found"}';;
esac"#;

const NCU: &str = r#"
case $1 in --version) exit 0;; esac
echo '"ID","Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sector_hit_rate.pct","launch__registers_per_thread"'
echo '"","","ns","byte","byte","%","register/thread"'
case "$*" in *unfused*)
echo '"0","add(int)","1,500","8,000,000","4,000,000","33.3","16"'
echo '"1","gelu(int)","1,000","4,000,000","4,000,000","50","18"';; *)
echo '"0","add_gelu(int)","1,600","8,000,000","4,000,000","n/a","20"';; esac"#;

fn counters(worker: &str, ncu: &str, arguments: &[&str]) -> (i32, String, String) {
    let prebuilt = Prebuilt::new(worker);
    let folder = prebuilt.folder.path();
    write_script(&folder.join("ncu"), ncu);
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = prebuilt.command(&[&["counters", "add_gelu", "--prebuilt"], arguments].concat());
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output().expect("xtask runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (code(&output), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_chain_stands_beside_the_kernel_that_takes_its_place() {
    let (code, text, errors) = counters(WORKER, NCU, &["--solutions"]);
    assert_eq!(code, 0, "{text}\n{errors}");
    let found: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with('|') && !line.contains("---"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let expected = [
        ["", "kernel", "us", "read, MB", "written, MB", "L2 hits", "occupancy", "registers"],
        ["unfused", "add", "1.5", "8.0", "4.0", "33%", "", "16"],
        ["", "gelu", "1.0", "4.0", "4.0", "50%", "", "18"],
        ["", "all 2", "2.5", "12.0", "8.0", "", "", ""],
        ["fused", "add_gelu", "1.6", "8.0", "4.0", "", "", "20"],
    ];
    assert_eq!(found, expected, "{text}");
    assert!(text.starts_with("add_gelu at N = 5, on NVIDIA H200"), "{text}");
    let (code, text, _) = counters(WORKER, NCU, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(code == 0 && json["variants"][0]["launches"][1]["dram_read"] == 4e6, "{text}");
}

#[test]
fn what_cannot_be_counted_says_why_and_what_to_do_instead() {
    let denied = "case $1 in --version) exit 0;; esac; echo '==ERROR== ERR_NVGPUCTRPERM - no'; exit 1";
    for (worker, ncu, says) in [
        (NO_GPU, NCU, "there is no GPU: no driver was found"),
        (WORKER, "exit 1", "`ncu` is not on the PATH"),
        (WORKER, denied, "ncu says nothing: this user may not read"),
    ] {
        let (code, _, errors) = counters(worker, ncu, &[]);
        assert!(code == 2 && errors.contains(says), "{errors}");
        assert!(errors.contains("`cargo xtask profile add_gelu` predicts without a GPU"), "{errors}");
    }
    let (code, _, errors) = counters(WORKER, NCU, &["--size", "3x"]);
    assert!(code == 2 && errors.contains("`3x` is no number of elements"), "{errors}");
}
