//! The day on which something was measured, and the moment at which something was tried.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Today in UTC: `2026-11-21`.
pub(crate) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

/// This moment in UTC, to the millisecond: `2026-11-21T09:30:12.345Z`. Later moments are later texts.
pub(crate) fn now() -> String {
    moment(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn moment(since: Duration) -> String {
    let seconds = since.as_secs();
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}.{:03}Z", date(seconds / 86_400), since.subsec_millis())
}

/// The date so many days after 1970-01-01.
fn date(mut days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn moments() {
        let moment = super::moment(std::time::Duration::from_millis(951_782_399_007));
        assert_eq!(moment, "2000-02-28T23:59:59.007Z");
    }

    #[test]
    fn dates() {
        for (days, text) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_818, "2026-12-31")] {
            assert_eq!(super::date(days), text);
        }
    }
}
