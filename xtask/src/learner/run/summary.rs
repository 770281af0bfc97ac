//! What there is to say of a run, as text and as JSON, and the exit code.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use fusion_diagnostic::{Files, Look, counted, say, say_all, short_name, sites};
use fusion_machine::Fault;
use fusion_machine::report::{Severity, demangle};
use serde_json::{Value, json};

use super::NOTHING_JUDGED;
use super::journal::{Process, TABLES};
use super::program::Ran;
use crate::process::{End, signal_name};

/// Sources that are shown.
const FILES: Files = Files { largest: 16 << 20 };

/// A run and what came of it.
#[derive(Debug)]
pub(super) struct Summary {
    command: Vec<String>,
    ran: Ran,
}

impl Summary {
    pub(super) fn new(command: &[OsString], ran: Ran) -> Self {
        let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Self { command, ran }
    }

    fn opened(&self) -> bool {
        self.ran.processes.iter().any(|process| process.device.is_some())
    }

    fn count(&self, severity: Severity) -> usize {
        let findings = self.ran.processes.iter().flat_map(Process::faults);
        findings.filter(|fault| fault.severity() == severity).count()
    }

    /// The program's own code, unless it says nothing and the findings do.
    pub(super) fn exit_code(&self) -> u8 {
        match self.ran.end {
            End::Exited(0) if self.count(Severity::Error) > 0 => 1,
            End::Exited(0) if !self.opened() || self.ran.processes.iter().any(wants_tables) => NOTHING_JUDGED,
            End::Exited(code) => u8::try_from(code).unwrap_or(NOTHING_JUDGED),
            End::Killed(signal) => u8::try_from(128 + signal).unwrap_or(NOTHING_JUDGED),
            End::TimedOut | End::Stopped(_) | End::Interrupted => NOTHING_JUDGED,
        }
    }

    /// One object, which the book's page on programs of strangers describes.
    pub(super) fn json(&self) -> String {
        let end = match self.ran.end {
            End::Killed(signal) => json!({ "signal": signal, "name": signal_name(signal).split(',').next() }),
            End::Exited(code) => json!({ "code": code }),
            End::TimedOut | End::Stopped(_) | End::Interrupted => json!({}),
        };
        let object = json!({
            "version": 1,
            "command": self.command,
            "end": end,
            "opened": self.opened(),
            "errors": self.count(Severity::Error),
            "warnings": self.count(Severity::Warning),
            "advice": self.count(Severity::Advice),
            "exit_code": self.exit_code(),
            "processes": self.ran.processes.iter().map(process).collect::<Vec<_>>(),
        });
        format!("{object:#}\n")
    }

    /// What was found, process by process, and a line that sums it up.
    pub(super) fn text(&self, advice: bool, look: Look) -> String {
        let mut parts = Vec::new();
        let several = self.ran.processes.len() > 1;
        for process in &self.ran.processes {
            let least = if advice { Severity::Advice } else { Severity::Warning };
            let shown = say_all(process.findings.iter().filter(|fault| fault.severity() >= least));
            if several && !(shown.is_empty() && process.notes.is_empty()) {
                parts.push(format!("process {}: {}", process.id, process.command.join(" ")));
            }
            if !shown.is_empty() {
                parts.push(fusion_diagnostic::all(&shown, &FILES, look));
            }
            parts.extend(process.notes.iter().map(|note| format!("note: {note}")));
            parts.extend(private_handshake(process));
        }
        parts.extend(self.end());
        parts.push(self.line(advice));
        parts.join("\n\n") + "\n"
    }

    /// How the program ended, where that is worth a sentence.
    fn end(&self) -> Option<String> {
        match self.ran.end {
            End::Killed(signal) => Some(format!("the program was ended by signal {signal}: {}", signal_name(signal))),
            End::Exited(0) => None,
            End::Exited(code) => Some(format!("the program ended with code {code}")),
            End::TimedOut | End::Stopped(_) | End::Interrupted => None,
        }
    }

    fn line(&self, advice: bool) -> String {
        let program = self.command.first().map_or("", |program| program.as_str());
        let program = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
        if !self.opened() && matches!(self.ran.end, End::Killed(_)) {
            return format!("{program}: it had not opened the CUDA driver by then, so nothing was checked.");
        }
        if !self.opened() {
            return format!(
                "{program}: it never opened the CUDA driver, so nothing was checked. Does it use CUDA? A program that looks for \
                 libcuda.so.1 in a folder of its own (RPATH) does not come here for it, nor does one that is wholly static."
            );
        }
        let devices: BTreeSet<&str> =
            self.ran.processes.iter().filter_map(|process| process.device.as_deref()).collect();
        let devices: Vec<&str> = devices.into_iter().collect();
        let launches: u64 = self.ran.processes.iter().flat_map(|process| process.launches.values()).sum();
        let kernels: BTreeSet<&String> =
            self.ran.processes.iter().flat_map(|process| process.launches.keys()).collect();
        // Those of one template have one name.
        let names: BTreeSet<String> = kernels.iter().map(|name| short(name)).collect();
        let more = if names.len() > 4 { ", ..." } else { "" };
        let names: Vec<String> = names.into_iter().take(4).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({}{more})", names.join(", ")) };
        // As many as are shown: what is found at one place again and again is one mistake.
        let found: Vec<_> = self.ran.processes.iter().flat_map(|it| sites(&say_all(&it.findings), &FILES)).collect();
        let count = |severity| found.iter().filter(|site| site.severity == severity).count() as u64;
        let found = [
            counted(count(Severity::Error), "error"),
            counted(count(Severity::Warning), "warning"),
            match (count(Severity::Advice), advice) {
                (count @ 1.., false) => format!("{count} on speed, which --advice shows"),
                (count, _) => format!("{count} on speed"),
            },
        ];
        format!(
            "{program} on {}: {} of {}{names}; {}",
            devices.join(", "),
            counted(launches, "launch"),
            counted(kernels.len() as u64, "kernel"),
            found.join(", ")
        )
    }
}

fn process(process: &Process) -> Value {
    json!({
        "id": process.id,
        "command": process.command,
        "device": process.device,
        "launches": process.launches,
        "findings": process.faults().map(finding).collect::<Vec<_>>(),
        "notes": process.notes,
    })
}

fn finding(fault: &Fault) -> Value {
    let place = fusion_diagnostic::place(&fault.source, &FILES);
    json!({
        "code": fault.code(),
        "severity": fault.severity(),
        "kernel": fault.kernel,
        "file": place.map(|place| &place.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "text": fusion_diagnostic::render(&say(fault), &FILES, Look::default()),
    })
}

/// A kernel's name without its namespaces, parameters and template arguments, and without what numba-cuda adds to tell
/// them apart.
fn short(name: &str) -> String {
    short_name(&demangle(name)).to_owned()
}

/// Whether a process brought NVIDIA's runtime, which asks for tables that are not there, and then gives up. Others ask in passing,
/// and fail of something else if they do.
fn wants_tables(process: &Process) -> bool {
    process.launches.is_empty()
        && process.findings.is_empty()
        && process.unsupported.iter().any(|function| function == TABLES)
}

/// NVIDIA's runtime cannot work here, and what a program says when it fails names another cause.
fn private_handshake(process: &Process) -> Option<String> {
    wants_tables(process).then(|| {
        "help: the program brings NVIDIA's CUDA runtime, which asks the driver for tables that are not documented. Build it with \
         `nvcc -cudart shared -gencode arch=compute_90,code=compute_90`, and let it find libcudart by the loader's path: then it runs \
         with the emulated runtime"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::kind::Stop;

    use super::*;

    fn summary(end: End, processes: Vec<Process>) -> Summary {
        Summary::new(&["/bin/prog".into()], Ran { end, processes })
    }

    fn process(findings: Vec<Fault>) -> Process {
        let launches = [("k".to_owned(), 2)].into();
        Process { device: Some("Emulated H200".to_owned()), launches, findings, ..Process::default() }
    }

    #[test]
    fn exit_codes_tell() {
        let error = Fault::new(Stop::Trap);
        let code = |end, processes| summary(end, processes).exit_code();
        assert_eq!(code(End::Exited(0), vec![process(vec![])]), 0);
        assert_eq!(code(End::Exited(0), vec![process(vec![error.clone()])]), 1);
        assert_eq!(code(End::Exited(3), vec![process(vec![error])]), 3);
        assert_eq!(code(End::Exited(0), vec![]), 2);
        assert_eq!(code(End::Killed(11), vec![process(vec![])]), 139);
    }

    #[test]
    fn the_last_line_sums_up() {
        let text = summary(End::Exited(0), vec![process(vec![])]).text(false, Look::default());
        assert_eq!(text, "prog on Emulated H200: 2 launches of 1 kernel (k); 0 errors, 0 warnings, 0 on speed\n");
        let mangled = ["_Z7reduce7IiLj512ELb1EEvPT_", "_Z7reduce7IiLj256ELb1EEvPT_", "_ZN1a3addEi"];
        let launches = mangled.map(|name| (name.to_owned(), 1)).into();
        let text = summary(End::Exited(0), vec![Process { launches, ..process(vec![]) }]).text(false, Look::default());
        assert!(text.contains("3 launches of 3 kernels (add, reduce7); "), "{text}");
        let text = summary(End::Killed(11), vec![]).text(false, Look::default());
        assert!(text.starts_with("the program was ended by signal 11: SIGSEGV"), "{text}");
        assert!(text.contains("had not opened the CUDA driver"), "{text}");
        let text = summary(End::Exited(0), vec![]).text(false, Look::default());
        assert!(text.contains("never opened the CUDA driver"), "{text}");
        let unsupported = vec![TABLES.to_owned()];
        let brought = Process { unsupported, launches: [].into(), ..process(vec![]) };
        let brought = summary(End::Exited(0), vec![brought]);
        assert_eq!(brought.exit_code(), 2);
        let text = brought.text(false, Look::default());
        assert!(text.contains("nvcc -cudart shared"), "{text}");
    }

    #[test]
    fn what_was_found_before_a_launch_was_stopped_counts() {
        let stopped = Fault { earlier: vec![Fault::new(Stop::Trap)], ..Fault::new(Stop::Trap) };
        let unsupported = vec![TABLES.to_owned()];
        let failed = Process { unsupported, launches: [].into(), ..process(vec![stopped]) };
        let failed = summary(End::Exited(1), vec![failed]);
        let text = failed.text(false, Look::default());
        assert!(text.contains("; 2 errors, "), "{text}");
        assert!(!text.contains("nvcc"), "it did not give up for the tables: {text}");
        let object: Value = serde_json::from_str(&failed.json()).unwrap();
        assert_eq!(
            (&object["errors"], object["processes"][0]["findings"].as_array().map(Vec::len)),
            (&2.into(), Some(2))
        );
    }
}
