//! Profiles as text.

use std::fmt::Write as _;

use super::{Profile, Units};
use crate::timing::Rates;

/// From here on a number is written with its power of ten, where that is shorter.
const LARGE: f64 = 1e9;

impl Profile {
    /// The file of this profile: [`Profile::parse`] makes the profile of it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut put = |line: String| text.push_str(&line);
        put(format!("about = {:?}\nid = {:?}\nname = {:?}\n", self.about, self.id, self.name));
        put(format!("compute = [{}, {}]\n", self.compute.0, self.compute.1));
        if let Some(like) = &self.like {
            put(format!("like = {like:?}\n"));
        }
        if let Some(calibrated) = &self.calibrated {
            put(format!("\n[calibrated]\ndriver = {:?}\n", calibrated.driver));
            put(format!("clock_mhz = {}\ndate = {:?}\n", calibrated.clock_mhz, calibrated.date));
        }
        put("\n[sources]\n".to_owned());
        for (key, what) in &self.sources.described {
            let bare = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            put(if bare { format!("{key} = {what:?}\n") } else { format!("{key:?} = {what:?}\n") });
        }
        self.part(&mut text, Self::PART, Self::FIELDS, |name| self.get(name));
        self.part(&mut text, Units::PART, Units::FIELDS, |name| self.units.get(name));
        self.part(&mut text, Rates::PART, Rates::FIELDS, |name| self.rates.get(name));
        text
    }

    /// The numbers of a part that are its own, a line each.
    fn part(&self, text: &mut String, part: &str, fields: &[(&str, &str)], get: impl Fn(&str) -> Option<f64>) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n[{part}]\n");
        for (name, about) in fields {
            if let (Some(value), Some(source)) = (get(name), self.sources.of(part, name)) {
                let value = number(value);
                let _ = writeln!(text, "{name} = {{ is = {value}, source = {source:?} }} # {}", about.trim());
            }
        }
    }
}

fn number(value: f64) -> String {
    let (plain, short) = (value.to_string(), format!("{value:e}"));
    if value >= LARGE && short.len() < plain.len() { short } else { plain }
}
