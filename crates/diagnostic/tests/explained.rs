//! Every code has an essay, and every essay its code, its parts and its length.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fusion_diagnostic::{Look, essay, meaning};
use fusion_machine::report::Code;

#[test]
fn codes_and_essays_are_the_same() {
    let codes: BTreeSet<String> = Code::ALL.iter().map(Code::to_string).collect();
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("essays")).expect("the essays");
    let files: BTreeSet<String> = files
        .flatten()
        .map(|file| file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    assert_eq!(codes.difference(&files).collect::<Vec<_>>(), Vec::<&String>::new(), "codes without an essay");
    assert_eq!(files.difference(&codes).collect::<Vec<_>>(), Vec::<&String>::new(), "essays without a code");
}

#[test]
fn essays_have_the_same_parts() {
    for &code in Code::ALL {
        let essay = essay::of(code);
        let mut meaning = meaning(code).to_owned();
        meaning[..1].make_ascii_uppercase();
        assert!(essay.starts_with(&format!("## {code}\n\n*{meaning}.*\n")), "{code}: title and meaning");
        assert!(essay.lines().count() <= 70, "{code}: {} lines are too many", essay.lines().count());
        for part in ["**On a real GPU**", "**Read on:**"] {
            assert!(essay.contains(part), "{code}: {part}");
        }
        assert!(essay.contains("**To fix it**") || essay.contains("**What to do**"), "{code}: how to fix it");
        assert_eq!(essay.contains("```cpp,wrong\n"), essay.contains("```cpp,right\n"), "{code}: a kernel of each kind");
        assert_eq!(essay.contains("```cpp,wrong\n"), essay.contains("```text,report\n"), "{code}: its report");
        assert!(essay.contains("```"), "{code}: a kernel, or what the host does");
        let text = essay::text(code, Look { color: false, width: Some(200) });
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= 130, "{code}: {widest} columns");
    }
}
