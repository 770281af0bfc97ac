//! What is looked at. A new check is an entry in one of these lists.

mod compiler;
mod course;
mod gpu;
mod machine;
mod rust;
mod terminal;
mod tools;

use super::check::Check;
pub(super) use tools::CLANGD;

/// Causes stand before what they cause.
const GROUPS: [(&str, &[Check]); 7] = [
    ("Machine", machine::CHECKS),
    ("Rust", rust::CHECKS),
    ("The CUDA compiler", compiler::CHECKS),
    ("The GPU", gpu::CHECKS),
    ("This checkout", course::CHECKS),
    ("The terminal", terminal::CHECKS),
    ("Other programs", tools::CHECKS),
];

/// All, each with its group.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static Check)> {
    GROUPS.iter().flat_map(|(group, checks)| checks.iter().map(|check| (*group, check)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_reasons_are_sentences() {
        let mut names = std::collections::HashSet::new();
        for (_, check) in all() {
            assert!(names.insert(check.name), "{}", check.name);
            assert!(check.why.ends_with('.') && check.why.starts_with(char::is_uppercase), "{}", check.why);
        }
    }
}
