//! The files that the program carries.

/// Path below `kernels/` and text of every file, sorted.
fn files() -> &'static [(&'static str, &'static str)] {
    include!(concat!(env!("OUT_DIR"), "/suite.rs"))
}

fn file(path: &str) -> Option<&'static str> {
    files().iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// Names (`class/name`) of all cases, sorted.
pub fn kernels() -> impl Iterator<Item = &'static str> {
    files().iter().filter_map(|(name, _)| name.strip_suffix(".cu"))
}

/// The text of a case, or of another file (`class/name.cuh`) with its extension.
pub fn source(name: &str) -> Option<&'static str> {
    file(name).or_else(|| file(&format!("{name}.cu")))
}

/// What the program was built with as the expected report of a case.
pub fn expected_report(name: &str) -> Option<&'static str> {
    file(&format!("{name}.report"))
}

/// Names of the cases that contain one of the words; all of them when there are no words.
pub fn find(words: &[String]) -> Vec<&'static str> {
    kernels().filter(|name| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))).collect()
}
