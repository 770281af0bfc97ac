//! Profiles as TOML files.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use serde::Deserialize;
use toml::Spanned;

use super::numbers::{Entry, Table};
use super::{Calibration, Profile, Sources, Units};
use crate::timing::Rates;

/// What stands before the parts with numbers, and those.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    id: String,
    name: String,
    compute: (u32, u32),
    #[serde(default)]
    like: Option<Spanned<String>>,
    #[serde(default)]
    calibrated: Option<Calibration>,
    sources: BTreeMap<String, String>,
    device: Table,
    units: Table,
    rates: Table,
}

/// Why a text is no profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileError {
    /// The line in question, from one.
    pub line: Option<usize>,
    pub wrong: Wrong,
    /// Where it is in the text.
    pub(super) at: Option<Range<usize>>,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// It is no TOML, or has not the parts of a profile: in the words of its reader.
    Syntax(String),
    /// A part has no number of that name, and needs one.
    Missing {
        part: &'static str,
        field: &'static str,
    },
    /// A part has a number that is none of a profile's.
    Unknown {
        part: &'static str,
        field: String,
        known: Vec<&'static str>,
    },
    Range {
        field: &'static str,
        value: f64,
        range: RangeInclusive<f64>,
    },
    /// It has to be a whole number.
    Whole {
        field: &'static str,
        value: f64,
    },
    /// A number is from a source that is not described.
    Source {
        field: String,
        source: String,
    },
    /// It is like a GPU for which there is no profile.
    Like(String),
    /// One number is larger than another, which it may not be.
    Larger {
        field: &'static str,
        than: &'static str,
    },
}

impl ProfileError {
    pub(crate) fn new(at: Option<Range<usize>>, wrong: Wrong) -> Self {
        Self { line: None, wrong, at }
    }

    pub(crate) fn unknown(part: &'static str, name: &Spanned<String>, known: &[(&'static str, &str)]) -> Self {
        let known = known.iter().map(|(name, _)| *name).collect();
        Self::new(Some(name.span()), Wrong::Unknown { part, field: name.get_ref().clone(), known })
    }

    fn in_text(mut self, text: &str) -> Self {
        let before = self.at.as_ref().and_then(|at| text.get(..at.start));
        self.line = before.map(|before| before.matches('\n').count() + 1);
        self
    }
}

impl Profile {
    /// Reads a profile: TOML as in the folder `profiles`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        read(text).map_err(|error| error.in_text(text))
    }
}

fn read(text: &str) -> Result<Profile, ProfileError> {
    let file: File = toml::from_str(text)
        .map_err(|error| ProfileError::new(error.span(), Wrong::Syntax(error.message().to_owned())))?;
    let File { about, id, name, compute, like, calibrated, sources, device, units, rates } = file;
    let mut sources = Sources { described: sources, ..Sources::default() };
    let parts = [(Profile::PART, &device), (Units::PART, &units), (Rates::PART, &rates)];
    for (part, (name, entry)) in parts.iter().flat_map(|(part, table)| table.iter().map(move |entry| (*part, entry))) {
        let key = key(entry);
        if !sources.described.contains_key(key) {
            let wrong = Wrong::Source { field: name.get_ref().clone(), source: key.to_owned() };
            return Err(ProfileError::new(Some(name.span()), wrong));
        }
        sources.set(part, name.get_ref(), &entry.source);
    }
    let like_id = like.as_ref().map(|like| like.get_ref().clone());
    let like = match like {
        None => None,
        Some(like) => Some(
            Profile::named(like.get_ref())
                .ok_or_else(|| ProfileError::new(Some(like.span()), Wrong::Like(like.get_ref().clone())))?,
        ),
    };
    let units = Units::read(&units, None, ())?;
    let rates = Rates::read(&rates, like.map(|like| &like.rates), (0, 0.0))?;
    let mut profile =
        Profile::read(&device, None, (about, id, name, compute, calibrated, like_id, sources, units, rates))?;
    profile.rates.sms = profile.sms;
    profile.rates.clock_ghz = f64::from(profile.sm_clock_khz) / 1e6;
    profile.consistent().map(|()| profile)
}

/// What a source is described under: what stands before a colon.
fn key(entry: &Entry) -> &str {
    entry.source.split_once(':').map_or(entry.source.as_str(), |(key, _)| key).trim()
}
