//! Where the numbers of a profile are from.

use std::collections::BTreeMap;

use super::Profile;
use crate::timing::Rates;

/// What is said of sources in a profile's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// What they are, by what numbers call them.
    pub described: BTreeMap<String, String>,
    /// What a number calls its own, by its part and name.
    pub(super) of: BTreeMap<(String, String), String>,
}

impl Sources {
    /// The source of a part's number: what it is described under, and behind a colon what else there is to say.
    pub fn of(&self, part: &str, name: &str) -> Option<&str> {
        self.of.get(&(part.to_owned(), name.to_owned())).map(String::as_str)
    }

    pub(super) fn set(&mut self, part: &str, name: &str, source: &str) {
        self.of.insert((part.to_owned(), name.to_owned()), source.to_owned());
    }
}

impl Profile {
    /// Sets a rate of the clock by simulation, and says where it is from. False where there is no such rate, or it cannot be that much.
    pub fn set_rate(&mut self, name: &str, value: f64, source: &str) -> bool {
        let set = self.rates.set(name, value);
        if set {
            self.sources.set(Rates::PART, name, source);
        }
        set
    }

    /// The same for a number of the device.
    pub fn set_number(&mut self, name: &str, value: f64, source: &str) -> bool {
        let set = self.set(name, value);
        if set {
            self.sources.set(Self::PART, name, source);
        }
        set
    }

    /// Takes over what it has from another profile.
    pub fn stand_alone(&mut self) {
        let Some(like) = self.like.take() else { return };
        for (name, _) in Rates::FIELDS {
            if self.sources.of(Rates::PART, name).is_none() {
                self.sources.set(Rates::PART, name, &like);
                self.sources.described.entry(like.clone()).or_insert_with(|| format!("{like}.toml"));
            }
        }
    }
}
