//! The stored times, and which of them judge the clock.

use crate::record::Record;

/// By the names of profiles.
const STORED: [(&str, &str); 2] =
    [("h200", include_str!("../measured/h200.csv")), ("h100", include_str!("../measured/h100.csv"))];

/// What `cargo xtask measure --verdicts` found on an H200, as `fusion_grader::verdicts` reads it.
pub const H200_VERDICTS: &str = include_str!("../measured/h200-verdicts.csv");

const HELD_OUT: &str = include_str!("../held_out.txt");

/// What `cargo xtask measure` found on the GPU of this profile.
///
/// # Errors
/// That none of those was measured, or the first line that is no record.
pub fn stored(profile: &str) -> Result<Vec<Record>, String> {
    let Some((_, text)) = STORED.iter().find(|(name, _)| *name == profile) else {
        let names = STORED.map(|(name, _)| name).join(", ");
        return Err(format!(
            "no times of a GPU of the profile {profile} are stored, only of {names}; `cargo xtask measure` on one writes \
             a file for `--measured`"
        ));
    };
    read(text)
}

/// What `cargo xtask measure` found on an H200.
///
/// # Errors
/// The first line that is no record.
pub fn h200() -> Result<Vec<Record>, String> {
    stored("h200")
}

/// The times of a file that `cargo xtask measure` wrote.
///
/// # Errors
/// The first line that is no record.
pub fn read(text: &str) -> Result<Vec<Record>, String> {
    lines(text).map(str::parse).collect()
}

/// Whether nothing may be fitted to the times of this kernel: see [`Record::key`].
pub fn is_held_out(key: &str) -> bool {
    lines(HELD_OUT).any(|line| line == key)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cases;

    /// The names of cases that are there for something else.
    fn others(are: impl Fn(&crate::Case) -> bool) -> BTreeSet<String> {
        cases().unwrap().iter().filter(|case| are(case)).map(|case| case.name.clone()).collect()
    }

    /// The times of all GPUs.
    fn all() -> Vec<Record> {
        STORED.iter().flat_map(|(name, _)| stored(name).unwrap()).collect()
    }

    #[test]
    fn there_are_as_many_points_as_the_clock_needs() {
        let records = h200().unwrap();
        assert!(records.len() >= 1500);
        for record in &records {
            assert!(record.low <= record.ns && record.ns <= record.high && record.ns > 0.0, "{record}");
        }
        let held = records.iter().filter(|record| is_held_out(&record.key())).count();
        assert!(3 * held > records.len(), "{held} of {}", records.len());
    }

    #[test]
    fn a_held_out_kernel_was_measured_and_is_no_calibration() {
        let calibration = others(|case| case.calibration);
        let records = all();
        let known: BTreeSet<String> = records.iter().map(Record::key).collect();
        for line in lines(HELD_OUT) {
            assert!(known.contains(line), "`{line}` was not measured");
        }
        for record in records.iter().filter(|record| calibration.contains(&record.case)) {
            assert!(!is_held_out(&record.key()), "{record}");
        }
    }

    /// FNV-1a of 64 bits.
    fn hash(name: &str) -> u64 {
        name.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    #[test]
    fn who_is_held_out_is_chosen_by_hash() {
        let others = others(|case| case.calibration || case.by_others);
        for record in all().iter().filter(|record| !others.contains(&record.case)) {
            let key = record.key();
            assert_eq!(is_held_out(&key), hash(&key) >> 17 & 1 == 1, "{key}");
        }
    }

    /// Calibration kernels may wait for a GPU.
    #[test]
    fn every_point_of_the_suite_was_measured() {
        let records = h200().unwrap();
        let known: BTreeSet<_> = records.iter().map(|r| (r.kernel.as_str(), r.at.as_str(), r.cache)).collect();
        for case in cases().unwrap().into_iter().filter(|case| !case.calibration) {
            for point in &case.points {
                let name = (point.launch.kernel.as_str(), point.at.as_str(), point.cache);
                assert!(known.contains(&name), "{name:?} was not measured: `cargo xtask measure` on an H200");
            }
        }
    }
}
