//! What is wrong with a profile's file, in words.

use fusion_machine::ProfileError;
use fusion_machine::profile::Wrong;

/// How similar a name has to be to be the one that was meant.
const SIMILAR: f64 = 0.8;

/// A sentence with the line, the number and what it has to be.
pub fn say(error: &ProfileError) -> String {
    let what = match &error.wrong {
        Wrong::Syntax(why) => why.clone(),
        Wrong::Missing { part, field } => format!("`{field}` is missing in [{part}]"),
        Wrong::Unknown { part, field, known } => {
            let nearest = known.iter().map(|name| (strsim::jaro_winkler(name, field), name));
            let nearest = nearest.filter(|(similar, _)| *similar > SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
            let meant = nearest.map_or_else(String::new, |(_, name)| format!(": is `{name}` meant?"));
            format!("[{part}] has no number `{field}`{meant}")
        }
        Wrong::Range { field, value, range } => {
            format!("`{field}` is {value}, and has to be a number from {} to {}", range.start(), range.end())
        }
        Wrong::Whole { field, value } => format!("`{field}` is {value}, and has to be a whole number"),
        Wrong::Source { field, source } => {
            format!("`{field}` is from `{source}`, which [sources] does not describe")
        }
        Wrong::Like(id) => format!("like `{id}`: there is no such profile"),
        Wrong::Larger { field, than } => format!("`{field}` is more than `{than}` allows"),
    };
    match error.line {
        Some(line) => format!("line {line}: {what}"),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use fusion_machine::Profile;

    use super::*;

    const L4: &str = include_str!("../../machine/profiles/l4.toml");

    fn of(from: &str, to: &str) -> String {
        assert!(L4.contains(from), "{from}");
        let error = Profile::parse(&L4.replacen(from, to, 1)).unwrap_err();
        say(&error).split_once(": ").map(|(_, what)| what.to_owned()).unwrap_or_else(|| say(&error))
    }

    #[test]
    fn mistakes_are_said_with_their_line() {
        let line = 1 + L4.lines().position(|line| line.starts_with("sms")).unwrap();
        let wrong = Profile::parse(&L4.replacen("sms = { is = 58", "sms = { is = 0", 1)).unwrap_err();
        assert_eq!(say(&wrong), format!("line {line}: `sms` is 0, and has to be a number from 1 to 1024"));
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        assert_eq!(of("sms = { is = 58", "sms = { is = 58.5"), "`sms` is 58.5, and has to be a whole number");
        assert_eq!(of("sms = {", "smss = {"), "[device] has no number `smss`: is `sms` meant?");
        assert_eq!(of("sms = { is = 58, source = \"datasheet\" }", ""), "`sms` is missing in [device]");
        assert_eq!(of("58, source = \"datasheet\"", "58"), "missing field `source`");
        assert_eq!(
            of("58, source = \"datasheet\"", "58, source = \"hearsay\""),
            "`sms` is from `hearsay`, which [sources] does not describe"
        );
        assert_eq!(of("like = \"h200\"", "like = \"h300\""), "like `h300`: there is no such profile");
        assert_eq!(of("like = \"h200\"", ""), "`overhead_ns` is missing in [rates]");
        assert_eq!(of("{ is = 2.7e11", "{ is = 3.7e11"), "`dram_bandwidth` is more than `memory_clock_khz` allows");
        assert_eq!(of("{ is = 58", "{ is = \"58\""), "invalid type: string \"58\", expected f64");
        assert_eq!(
            of("id = \"l4\"", "id = \"l4\"\nnaem = 1"),
            "unknown field `naem`, expected one of `about`, `id`, `name`, `compute`, `like`, `calibrated`, `sources`, `device`, `units`, `rates`"
        );
    }
}
