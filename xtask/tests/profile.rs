//! `xtask profile`, with shell scripts in the place of the worker and of Nsight Compute.

mod common;

use std::collections::BTreeMap;
use std::fs;

use common::{Prebuilt, code, write_script};

/// A worker that has an account of one launch, and a GPU.
const WORKER: &str = r#"
device='{"kind":"emulated","name":"Emulated H200","compute_capability":"9.0","multiprocessors":1,"l2_bytes":1,"memory_bytes":1,"driver":"13.0"}'
place='{"file":"kernel.cu","line":2,"column":1,"function":null}'
line='{"source":'$place',"states":{"long_scoreboard":0.71,"selected":0.29},"loads":{"requests":10,"sectors":40,"bytes":1280,"width":4}}'
account='{"overhead":0.1,"dispatch":0,"tail":0,"states":{"long_scoreboard":0.71,"selected":0.29},"busy":{"dram":0.5},
"flight":{"bytes":12288,"needed":26112},"warps":{"resident":60,"fit":64,"most":64},"lines":['$line'],
"trace":{"spans":[[0,"launch",0,100,0],[0,"long_scoreboard",100,400,0]],
"accesses":[{"line":0,"write":false,"width":4,"sectors":[[0,15]],"passes":0},{"line":0,"write":false,"width":4,"sectors":[[0,15]],"passes":0}]}}'
launch='{"kernel":"f","grid":[4,1,1],"block":[32,1,1],"ns":2000,"when":{"stream":3,"from":5000,"to":6000},"account":'$account'}'
profiled='{"variant":"submission","shape":"N = 5","rows":1,"columns":5,"predicted":{"ns":2000,"launches":['$launch'],
"moves":[{"what":"memset","bytes":4096,"when":{"stream":4,"from":4500,"to":5500}}]}}'
case $1 in
probe) tell '{"fusion":"probed","gpu":'$device',"note":null}';;
*) case "$*" in *nothing*) tell '{"fusion":"unable","error":{"code":"unknown-rung","message":"no such rung","nearest":[]}}';;
   *) tell "$(echo '{"fusion":"profiled","device":'$device',"profiled":'$profiled'}' | tr -d '\n')";; esac;;
esac"#;

const NCU: &str = r#"
case $1 in --version) exit 0;; esac
echo '"ID","Kernel Name","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_drain_per_issue_active.ratio"'
echo '"","","inst","inst"'
echo '"0","f(int)","6","2"'"#;

fn profile(ncu: &str, arguments: &[&str]) -> (i32, String, String) {
    let prebuilt = Prebuilt::new(WORKER);
    let folder = prebuilt.folder.path();
    fs::write(folder.join("kernel.cu"), "__global__ void f() {\n    out[i] = x[i];\n}\n").expect("a file");
    write_script(&folder.join("ncu"), ncu);
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = prebuilt.command(&[&["profile", "add_gelu", "--prebuilt"], arguments].concat());
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output().expect("xtask runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (code(&output), text(&output.stdout), text(&output.stderr))
}

#[test]
fn lines_stand_with_what_warps_wait_for() {
    let (code, text, errors) = profile(NCU, &["--no-ncu"]);
    assert_eq!(code, 0, "{text}\n{errors}");
    let bound =
        "bound by waiting for memory 71%: 12 KiB in flight per SM, the H200 needs about 26; more bytes per thread";
    assert!(text.contains("PREDICTED by the emulated device's clock") && text.contains(bound), "{text}");
    assert!(text.contains("\nmemset: 0.0 MB, 1.0 us\n"), "{text}");
    assert!(text.contains("| 2    | 100%  | long_scoreboard | 4.0          | 0.0 | out[i] = x[i]; |"), "{text}");
    assert!(!text.contains("not modelled"), "{text}");
}

#[test]
fn the_profilers_shares_stand_beside() {
    let (code, text, errors) = profile(NCU, &[]);
    assert_eq!(code, 0, "{text}\n{errors}");
    assert!(text.contains("| waiting for memory | long_scoreboard | 71%       | 75% |"), "{text}");
    assert!(text.contains("| not modelled       | drain           | -         | 25% |"), "{text}");
    let denied = "case $1 in --version) exit 0;; esac; echo '==ERROR== ERR_NVGPUCTRPERM - no'; exit 1";
    let (code, text, _) = profile(denied, &[]);
    assert!(code == 0 && text.contains("ncu says nothing: this user may not read"), "{text}");
}

#[test]
fn a_trace_and_a_picture_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let [trace, picture] = ["trace.json", "picture.svg"].map(|name| folder.path().join(name));
    let [to_trace, to_picture] = [&trace, &picture].map(|path| path.to_str().expect("it is Unicode"));
    let (code, _, errors) = profile(NCU, &["--no-ncu", "--trace", to_trace, "--svg", to_picture]);
    assert_eq!(code, 0, "{errors}");
    let text = fs::read_to_string(&trace).expect("it was written");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of = |name: &str| events.iter().find(|event| event["name"] == name).unwrap_or_else(|| panic!("{name}: {text}"));
    // Microseconds from the first on, and a row for each stream.
    let shown = |name: &str| {
        let it = of(name);
        assert_eq!(it["ph"], "X");
        let [ts, dur] = ["ts", "dur"].map(|key| it[key].as_f64().expect("a number"));
        (it["pid"].as_u64(), it["tid"].as_u64(), ts, dur)
    };
    assert_eq!(shown("memset"), (Some(1), Some(2), 0.0, 1.0));
    assert_eq!(shown("f"), (Some(1), Some(1), 0.5, 1.0));
    // A tenth of the launch is before its blocks, and a tenth of a microsecond before this.
    assert_eq!(shown("waiting for memory"), (Some(2), Some(1), 0.7, 0.3));
    assert_eq!(of("waiting for memory")["args"]["line"], 2);
    let named = |number: u32| {
        let row = (1.into(), number.into());
        let is = |event: &&serde_json::Value| {
            event["name"] == "thread_name" && (&event["pid"], &event["tid"]) == (&row.0, &row.1)
        };
        events.iter().find(is).map(|event| event["args"]["name"].clone())
    };
    assert_eq!([named(1), named(2)], [Some("stream 3".into()), Some("stream 4".into())]);
    rows_do_not_overlap(events);
    let picture = fs::read_to_string(&picture).expect("it was written");
    assert!(picture.contains("line 2: load of 4 bytes a thread, 2 of them: 4 sectors in 1 line"), "{picture}");
    assert!(picture.contains("waiting for memory: 75%"), "{picture}");
    // What is printed has no trace, and is one object.
    let (code, text, errors) = profile(NCU, &["--no-ncu", "--json", "--svg", to_picture]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let account = &json["predicted"]["launches"][0]["account"];
    assert!(code == 0 && account["tail"] == 0.0 && account["trace"].is_null(), "{text}\n{errors}");
    // The tables are not lost.
    for option in ["--trace", "--svg"] {
        let nowhere = folder.path().join("no/file");
        let (code, text, errors) = profile(NCU, &["--no-ncu", option, nowhere.to_str().expect("it is Unicode")]);
        assert!(code == 2 && errors.contains("error: cannot write") && text.contains("bound by"), "{text}\n{errors}");
    }
}

/// What a viewer shows in a row must not overlap, or it is shown as calls of one another.
fn rows_do_not_overlap(events: &[serde_json::Value]) {
    let mut rows: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |key: &str| event[key].as_u64().expect("a number");
        let [ts, dur] = ["ts", "dur"].map(|key| event[key].as_f64().expect("a number"));
        rows.entry((number("pid"), number("tid"))).or_default().push((ts, ts + dur));
    }
    for (row, mut spans) in rows {
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-6), "{row:?}: {spans:?}");
    }
}

#[test]
fn what_cannot_be_profiled_says_why() {
    let (code, _, errors) = profile(NCU, &["--rung", "nothing"]);
    assert!(code == 2 && errors.contains("no such rung"), "{errors}");
    for size in ["many", "3x"] {
        let (code, _, errors) = profile(NCU, &["--size", size]);
        assert!(code == 2 && errors.contains(&format!("`{size}` is no number of elements")), "{errors}");
    }
    for (wrong, says) in [("add_gleu", "did you mean `add_gelu`?"), ("day99", "no day or exercise is called `day99`")] {
        let output = Prebuilt::new(WORKER).run(&["profile", wrong, "--prebuilt"]);
        assert!(
            output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains(says),
            "{output:?}"
        );
    }
    let prebuilt = Prebuilt::new(WORKER);
    let output = prebuilt.run(&["profile", "day22", "--prebuilt"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("`day22` is more than one exercise"), "{output:?}");
}
