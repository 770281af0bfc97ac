//! The machine: its system, its cores, its memory, its disk.

use std::path::Path;

use super::super::check::{Check, Finding};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "system",
        why: "Kernels are compiled by NVRTC, which NVIDIA makes for Linux and Windows only.",
        apart: None,
        look: |_| system(std::env::consts::OS, std::env::consts::ARCH),
    },
    Check {
        name: "cores",
        why: "The emulated GPU runs on all cores. What else runs there makes it slower, and an exercise has a time limit.",
        apart: None,
        look: |_| cores(std::thread::available_parallelism().map_or(1, usize::from), load()),
    },
    Check {
        name: "memory",
        why: "The first build takes about 1 GB, and the emulated GPU holds the arrays of an exercise in memory.",
        apart: None,
        look: |_| memory(free_memory()),
    },
    Check {
        name: "disk",
        why: "The programs that cargo builds for the course take about 1.5 GB.",
        apart: None,
        look: |place| disk(place.root.as_deref()),
    },
];

fn system(os: &str, processor: &str) -> Finding {
    const CONTAINER: &str = "take the course in a Linux container or virtual machine";
    match (os, processor) {
        ("linux", "x86_64") => Finding::ok("Linux on x86_64"),
        ("linux", "aarch64") => Finding::known("Linux on aarch64: everything is there, and less tested than on x86_64"),
        ("windows", "x86_64") => Finding::note(
            "Windows on x86_64: less tested than Linux; `grade --class` is for Linux only",
            "if something fails, try the Windows Subsystem for Linux",
        ),
        _ => Finding::problem(format!("{os} on {processor}: there is no NVRTC for it"), CONTAINER),
    }
}

/// The load is how many processes have wanted a core in the last minute.
fn cores(cores: usize, load: Option<f64>) -> Finding {
    let count = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
    match load {
        Some(load) if load > cores as f64 => Finding::note(
            format!("{count}, on which {load:.1} processes ran in the last minute"),
            "end what else runs, or give an exercise more time:\ncargo xtask grade --timeout 600",
        ),
        _ => Finding::ok(count),
    }
}

fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

const MEGA: u64 = 1_000_000;

fn memory(free: Option<u64>) -> Finding {
    const FIX: &str =
        "close other programs, or build on one core:\nCARGO_BUILD_JOBS=1 cargo xtask grade average --solutions";
    match free.map(|free| free / MEGA) {
        None => Finding::ok("not known on this system"),
        Some(free) if free < 1000 => Finding::problem(format!("{free} MB are free"), FIX),
        Some(free) if free < 2000 => Finding::note(format!("{free} MB are free"), FIX),
        Some(free) => Finding::ok(format!("{:.1} GB are free", free as f64 / 1000.0)),
    }
}

/// Bytes that a new process may take: what the system has left, or what is left to this container.
fn free_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = available.split_whitespace().next()?.parse().ok()?;
    let number = |name: &str| -> Option<u64> {
        std::fs::read_to_string(Path::new("/sys/fs/cgroup").join(name)).ok()?.trim().parse().ok()
    };
    let left = number("memory.max").zip(number("memory.current")).map(|(most, taken)| most.saturating_sub(taken));
    Some((kilobytes * 1024).min(left.unwrap_or(u64::MAX)))
}

fn disk(root: Option<&Path>) -> Finding {
    let built = std::env::var_os("CARGO_TARGET_DIR").map(std::path::PathBuf::from);
    let folder = built.or_else(|| root.map(|root| root.join("target"))).unwrap_or_default();
    let is_there = folder.is_dir();
    let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    match free_space(existing).map(|free| free / MEGA) {
        None => Finding::ok("not known on this system"),
        Some(free) => {
            space(free, is_there).unwrap_or_else(|| Finding::ok(format!("{:.1} GB are free", free as f64 / 1000.0)))
        }
    }
}

/// What is wrong with so many megabytes, if anything.
fn space(free: u64, is_built: bool) -> Option<Finding> {
    let needed = if is_built { 300 } else { 1500 };
    let found = format!("{free} MB are free where cargo builds");
    (free < needed).then(|| {
        Finding::problem(found, "make room, or build elsewhere:\nexport CARGO_TARGET_DIR=/another/disk/target")
    })
}

#[cfg(target_os = "linux")]
fn free_space(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail * disk.f_frsize)
}

#[cfg(not(target_os = "linux"))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State::{Note, Ok, Problem};
    use super::*;

    #[test]
    fn machines() {
        for (finding, state) in [
            (system("linux", "x86_64"), Ok),
            (system("linux", "aarch64"), Note),
            (system("windows", "x86_64"), Note),
            (system("macos", "aarch64"), Problem),
            (system("windows", "aarch64"), Problem),
            (cores(4, Some(3.9)), Ok),
            (cores(4, Some(4.1)), Note),
            (cores(1, None), Ok),
            (memory(None), Ok),
            (memory(Some(900 * MEGA)), Problem),
            (memory(Some(1900 * MEGA)), Note),
            (memory(Some(8000 * MEGA)), Ok),
        ] {
            assert_eq!(finding.state, state, "{finding:?}");
        }
        assert!(space(1000, false).is_some() && space(1000, true).is_none() && space(100, true).is_some());
    }
}
