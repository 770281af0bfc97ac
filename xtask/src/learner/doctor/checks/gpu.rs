//! The GPU that is there, the one that is emulated, and what stands between the course and them.

use std::path::Path;

use fusion_device::{Choice, Device, OpenError};

use super::super::check::{Apart, Check, Finding};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "driver",
        why: "With a GPU, *fast* is measured. Without one it is predicted, and the course works all the same.",
        apart: Some(Apart {
            doing: "opening the NVIDIA driver",
            fix: "restart the machine, or install the driver anew; until then:\ncargo xtask grade --device emulated",
        }),
        look: |_| match Device::open(Choice::Gpu) {
            Ok(device) => opened(&device),
            Err(error) => unopened(&error, has_card()),
        },
    },
    Check {
        name: "loader",
        why: "A library that LD_LIBRARY_PATH names is taken in the place of the one that belongs to the driver.",
        apart: None,
        look: |_| {
            shadows(
                &std::env::var_os("LD_LIBRARY_PATH").map_or(Vec::new(), |path| std::env::split_paths(&path).collect()),
            )
        },
    },
    Check {
        name: "emulated",
        why: "This GPU executes your kernels in *right* and *lean*, and predicts *fast* where there is no other.",
        apart: None,
        look: |_| match fusion_profile::chosen() {
            Ok(profile) => Finding::ok(profile.name),
            Err(why) => Finding::problem(why, format!("unset {}", fusion_profile::CHOICE)),
        },
    },
    Check {
        name: "settings",
        why: "These variables change what the emulated GPU does, in every command that is given in this shell.",
        apart: None,
        look: |_| settings(std::env::vars().collect()),
    },
];

fn opened(device: &Device) -> Finding {
    let about = &device.properties;
    let (capability, driver) = (about.compute_capability, about.driver);
    let found = format!(
        "{} with compute capability {}.{}, its driver for CUDA {}.{}",
        about.name, capability.0, capability.1, driver.0, driver.1
    );
    let oldest = device.compiler().ok().and_then(|compiler| compiler.architectures().first().copied());
    match oldest {
        Some(oldest) if capability.0 * 10 + capability.1 < oldest => Finding::problem(
            format!("{found}. NVRTC makes code for {}.{} and newer", oldest / 10, oldest % 10),
            "cargo xtask grade --device emulated\nor set FUSION_NVRTC to an older NVRTC (12.9 goes back to 5.0)",
        ),
        _ => Finding::ok(found),
    }
}

fn unopened(error: &OpenError, has_card: bool) -> Finding {
    match (error, has_card) {
        (OpenError::NoDriver { .. }, false) => Finding::ok("no NVIDIA GPU: the emulated one takes its place"),
        (OpenError::NoDriver { .. }, true) => Finding::note(
            "there is an NVIDIA GPU, and its driver cannot be opened: the emulated one takes its place",
            "install NVIDIA's driver; a container is to be started with the GPU:\ndocker run --gpus all ...",
        ),
        (OpenError::NoDevice { code, text }, _) => Finding::note(
            format!(
                "there is an NVIDIA driver, and it offers no GPU: {text} (error {code}). The emulated one takes its place"
            ),
            "nvidia-smi\nsays more; after an update of the driver, restart the machine",
        ),
        (OpenError::OldDriver { driver, needed }, _) => Finding::note(
            format!(
                "the NVIDIA driver is for CUDA {}.{}, and {}.{} is needed: the emulated GPU takes its place",
                driver.0, driver.1, needed.0, needed.1
            ),
            "install a newer NVIDIA driver",
        ),
        (error, _) => Finding::problem(error.to_string(), "cargo xtask grade --device emulated"),
    }
}

/// Whether a display or compute card of NVIDIA's is plugged in, as Linux says.
fn has_card() -> bool {
    let devices = std::fs::read_dir("/sys/bus/pci/devices").into_iter().flatten().flatten();
    devices.map(|device| device.path()).any(|device| {
        let has = |file: &str, start: &str| {
            std::fs::read_to_string(device.join(file)).is_ok_and(|text| text.starts_with(start))
        };
        // PCI's number of NVIDIA, and its class of display controllers.
        has("vendor", "0x10de") && has("class", "0x03")
    })
}

/// Drivers among the folders that the loader looks into first. The toolkit's stubs do nothing but fail.
fn shadows(folders: &[std::path::PathBuf]) -> Finding {
    // Cargo names its own folders, in which the emulated driver is called something else.
    let holds =
        |folder: &&std::path::PathBuf| folder.join("libcuda.so.1").exists() || folder.join("libcuda.so").exists();
    match folders.iter().find(holds) {
        Some(folder) => Finding::note(
            format!("LD_LIBRARY_PATH names {}, which has a libcuda.so of its own", folder.display()),
            format!("take {} out of LD_LIBRARY_PATH, unless the driver itself is there", shown(folder)),
        ),
        None => Finding::ok("LD_LIBRARY_PATH names no other driver"),
    }
}

fn shown(folder: &Path) -> String {
    folder.display().to_string()
}

/// What the variables are for; `grade` ignores the first.
const SETTINGS: [(&str, &str); 4] = [
    ("FUSION_EMULATOR_CHECKS", "which mistakes are looked for; `grade` ignores it"),
    ("FUSION_EMULATOR_BUDGET", "after how many instructions a launch is ended"),
    ("FUSION_EMULATOR_QUIET", "reports on stderr are left out"),
    ("FUSION_EMULATOR", "another emulated driver than the one that was built"),
];

fn settings(variables: Vec<(String, String)>) -> Finding {
    let set: Vec<(String, &str)> = SETTINGS
        .iter()
        .filter_map(|(name, what)| {
            let (_, value) = variables.iter().find(|(variable, value)| variable == name && !value.is_empty())?;
            Some((format!("{name}={value}"), *what))
        })
        .collect();
    if set.is_empty() {
        return Finding::ok("none of the emulated GPU's variables is set");
    }
    let found: Vec<String> = set.iter().map(|(set, what)| format!("{set}: {what}")).collect();
    let names: Vec<&str> = set.iter().filter_map(|(set, _)| set.split('=').next()).collect();
    Finding::note(found.join("\n"), format!("unset {}", names.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State;
    use super::*;

    #[test]
    fn a_machine_without_a_gpu_is_well() {
        let no_driver = || OpenError::NoDriver { detail: "libcuda.so.1: no such file".to_owned() };
        let broken = OpenError::NoDevice { code: 803, text: "system has unsupported display driver".to_owned() };
        for (error, card, state, says) in [
            (no_driver(), false, State::Ok, "the emulated one takes its place"),
            (no_driver(), true, State::Note, "cannot be opened"),
            (broken, true, State::Note, "(error 803)"),
            (OpenError::OldDriver { driver: (11, 4), needed: (12, 0) }, true, State::Note, "for CUDA 11.4, and 12.0"),
        ] {
            let finding = unopened(&error, card);
            assert!(finding.state == state && finding.found.contains(says), "{finding:?}");
        }
    }

    #[test]
    fn stubs_on_the_loader_path_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        assert_eq!(shadows(&folders).state, State::Ok);
        std::fs::write(folder.path().join("libcuda.so"), "").unwrap();
        assert_eq!(shadows(&folders).state, State::Note);
    }

    #[test]
    fn what_was_left_in_the_shell_is_named() {
        let set = |name: &str| settings(vec![(name.to_owned(), "none".to_owned())]);
        assert_eq!(set("HOME").state, State::Ok);
        let finding = set("FUSION_EMULATOR_CHECKS");
        assert_eq!(finding.fix.as_deref(), Some("unset FUSION_EMULATOR_CHECKS"));
        assert!(finding.found.starts_with("FUSION_EMULATOR_CHECKS=none: "), "{finding:?}");
    }
}
