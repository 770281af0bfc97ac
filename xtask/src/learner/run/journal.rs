//! What the processes of a program have done, from the files that the emulated driver wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use fusion_machine::Fault;
use fusion_machine::report::{Event, Work};
use serde_json::Value;

/// The function by which NVIDIA's runtime asks for its tables.
pub(super) const TABLES: &str = "cuGetExportTable";

/// A line that is longer is no event.
const LONGEST_LINE: u64 = 16 << 20;

/// A process that opened the driver, or tried to.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) id: u32,
    /// Its command line.
    pub(super) command: Vec<String>,
    /// The device's name; none when the driver was not initialised.
    pub(super) device: Option<String>,
    /// How often each kernel was launched.
    pub(super) launches: BTreeMap<String, u64>,
    /// What the device was asked to do, where a trace is asked for.
    pub(super) work: Vec<Work>,
    /// What was found, in the order in which it was.
    pub(super) findings: Vec<Fault>,
    /// What the driver had to say beside that.
    pub(super) notes: Vec<String>,
    /// The driver's functions that were called and are not supported.
    pub(super) unsupported: Vec<String>,
}

/// The processes of a journal by their numbers.
pub(super) fn read(folder: &Path) -> Vec<Process> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut processes: Vec<Process> = entries.filter_map(|entry| process(&entry.path())).collect();
    processes.sort_by_key(|process| process.id);
    processes
}

fn process(path: &Path) -> Option<Process> {
    let id = path.file_stem()?.to_str()?.parse().ok()?;
    let mut process = Process { id, ..Process::default() };
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut line = Vec::new();
    let here = std::env::current_dir().ok();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Some(process),
            // The last line of a process that was killed may be cut.
            Ok(_) => process.extend(event(&line, here.as_deref())),
        }
    }
}

fn event(line: &[u8], here: Option<&Path>) -> Option<Event> {
    let mut value = serde_json::from_slice(line).ok()?;
    if let Some(here) = here {
        shorten(&mut value, here);
    }
    serde_json::from_value(value).ok()
}

/// Names files below the current folder as their developer would, wherever a position is in an event.
fn shorten(value: &mut Value, here: &Path) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(file)) = fields.get_mut("file")
                && let Ok(shorter) = Path::new(file.as_str()).strip_prefix(here)
            {
                *file = shorter.display().to_string();
            }
            fields.values_mut().for_each(|field| shorten(field, here));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, here)),
        _ => {}
    }
}

impl Process {
    /// All that was found, with what was known when a launch was stopped.
    pub(super) fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.findings.iter().flat_map(|fault| std::iter::once(fault).chain(&fault.earlier))
    }

    fn extend(&mut self, event: Option<Event>) {
        match event {
            Some(Event::Opened { command, device }) => (self.command, self.device) = (command, Some(device)),
            Some(Event::Launched { kernel, times }) => *self.launches.entry(kernel).or_default() += times,
            Some(Event::Ran(work)) => self.work.push(work),
            Some(Event::Found(fault)) => self.findings.push(fault),
            Some(Event::Said { text, unsupported }) => {
                // Programs ask for the tables in passing; whether that is worth a word is known at the end.
                if unsupported.as_deref() != Some(TABLES) {
                    self.notes.push(text);
                }
                self.unsupported.extend(unsupported);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use fusion_machine::report::kind::Stop;

    use super::*;

    #[test]
    fn a_journal_that_is_cut_anywhere_is_read_up_to_there() {
        let folder = tempfile::tempdir().unwrap();
        let fault = Fault::new(Stop::Trap);
        let events = [
            Event::Opened { command: vec!["p".to_owned()], device: "Emulated H200".to_owned() },
            Event::Launched { kernel: "k".to_owned(), times: 2 },
            Event::Launched { kernel: "k".to_owned(), times: 1 },
            Event::Found(fault.clone()),
            Event::Said { text: "so".to_owned(), unsupported: None },
        ];
        let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
        let text = lines.concat();
        let file = folder.path().join("12.jsonl");
        std::fs::write(folder.path().join("other"), &text).unwrap();
        for end in (0..text.len()).step_by(7).chain([text.len()]) {
            std::fs::write(&file, &text[..end]).unwrap();
            let read = read(folder.path());
            let whole = lines
                .iter()
                .scan(0, |at, line| {
                    *at += line.len();
                    Some(*at)
                })
                .filter(|at| *at <= end + 1)
                .count();
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].launches.get("k").copied().unwrap_or(0), [0, 0, 2, 3, 3, 3][whole], "{end}");
            assert_eq!((read[0].findings.len(), read[0].notes.len()), (usize::from(whole > 3), usize::from(whole > 4)));
        }
        assert_eq!(read(folder.path())[0].findings, [fault]);
        assert!(super::read(Path::new("/nonexistent")).is_empty());
    }
}
