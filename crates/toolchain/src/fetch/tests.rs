//! A shell script plays Python and pip: no network, and every failure at will.

use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};

use tempfile::TempDir;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::{Silent, Version};

const WHEELS: &[Wheel] = &[
    Wheel { package: "nvidia-cuda-nvrtc", version: "13.0.88", size: 1000, sha256: "00" },
    Wheel { package: "nvidia-cuda-runtime", version: "13.0.88", size: 100, sha256: "11" },
];

/// What the script does when it is asked to download.
const GOOD: &str = r#"cp "$HERE"/*.whl "$into"; cp "$requirements" "$HERE/requirements""#;

/// A directory with wheels, the script and a cache.
struct Bench {
    root: TempDir,
    fetch: Fetch,
}

impl Bench {
    fn new(download: &str) -> Bench {
        let root = tempfile::tempdir().unwrap();
        wheel(
            &root.path().join("nvidia_cuda_nvrtc-13.0.88-py3-none-any.whl"),
            &[
                ("nvidia/cu13/lib/libnvrtc.so.13", "the compiler"),
                ("nvidia/cu13/lib/libnvrtc.alt.so.13", "another one"),
                ("nvidia/cu13/lib/libnvrtc-builtins.so.13.0", "its builtins"),
                ("nvidia_cuda_nvrtc-13.0.88.dist-info/licenses/License.txt", "the licence"),
                ("../../escaped", "not ours"),
            ],
        );
        wheel(
            &root.path().join("nvidia_cuda_runtime-13.0.88-py3-none-any.whl"),
            &[
                ("nvidia/cu13/include/cuda_fp16.h", "half"),
                ("nvidia/cu13/include/cccl/nv/target", "target"),
                ("nvidia/cu13/lib/libcudart_static.a", "not needed"),
            ],
        );
        let python = root.path().join("python");
        let text = format!(
            r#"HERE="{}"
case "$*" in
  -c*) exit 0 ;;
  "-m pip --version") exit 0 ;;
esac
while [ $# -gt 0 ]; do
  case "$1" in
    --dest) into="$2" ;;
    --requirement) requirements="$2" ;;
  esac
  shift
done
echo called >> "$HERE/calls"
{download}
"#,
            root.path().display()
        );
        script(&python, &text);
        let places = Places { cache: Some(Cache::new(root.path().join("cache"))), ..Places::default() };
        let fetch = Fetch { places, python: Some(python.into()), wheels: WHEELS };
        Bench { root, fetch }
    }

    /// Of the folder in the cache.
    fn name(&self) -> String {
        Cache::new(self.root.path().join("cache")).name()
    }

    fn cache(&self) -> PathBuf {
        self.root.path().join("cache").join(self.name())
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.root.path().join("calls")).unwrap_or_default().lines().count()
    }

    /// What is in the cache's root, except the lock.
    fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join("cache")).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".lock")).collect()
    }
}

/// Writes a shell script that can be run.
///
/// Another process writes it: were it open for writing here, a child that another test forks meanwhile would hold it open
/// too, and running it would fail with "text file busy".
fn script(path: &Path, text: &str) {
    let write = "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(text).status();
    assert!(status.is_ok_and(|status| status.success()), "{} cannot be written", path.display());
}

fn wheel(path: &Path, files: &[(&str, &str)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, text) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

#[derive(Default)]
struct Notes(Vec<String>);

impl Progress for Notes {
    fn note(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }
    fn start(&mut self, _what: &str, _total: u64) {}
    fn advance(&mut self, _done: u64) {}
    fn finish(&mut self) {}
}

#[test]
fn fetches_what_is_needed_once_and_names_the_licence() {
    let bench = Bench::new(GOOD);
    let mut notes = Notes::default();
    let toolchain = bench.fetch.find_or_fetch(&mut notes).unwrap();
    assert_eq!(toolchain.nvrtc, bench.cache().join("lib/libnvrtc.so.13"));
    assert_eq!(toolchain.builtins, bench.cache().join("lib/libnvrtc-builtins.so.13.0"));
    assert_eq!(toolchain.include, [bench.cache().join("include"), bench.cache().join("include/cccl")]);
    assert_eq!(toolchain.version, Version { major: 13, minor: 0 });
    assert!(notes.0.contains(&LICENCE.to_owned()), "{:?}", notes.0);
    assert_eq!(fs::read_to_string(bench.cache().join("LICENSE-nvidia-cuda-nvrtc.txt")).unwrap(), "the licence");
    let mut lib: Vec<_> = fs::read_dir(bench.cache().join("lib")).unwrap().map(|it| it.unwrap().file_name()).collect();
    lib.sort();
    assert_eq!(lib, ["libnvrtc-builtins.so.13.0", "libnvrtc.so", "libnvrtc.so.13"]);
    assert_eq!(bench.leftovers(), [bench.name()]);
    assert_eq!(
        fs::read_to_string(bench.root.path().join("requirements")).unwrap(),
        "nvidia-cuda-nvrtc==13.0.88 --hash=sha256:00\nnvidia-cuda-runtime==13.0.88 --hash=sha256:11\n"
    );

    assert_eq!(bench.fetch.find_or_fetch(&mut Silent).unwrap(), bench.fetch.fetch(&mut Silent).unwrap());
    assert_eq!(bench.calls(), 1);
}

#[test]
fn a_damaged_cache_is_named_and_fetched_again() {
    for (file, text, reason) in [
        ("lib/libnvrtc.so.13", "the c", "lib/libnvrtc.so.13 has 5 bytes instead of 12"),
        ("lib/libnvrtc.so.13", "the Compiler", "the contents of lib/libnvrtc.so.13 have changed"),
        ("include/cuda_fp16.h", "", "include/cuda_fp16.h has 0 bytes instead of 4"),
        ("manifest.txt", "", "manifest.txt is of another format"),
        ("manifest.txt", "fusion-course toolchain, format 1\n0", "manifest.txt is cut short or altered"),
    ] {
        let bench = Bench::new(GOOD);
        let toolchain = bench.fetch.find_or_fetch(&mut Silent).unwrap();
        fs::write(bench.cache().join(file), text).unwrap();
        let error = bench.fetch.places.find().unwrap_err().to_string();
        assert!(error.contains(&format!("damaged: {reason}")), "{error}");
        let mut notes = Notes::default();
        assert_eq!(bench.fetch.find_or_fetch(&mut notes).unwrap(), toolchain);
        let said = notes.0.iter().filter(|note| note.contains(reason) && note.contains("fetching it again")).count();
        assert_eq!((said, bench.calls()), (1, 2), "{:?}", notes.0);
        assert_eq!(bench.leftovers(), [bench.name()]);
    }
}

#[test]
fn what_an_interrupted_attempt_left_is_removed() {
    let bench = Bench::new(GOOD);
    let stale = bench.root.path().join(format!("cache/{}.staging-1-1/wheels", bench.name()));
    fs::create_dir_all(&stale).unwrap();
    fs::write(stale.join("half"), "half").unwrap();
    bench.fetch.find_or_fetch(&mut Silent).unwrap();
    assert_eq!(bench.leftovers(), [bench.name()]);
}

#[test]
fn two_at_once_fetch_once() {
    let bench = Bench::new(GOOD);
    std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| bench.fetch.find_or_fetch(&mut Silent).unwrap()));
        let [first, second] = both.map(|thread| thread.join().unwrap());
        assert_eq!(first, second);
    });
    assert_eq!(bench.calls(), 1);
}

/// Lets the first note through to the other thread.
struct Tell(Sender<String>);

impl Progress for Tell {
    fn note(&mut self, line: &str) {
        let _ = self.0.send(line.to_owned());
    }
    fn start(&mut self, _what: &str, _total: u64) {}
    fn advance(&mut self, _done: u64) {}
    fn finish(&mut self) {}
}

#[test]
fn whoever_waits_says_so() {
    let bench = Bench::new(GOOD);
    fs::create_dir(bench.root.path().join("cache")).unwrap();
    let held = File::create(bench.root.path().join(format!("cache/{}.lock", bench.name()))).unwrap();
    held.lock().unwrap();
    let (sender, notes) = channel();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| bench.fetch.find_or_fetch(&mut Tell(sender)));
        assert!(notes.recv().unwrap().contains("waiting"));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}

/// The message must name what happened and the next step, and nothing may be left behind.
#[track_caller]
fn fails(download: &str, expected: &[&str]) {
    let bench = Bench::new(download);
    let error = bench.fetch.find_or_fetch(&mut Silent).unwrap_err().to_string();
    for part in expected {
        assert!(error.contains(part), "{part:?} is missing in\n{error}");
    }
    assert_eq!(bench.leftovers(), [""; 0]);
}

#[test]
fn failures_of_pip_are_told_apart_and_leave_nothing() {
    fails("echo 'ERROR: something else' >&2; exit 1", &["exit status: 1", "something else", "FUSION_NVRTC"]);
    fails("echo 'OSError: [Errno 28] No space left on device' >&2; exit 1", &["no space left", "250 MB"]);
    fails("kill -9 $$", &["signal: 9"]);
    fails("exit 0", &["nvidia-cuda-nvrtc-13.0.88", "pip did not download it"]);
    fails(r#"echo text > "$into/nvidia_cuda_nvrtc-13.0.88-x.whl""#, &["could not be unpacked"]);
}

#[test]
fn a_wheel_cut_short_is_noticed() {
    fails(
        r#"for wheel in "$HERE"/*.whl; do head -c 150 "$wheel" > "$into/$(basename "$wheel")"; done"#,
        &["nvidia-cuda-nvrtc-13.0.88 could not be unpacked"],
    );
}

#[test]
fn without_python_or_pip_the_message_says_what_to_install() {
    let mut bench = Bench::new("exit 0");
    bench.fetch.python = Some(bench.root.path().join("nowhere").into());
    let error = bench.fetch.find_or_fetch(&mut Silent).unwrap_err();
    assert!(matches!(&error, FetchError::NoPython { tried } if tried.len() == 1), "{error}");

    let python = bench.root.path().join("python");
    script(&python, "case \"$1\" in -c) exit 0 ;; esac\nexit 1");
    bench.fetch.python = Some(python.into());
    let error = bench.fetch.find_or_fetch(&mut Silent).unwrap_err();
    assert!(matches!(error, FetchError::NoPip { .. }), "{error}");
}

#[test]
fn a_platform_without_wheels_is_named() {
    let bench = Bench::new(GOOD);
    let error = Fetch { wheels: &[], ..bench.fetch.clone() }.find_or_fetch(&mut Silent).unwrap_err();
    assert!(error.to_string().contains(std::env::consts::ARCH), "{error}");
}

#[test]
fn a_cache_that_cannot_be_a_directory_is_an_error() {
    let bench = Bench::new(GOOD);
    fs::write(bench.root.path().join("cache"), "a file").unwrap();
    let error = bench.fetch.find_or_fetch(&mut Silent).unwrap_err().to_string();
    assert!(error.contains("cache") && error.contains("FUSION_CACHE_DIR"), "{error}");
}

#[test]
fn a_wrong_override_is_not_mended_by_fetching() {
    let mut bench = Bench::new(GOOD);
    bench.fetch.places.explicit = Some("/nowhere".into());
    let error = bench.fetch.find_or_fetch(&mut Silent).unwrap_err();
    assert!(matches!(error, FetchError::Override(_)) && bench.calls() == 0, "{error}");
}
