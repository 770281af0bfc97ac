//! The files that the program carries.

/// Name (`group/form`) and text of every file of the suite, sorted by name.
pub fn embedded() -> &'static [(&'static str, &'static str)] {
    include!(concat!(env!("OUT_DIR"), "/suite.rs"))
}

/// The files whose names contain one of the filters; all of them when there is no filter.
pub fn select<'a>(filters: &'a [String]) -> impl Iterator<Item = (&'static str, &'static str)> + 'a {
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    embedded().iter().copied().filter(move |(name, _)| wanted(name))
}
