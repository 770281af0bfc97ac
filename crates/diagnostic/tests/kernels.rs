//! The kernels of the essays: each wrong one gets its code, and the report that the essay shows; each right one runs clean.
//!
//! `BLESS=1 cargo test -p fusion-diagnostic --test kernels` writes the reports anew. Look at what changed before you keep it.

#[path = "support/bless.rs"]
mod bless;

use std::process::ExitCode;

use fusion_diagnostic::{Diagnostic, Look, all, say_all};
use fusion_machine::report::Code;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One device, so one kernel at a time.
    arguments.test_threads = Some(1);
    let mut trials = Vec::new();
    for &code in Code::ALL {
        let pending = PENDING.contains(&code);
        let essay = std::fs::read_to_string(path(code)).unwrap_or_default();
        if block(&essay, WRONG).is_some() {
            let right = essay.clone();
            trials.push(Trial::test(format!("{code}/wrong"), move || wrong(code, &essay)).with_ignored_flag(pending));
            trials.push(Trial::test(format!("{code}/right"), move || clean(&right)).with_ignored_flag(pending));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Codes whose detection is not there yet.
const PENDING: &[Code] = &[];

const WRONG: &str = "```cpp,wrong\n";
const RIGHT: &str = "```cpp,right\n";
const REPORT: &str = "```text,report\n";

/// `cargo xtask explain` indents it, and must stay within 80 columns.
const LOOK: Look = Look { color: false, width: Some(76) };

/// Relative to the package, as tests are run.
fn path(code: Code) -> String {
    format!("{}/essays/{code}.md", env!("CARGO_MANIFEST_DIR"))
}

/// Where a fenced block's text is.
fn block(essay: &str, fence: &str) -> Option<std::ops::Range<usize>> {
    let start = essay.find(fence)? + fence.len();
    let end = start + essay[start..].find("```")?;
    Some(start..end)
}

fn run(name: &str, source: &str) -> Result<Vec<Diagnostic>, Failed> {
    let mut faults = say_all(&fusion_ui::run_source(name, source)?);
    faults.iter_mut().for_each(without_places);
    Ok(faults)
}

/// Addresses depend on what ran before, and so do the numbers of streams: those are counted from 1.
fn without_numbers(text: &str) -> String {
    let mut streams: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["0x", "stream "].iter().filter_map(|mark| Some(rest.find(mark)? + mark.len())).min() {
        let (before, after) = rest.split_at(at);
        out += before;
        let address = before.ends_with('x');
        let is_digit = |c: char| if address { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
        let (digits, after) = after.split_at(after.find(|c| !is_digit(c)).unwrap_or(after.len()));
        match digits {
            digits if address && digits.len() > 8 => out += "...",
            digits if address || digits.is_empty() => out += digits,
            digits => {
                let known = streams.iter().position(|stream| *stream == digits);
                out += &(1 + known.unwrap_or(streams.len())).to_string();
                streams.extend(known.is_none().then_some(digits));
            }
        }
        rest = after;
    }
    out + rest
}

/// Where the CUDA headers lie differs from machine to machine.
fn without_places(fault: &mut Diagnostic) {
    let related = fault.related.iter_mut().flat_map(|related| &mut related.source);
    for position in fault.source.iter_mut().chain(related) {
        if let Some((_, name)) = position.file.split_once("/include/") {
            position.file = name.to_owned();
        }
    }
    fault.earlier.iter_mut().for_each(without_places);
}

fn report(faults: &[Diagnostic], name: &str, source: &str) -> String {
    let text = all(faults, &[(format!("{name}.cu"), source)], LOOK);
    // The essay is what there is more of.
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("for more: ")).collect();
    without_numbers(&lines.join("\n")).trim_end().to_owned() + "\n"
}

fn wrong(code: Code, essay: &str) -> Result<(), Failed> {
    let source = &essay[block(essay, WRONG).ok_or("no wrong kernel")?];
    let faults = run("wrong", source)?;
    let actual = report(&faults, "wrong", source);
    if faults.is_empty() || faults.iter().any(|fault| fault.code != code.as_str()) {
        return Err(format!("it must get {code} and nothing else; it got\n{actual}").into());
    }
    let at = block(essay, REPORT).ok_or("no place for the report")?;
    let blessed = format!("{}{actual}{}", &essay[..at.start], &essay[at.end..]);
    Ok(bless::compare(&format!("essays/{code}.md"), &blessed)?)
}

fn clean(essay: &str) -> Result<(), Failed> {
    let source = &essay[block(essay, RIGHT).ok_or("no right kernel")?];
    let faults = run("right", source)?;
    match faults.is_empty() {
        true => Ok(()),
        false => Err(report(&faults, "right", source).into()),
    }
}
