//! Ours beside theirs.

use std::fmt::Write;

use fusion_machine::report::{self, Code};

use super::{Finding, Verdict};

/// Why the two differ, by case: `class/name: text`, or `class/*: text` for all others of a class.
const NOTES: &str = include_str!("../../sanitizer.notes");

/// How the two judge a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Both find the mistake.
    Both,
    /// Neither finds anything.
    Clean,
    /// Both find something, of different kinds.
    Different,
    OnlyOurs,
    OnlyTheirs,
    /// A tool could not be run.
    Unknown,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub case: String,
    pub ours: String,
    pub theirs: String,
    pub agreement: Agreement,
    pub note: Option<&'static str>,
}

/// What a mistake is about. Tools overlap: memcheck sees barriers that do not exist, and API calls that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Memory,
    Init,
    Race,
    Sync,
    /// A call that the driver refused, and what a broken kernel leads to.
    Call,
}

impl Class {
    /// No tool of NVIDIA's has lints or advice.
    fn of_code(code: Code) -> Option<Self> {
        match code.class() {
            // A refused launch, or a kernel that stops itself.
            _ if code == Code::Cooperative => Some(Self::Call),
            report::Class::Memory => Some(Self::Memory),
            report::Class::Init => Some(Self::Init),
            report::Class::Race => Some(Self::Race),
            report::Class::Sync => Some(Self::Sync),
            report::Class::Stop | report::Class::Call | report::Class::Emulator => Some(Self::Call),
            report::Class::Arithmetic | report::Class::Speed => None,
        }
    }

    fn of_finding(finding: &Finding) -> Self {
        let has = |word: &str| finding.kind.contains(word);
        match () {
            () if has("Program hit") => Self::Call,
            // The second is a copy to the host of what nobody has written.
            () if has("Uninitialized") || has("Host API memory access error") => Self::Init,
            () if has("Race") || has("hazard") => Self::Race,
            () if has("arrier") || has("ivergent") || has("syncwarp") || has("Invalid arguments") => Self::Sync,
            () => Self::Memory,
        }
    }
}

/// Compares what the tools say with what the emulated device must say.
pub fn compare(verdicts: &[Verdict]) -> Vec<Row> {
    verdicts.iter().map(row).collect()
}

fn row(verdict: &Verdict) -> Row {
    let ours: Vec<Class> = verdict.ours.iter().filter_map(|code| Class::of_code(*code)).collect();
    let theirs: Vec<Class> = verdict.findings.iter().map(Class::of_finding).collect();
    // A kernel that goes wrong makes the calls after it fail: that is no finding beside another, nor of another kind.
    let same = ours.iter().any(|class| theirs.contains(class));
    let agreement = match (ours.is_empty(), theirs.is_empty()) {
        (true, true) if !verdict.broken.is_empty() => Agreement::Unknown,
        (true, true) => Agreement::Clean,
        (false, true) => Agreement::OnlyOurs,
        (true, false) => Agreement::OnlyTheirs,
        (false, false) if same => Agreement::Both,
        (false, false) => Agreement::Different,
    };
    let mut theirs: Vec<String> = Vec::new();
    let is_own = |finding: &&Finding| Class::of_finding(finding) != Class::Call;
    let has_own = verdict.findings.iter().any(|finding| is_own(&finding));
    for finding in verdict.findings.iter().filter(|finding| !has_own || is_own(finding)) {
        let times = if finding.count > 1 { format!(" ({} times)", finding.count) } else { String::new() };
        theirs.push(format!("{}: {}{times}", finding.tool.name(), short(&finding.kind)));
    }
    for (tools, what) in [
        (verdict.stopped.clone(), "did not end"),
        (verdict.broken.iter().map(|(tool, _)| *tool).collect(), "could not be run"),
    ] {
        if !tools.is_empty() {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
            theirs.push(format!("{} {what}", names.join(", ")));
        }
    }
    Row {
        case: verdict.case.clone(),
        ours: verdict.ours.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(", "),
        theirs: theirs.join("; "),
        agreement,
        note: note(&verdict.case),
    }
}

/// A failed call by the error's name and the function's; other words as they are.
fn short(kind: &str) -> String {
    let call = kind.strip_prefix("Program hit ").and_then(|rest| {
        let (error, rest) = rest.split_once(' ')?;
        let (_, function) = rest.rsplit_once(' ')?;
        Some(format!("{error} from {}", function.trim_end_matches('.')))
    });
    call.unwrap_or_else(|| kind.trim_end_matches('.').to_owned())
}

fn note(case: &str) -> Option<&'static str> {
    let class = case.split_once('/').map_or(case, |(class, _)| class);
    let find = |name: &str| {
        let lines = NOTES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
        lines.filter(|(case, _)| *case == name).map(|(_, text)| text.trim()).next()
    };
    find(case).or_else(|| find(&format!("{class}/*")))
}

const HEADINGS: [(Agreement, &str); 6] = [
    (Agreement::OnlyTheirs, "only theirs"),
    (Agreement::Unknown, "unknown: a tool could not be run"),
    (Agreement::Different, "both, in different words"),
    (Agreement::OnlyOurs, "only ours"),
    (Agreement::Both, "both"),
    (Agreement::Clean, "neither finds anything"),
];

/// As text, what wants explaining first.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for (agreement, heading) in HEADINGS {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.agreement == agreement).collect();
        let _ = writeln!(text, "{heading}: {}", rows.len());
        for Row { case, ours, theirs, note, .. } in rows {
            let _ = writeln!(text, "  {case}");
            for (who, what) in [("ours:  ", ours.as_str()), ("theirs:", theirs), ("why:   ", note.unwrap_or_default())]
            {
                let told = !what.is_empty() && (who != "why:   " || explained(agreement));
                let _ = if told { writeln!(text, "    {who} {what}") } else { Ok(()) };
            }
        }
    }
    text
}

/// Whether a difference like this is to be explained.
fn explained(agreement: Agreement) -> bool {
    !matches!(agreement, Agreement::Both | Agreement::Clean)
}

/// How often the two agree, in a line.
pub fn summary(rows: &[Row]) -> String {
    let count = |which: Agreement| rows.iter().filter(|row| row.agreement == which).count();
    let (both, clean) = (count(Agreement::Both), count(Agreement::Clean));
    let mut text = format!(
        "{} cases: {} agree ({both} with a mistake that both find, {clean} in which neither finds any), {} only ours, {} only theirs",
        rows.len(),
        both + clean,
        count(Agreement::OnlyOurs),
        count(Agreement::OnlyTheirs),
    );
    for (agreement, words) in [
        (Agreement::Different, "in which both find something, in different words"),
        (Agreement::Unknown, "in which a tool could not be run"),
    ] {
        let count = count(agreement);
        let _ = if count > 0 { write!(text, ", {count} {words}") } else { Ok(()) };
    }
    text + "."
}

/// As a table in Markdown, with the counts before it.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = summary(rows) + "\n";
    text += "\n| case | emulated GPU | compute-sanitizer | who finds it | why |\n|---|---|---|---|---|\n";
    for Row { case, ours, theirs, agreement, note } in rows {
        let heading = HEADINGS.iter().find(|(which, _)| which == agreement).map_or("", |(_, heading)| heading);
        let why = note.filter(|_| explained(*agreement)).unwrap_or_default();
        let ours =
            &ours.split(", ").filter(|code| !code.is_empty()).map(|code| format!("`{code}`")).collect::<Vec<_>>();
        // In the notes, code is marked already.
        let theirs = theirs.replace("__", "\\_\\_");
        let cells = [&ours.join(", "), &theirs, heading, why].map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| `{case}` | {} |", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Tool;
    use super::*;

    fn verdict(ours: &str, kinds: &[(Tool, &str)]) -> Verdict {
        let ours = ours.split(' ').filter_map(|code| code.parse().ok()).collect();
        let finding =
            |(tool, kind): &(Tool, &str)| Finding { tool: *tool, kind: (*kind).into(), kernel: None, count: 2 };
        Verdict { case: "a/b".into(), ours, findings: kinds.iter().map(finding).collect(), ..Verdict::default() }
    }

    #[test]
    fn agreements() {
        use Agreement::*;
        let read = (Tool::Memcheck, "Invalid __global__ read of size 4 bytes");
        let race = (Tool::Racecheck, "Error: Race reported between Write access and Read access");
        let hit = (Tool::Memcheck, "Program hit CUDA_ERROR_LAUNCH_FAILED");
        for (ours, theirs, expected) in [
            ("E-OOB-GLOBAL", vec![read, hit], Both),
            ("E-RACE-BLOCKS", vec![], OnlyOurs),
            ("", vec![race], OnlyTheirs),
            ("E-UNINIT-SHARED", vec![race], Different),
            ("E-LAUNCH-BLOCK", vec![hit], Both),
            ("", vec![], Clean),
        ] {
            assert_eq!(row(&verdict(ours, &theirs)).agreement, expected, "{ours}");
        }
        let only_call = row(&verdict(
            "",
            &[(Tool::Memcheck, "Program hit CUDA_ERROR_X (error 7) due to \"so\" on CUDA API call to cuA.")],
        ));
        assert_eq!(only_call.theirs, "memcheck: CUDA_ERROR_X from cuA (2 times)");
        let broken = Verdict { broken: vec![(Tool::Memcheck, "no".into())], ..Verdict::default() };
        assert_eq!(row(&broken).agreement, Unknown);
    }

    #[test]
    fn tables_name_what_differs() {
        let rows = compare(&[verdict("", &[(Tool::Racecheck, "Error: Race reported | here")])]);
        assert!(
            table(&rows)
                .starts_with("only theirs: 1\n  a/b\n    theirs: racecheck: Error: Race reported | here (2 times)")
        );
        assert!(
            markdown(&rows)
                .contains("| `a/b` |  | racecheck: Error: Race reported \\| here (2 times) | only theirs |  |")
        );
    }

    #[test]
    fn notes_are_about_cases_that_exist() {
        for line in NOTES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let (case, text) = line.split_once(": ").expect("a note is `case: text`");
            let known =
                |name: &str| name == case || case.strip_suffix('*').is_some_and(|class| name.starts_with(class));
            assert!(crate::SUITE.cases().map(|(name, _)| name).any(known), "{case}");
            assert!(!text.trim().is_empty());
        }
    }
}
