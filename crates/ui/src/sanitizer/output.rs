//! What compute-sanitizer prints, taken apart. An error looks like this, and the last line counts them:
//!
//! ```text
//! ========= Invalid __global__ read of size 4 bytes
//! =========     at scale(const float *, float *, int)+0xa0 in tail_read.cu:6
//! =========     by thread (4,0,0) in block (3,0,0)
//! =========     Access at 0x7f5c0fa00190 is out of bounds
//! =========
//! ========= ERROR SUMMARY: 28 errors
//! ```
//!
//! racecheck counts in `RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)`.

use super::{Finding, Tool};

/// What one run of one tool printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub findings: Vec<Finding>,
    /// Whether there is a summary: without one, the tool did not come to its end.
    pub is_complete: bool,
}

/// Every line of the tools begins with it; of the program's own lines none does.
const MARK: &str = "=========";

/// Lines at the margin that begin so are no errors.
const NO_ERRORS: [&str; 9] = [
    "COMPUTE-SANITIZER",
    "ERROR SUMMARY",
    "RACECHECK SUMMARY",
    "LEAK SUMMARY",
    "Target application",
    "Error: process didn't terminate",
    "Error: Target application",
    "No attachable process",
    "Saved host backtrace",
];

/// Takes the output of a tool apart. Lines that it does not know are passed over.
pub fn parse(tool: Tool, text: &str) -> Output {
    let mut output = Output::default();
    // The last error that began, for the lines that belong to it.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let Some(at) = line.find(MARK) else { continue };
        let line = line[at + MARK.len()..].trim_end();
        if line.contains(" SUMMARY:") {
            output.is_complete = true;
            open = None;
            continue;
        }
        let words = line.trim_start();
        if words.is_empty() {
            open = None;
            continue;
        }
        let at_margin = line.len() - words.len() <= 1;
        if !at_margin {
            // `... up to driver entry point at error` names no kernel.
            let kernel = kernel(words).filter(|_| !words.starts_with("Saved host backtrace"));
            if let (Some(index), Some(kernel)) = (open, kernel) {
                let finding: &mut Finding = &mut output.findings[index];
                finding.kernel.get_or_insert(kernel);
            }
            continue;
        }
        if NO_ERRORS.iter().any(|start| words.starts_with(start)) || open.is_some() {
            continue;
        }
        open = Some(add(&mut output.findings, tool, kind(words)));
        if let (Some(index), Some(kernel)) = (open, kernel(words)) {
            output.findings[index].kernel.get_or_insert(kernel);
        }
    }
    output
}

/// Counts it with its like, and says where.
fn add(findings: &mut Vec<Finding>, tool: Tool, kind: String) -> usize {
    match findings.iter().position(|finding| finding.kind == kind) {
        Some(index) => {
            findings[index].count += 1;
            index
        }
        None => {
            findings.push(Finding { tool, kind, kernel: None, count: 1 });
            findings.len() - 1
        }
    }
}

/// The words of an error without places and numbers that differ from one to the next.
fn kind(words: &str) -> String {
    // `Error: Race reported between Write access at k(float *)+0x80 in a.cu:5 and Read access at ... [4 hazards]`
    let mut kind = String::new();
    let mut skipping = false;
    for word in words.split_whitespace() {
        if word.starts_with('[') {
            break;
        }
        match word {
            "at" => skipping = true,
            "and" | "on" | "due" | "with" => skipping = false,
            _ => {}
        }
        if !skipping && !word.starts_with("0x") {
            kind += if kind.is_empty() { "" } else { " " };
            kind += word;
        }
    }
    kind
}

/// The kernel of `at scale(const float *, float *)+0xa0 in a.cu:6` or `... in scale(const float *)`.
fn kernel(words: &str) -> Option<String> {
    let rest = words.strip_prefix("at ").or_else(|| words.split_once(" at ").map(|(_, rest)| rest))?;
    let name = rest.split_once("+0x").map_or(rest, |(name, _)| name).trim();
    let end = name.find(['(', ' ']).unwrap_or(name.len());
    // `0x90 in a.cu:6:scale(float *)`: older releases put the place first.
    match rest.starts_with("0x") {
        true => rest.rsplit_once(':').map(|(_, name)| name.split('(').next().unwrap_or(name).trim().to_owned()),
        false => (end > 0).then(|| name[..end].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tool: Tool, text: &str) -> Vec<(String, Option<String>, u64)> {
        let output = parse(tool, text);
        assert!(output.is_complete);
        output.findings.into_iter().map(|finding| (finding.kind, finding.kernel, finding.count)).collect()
    }

    #[test]
    fn memory_errors_are_counted_by_kind() {
        let text = "\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at scale(const float *, float *, int)+0xa0 in tail_read.cu:6
=========     by thread (4,0,0) in block (3,0,0)
=========     Access at 0x7f5c0fa00190 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f5c0fa00000 of size 400 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame: cuLaunchKernel [0x7f] in libcuda.so
=========
========= Invalid __global__ read of size 4 bytes
=========     at scale(const float *, float *, int)+0xa0 in tail_read.cu:6
=========     by thread (5,0,0) in block (3,0,0)
=========     Access at 0x7f5c0fa00194 is out of bounds
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch failure\" on CUDA API call to cuCtxSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
driver: unspecified launch failure
========= Target application returned an error
========= ERROR SUMMARY: 3 errors
";
        let found = found(Tool::Memcheck, text);
        assert_eq!(found[0], ("Invalid __global__ read of size 4 bytes".into(), Some("scale".into()), 2));
        assert!(found[1].0.starts_with("Program hit CUDA_ERROR_LAUNCH_FAILED") && found[1].1.is_none());
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn initialisation_races_and_barriers() {
        let text = "\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at add_to(const float *, float *)+0x90 in a.cu:6
=========
========= ERROR SUMMARY: 1 error
";
        assert_eq!(found(Tool::Initcheck, text)[0].0, "Uninitialized __global__ memory read of size 4 bytes");
        let text = "\
========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at sum(const float *, float *)+0x140 in a.cu:9
=========     and Write access at sum(const float *, float *)+0x160 in a.cu:9 [128 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
";
        let found_race = found(Tool::Racecheck, text);
        assert_eq!(found_race[0].0, "Error: Race reported between Read access");
        assert_eq!(found_race[0].1.as_deref(), Some("sum"));
        let text = "\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block
=========     at reverse(const float *, float *, int)+0xc0 in a.cu:9
=========     by thread (36,0,0) in block (1,0,0)
=========
========= ERROR SUMMARY: 1 error
";
        assert_eq!(found(Tool::Synccheck, text)[0].0, "Barrier error detected. Divergent thread(s) in block");
    }

    #[test]
    fn races_in_one_line_lose_their_places() {
        let text = "\
========= Warning: Race reported between Write access at 0x70 in a.cu:7:any(float *) and Write access at 0x80 in a.cu:7:any(float *) [8 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
";
        let found = found(Tool::Racecheck, text);
        assert_eq!(found[0].0, "Warning: Race reported between Write access and Write access");
    }

    #[test]
    fn nothing_found_and_nothing_printed_differ() {
        let clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
        assert_eq!(parse(Tool::Memcheck, clean), Output { findings: Vec::new(), is_complete: true });
        assert!(!parse(Tool::Memcheck, "========= COMPUTE-SANITIZER\nsome text ========\n").is_complete);
        let stopped = "========= COMPUTE-SANITIZER\n========= Error: process didn't terminate successfully\n";
        assert_eq!(parse(Tool::Memcheck, stopped), Output::default());
    }
}
