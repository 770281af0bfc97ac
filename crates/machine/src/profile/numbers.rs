//! Structures of numbers that a file may give, each with where it is from.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use toml::Spanned;

use super::{ProfileError, Wrong};

/// The numbers of a part of a file, by their names.
pub(crate) type Table = BTreeMap<Spanned<String>, Entry>;

/// A number in a file: `{ is = 132, source = "whitepaper" }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) is: Spanned<f64>,
    pub(crate) source: String,
}

/// What a number of a profile may be.
pub(crate) trait Number: Sized {
    fn of(value: f64) -> Option<Self>;

    fn value(&self) -> Option<f64>;

    /// What it is where a file has no such number, if it may have none.
    fn absent() -> Option<Self> {
        None
    }
}

impl Number for f64 {
    fn of(value: f64) -> Option<Self> {
        Some(value)
    }

    fn value(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number for u64 {
    fn of(value: f64) -> Option<Self> {
        // Whole numbers of files are far below the 2^53 from where on some have no f64.
        (value.fract() == 0.0 && (0.0..=9e15).contains(&value)).then_some(value as Self)
    }

    fn value(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Number for u32 {
    fn of(value: f64) -> Option<Self> {
        u64::of(value).and_then(|value| value.try_into().ok())
    }

    fn value(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl<T: Number> Number for Option<T> {
    fn of(value: f64) -> Option<Self> {
        T::of(value).map(Some)
    }

    fn value(&self) -> Option<f64> {
        self.as_ref().and_then(T::value)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// The number of that name, or what stands for it.
pub(crate) fn number<T: Number>(
    table: &Table,
    part: &'static str,
    field: &'static str,
    range: RangeInclusive<f64>,
    otherwise: Option<T>,
) -> Result<T, ProfileError> {
    let missing = || ProfileError::new(None, Wrong::Missing { part, field });
    let Some((_, entry)) = table.iter().find(|(name, _)| name.get_ref() == field) else {
        return otherwise.or_else(T::absent).ok_or_else(missing);
    };
    let value = *entry.is.get_ref();
    let wrong = |wrong| Err(ProfileError::new(Some(entry.is.span()), wrong));
    if !range.contains(&value) {
        return wrong(Wrong::Range { field, value, range });
    }
    T::of(value).map_or_else(|| wrong(Wrong::Whole { field, value }), Ok)
}

/// A structure whose fields a file may give: each with what it is in, between which bounds, and what it is.
///
/// The first names are set by other means.
macro_rules! numbers {
    (
        $(#[$about:meta])*
        pub struct $Part:ident($part:literal) {
            $($(#[$plain_doc:meta])* $plain:ident: $Plain:ty,)*
        }
        $($(#[doc = $doc:literal])+ $field:ident: $Type:ty = $least:literal to $most:literal,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Part {
            $($(#[$plain_doc])* pub $plain: $Plain,)*
            $($(#[doc = $doc])+ pub $field: $Type,)+
        }

        impl $Part {
            /// What the part of a file is called that has the numbers.
            pub(crate) const PART: &'static str = $part;

            /// The names of the numbers, and what they are.
            pub const FIELDS: &'static [(&'static str, &'static str)] = &[$((stringify!($field), concat!($($doc),+)),)+];

            /// The numbers of a table; what it lacks is as in `like`.
            pub(crate) fn read(
                table: &$crate::profile::numbers::Table,
                like: Option<&Self>,
                ($($plain,)*): ($($Plain,)*),
            ) -> Result<Self, $crate::profile::ProfileError> {
                if let Some((name, _)) = table.iter().find(|(name, _)| Self::FIELDS.iter().all(|it| it.0 != name.get_ref())) {
                    return Err($crate::profile::ProfileError::unknown(Self::PART, name, Self::FIELDS));
                }
                $(let $field = {
                    let like = like.map(|like| like.$field.clone());
                    $crate::profile::numbers::number(table, Self::PART, stringify!($field), $least..=$most, like)?
                };)+
                Ok(Self { $($plain,)* $($field,)+ })
            }

            /// The number of that name.
            pub fn get(&self, name: &str) -> Option<f64> {
                match name {
                    $(stringify!($field) => $crate::profile::numbers::Number::value(&self.$field),)+
                    _ => None,
                }
            }

            /// Sets the number of that name, and says whether there is one and it may be that much.
            pub fn set(&mut self, name: &str, value: f64) -> bool {
                match name {
                    $(stringify!($field) if ($least..=$most).contains(&value) => {
                        let number = $crate::profile::numbers::Number::of(value);
                        number.is_some_and(|number| {
                            self.$field = number;
                            true
                        })
                    })+
                    _ => false,
                }
            }

            /// Between which bounds the number of that name has to be.
            pub fn bounds(name: &str) -> Option<(f64, f64)> {
                match name {
                    $(stringify!($field) => Some(($least, $most)),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use numbers;
