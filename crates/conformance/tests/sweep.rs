//! What an H200 gave for the operands of the sweep, the emulated device gives, too.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use fusion_conformance::Session;
use fusion_conformance::sweep::cases;
use fusion_device::Choice;

#[test]
fn the_emulated_device_gives_the_bits_of_an_h200() {
    let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
    let stored = include_str!("../sweep/h200.txt");
    let mut stored: BTreeMap<&str, &str> =
        lines(stored).map(|line| line.split_once(' ').unwrap()).map(|(digest, name)| (name, digest)).collect();
    let known = include_str!("../sweep/differs.txt");
    let known: BTreeSet<String> = lines(known).map(|line| line.split_once(": ").unwrap().0.to_owned()).collect();

    let mut session = Session::open(Choice::Emulated).unwrap();
    let mut differ = BTreeSet::new();
    for case in cases().unwrap() {
        let name = case.name.as_str();
        // What is newer than the last run on a GPU, or what that refused, has no line.
        let Some(digest) = stored.remove(name) else { continue };
        let results = session.sweep(&case).unwrap().unwrap().unwrap_or_else(|failure| panic!("{name}: {failure}"));
        if format!("{:016x}", results.digest()) != digest {
            differ.insert(name.to_owned());
        }
    }
    assert_eq!(differ, known, "what differs from the GPU, and what is known to");
    assert!(stored.is_empty(), "not swept any more: {stored:?}");
}
