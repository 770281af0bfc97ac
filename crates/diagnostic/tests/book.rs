//! The book's appendix has every essay once, and its index every code with its meaning.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fusion_diagnostic::meaning;
use fusion_machine::report::Code;

fn book() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/appendix")
}

#[test]
fn every_essay_is_in_one_page_and_in_the_index() {
    let mut page_of: HashMap<String, String> = HashMap::new();
    for page in fs::read_dir(book().join("diagnostics")).expect("the pages").flatten() {
        let name = page.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(page.path()).expect("a page");
        for included in
            text.lines().filter_map(|line| line.strip_prefix("{{#include ../../../../crates/diagnostic/essays/"))
        {
            let code = included.strip_suffix(".md}}").expect("an essay").to_owned();
            assert!(code.parse::<Code>().is_ok(), "{name} includes {code}, which does not exist");
            assert_eq!(page_of.insert(code.clone(), name.clone()), None, "{code} is in two pages");
        }
    }
    let index = fs::read_to_string(book().join("diagnostics.md")).expect("the index");
    for &code in Code::ALL {
        let page = page_of.get(code.as_str()).unwrap_or_else(|| panic!("no page includes {code}"));
        let anchor = code.as_str().to_lowercase();
        let row = format!("| [`{code}`](diagnostics/{page}#{anchor}) | {} |", meaning(code));
        assert!(index.lines().any(|line| line == row), "the index lacks this row:\n{row}");
    }
}
