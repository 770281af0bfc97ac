//! The stored predictions: what the clock said of points when they were stored. To predict all of them takes minutes,
//! so a check predicts some of them anew.

use crate::measured::read;
use crate::record::Record;

/// By the names of profiles. Of the H200 those of exercises, of the H100 those of the suite.
const STORED: [(&str, &str); 2] =
    [("h200", include_str!("../predicted/h200.csv")), ("h100", include_str!("../predicted/h100.csv"))];

/// What `cargo xtask validate --verdicts` predicts for an H200, as `fusion_grader::verdicts` reads it.
pub const H200_PREDICTED_VERDICTS: &str = include_str!("../predicted/h200-verdicts.csv");

/// What `cargo xtask validate --store` predicted for the GPU of this profile.
///
/// # Errors
/// That nothing is stored of it, or the first line that is no prediction.
pub fn predicted(profile: &str) -> Result<Vec<Record>, String> {
    let Some((_, text)) = STORED.iter().find(|(name, _)| *name == profile) else {
        let names = STORED.map(|(name, _)| name).join(", ");
        return Err(format!("no predictions for a GPU of the profile {profile} are stored, only for {names}"));
    };
    read(text)
}

/// A prediction as a line of such a file.
pub fn prediction(record: &Record) -> String {
    let Record { case, kernel, at, cache, ns, .. } = record;
    format!("{case},{kernel},{at},{cache},{ns:.1}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stored;

    #[test]
    fn what_is_predicted_was_measured() {
        for (profile, _) in STORED {
            let name = |record: &Record| (record.case.clone(), record.kernel.clone(), record.at.clone(), record.cache);
            let measured: BTreeSet<_> = stored(profile).unwrap().iter().map(name).collect();
            let predicted = predicted(profile).unwrap();
            assert!(predicted.len() > 1000, "{profile}");
            for record in &predicted {
                assert!(measured.contains(&name(record)), "{profile}: {record}");
                assert_eq!(prediction(record).parse().as_ref(), Ok(record));
            }
        }
    }
}
