//! Days, and the macro that makes one out of a list of names.

use crate::{Exercise, day21, day22, day23, day24, day25, day26, day27, day28};

/// A day of the course: one crate of starters, one of solutions, one part of the book.
#[derive(Clone, Copy, Debug)]
pub struct DaySpec {
    pub number: u32,
    pub title: &'static str,
    pub exercises: &'static [&'static Exercise],
}

/// All days, in order.
pub fn days() -> &'static [DaySpec] {
    &[day21::DAY, day22::DAY, day23::DAY, day24::DAY, day25::DAY, day26::DAY, day27::DAY, day28::DAY]
}

/// An exercise by name.
pub fn find(name: &str) -> Option<&'static Exercise> {
    days().iter().flat_map(|day| day.exercises).copied().find(|exercise| exercise.name == name)
}

/// Makes a day out of the list of its exercises, the only place that lists them.
///
/// In this crate it declares the specifications' modules and `DAY`; for the starter and solution
/// crates it exports a macro, which declares their modules and `submission()`. That macro takes the crate's source folder as diagnostics should show it.
#[macro_export]
macro_rules! day {
    ($day:ident, $mac:ident, $number:literal, $title:literal, [$($exercise:ident),* $(,)?]) => {
        $crate::day! { @define ($) $day, $mac, $number, $title, [$($exercise),*] }
    };
    (@define ($d:tt) $day:ident, $mac:ident, $number:literal, $title:literal, [$($exercise:ident),*]) => {
        $(pub mod $exercise;)*

        /// The day's specifications.
        pub const DAY: $crate::DaySpec = $crate::DaySpec {
            number: $number,
            title: $title,
            exercises: &[$(&$exercise::EXERCISE),*],
        };

        /// Declares the modules of a crate that answers this day's exercises, and `submission()`.
        #[macro_export]
        macro_rules! $mac {
            ($d folder:literal) => {
                $(pub mod $exercise;)*

                /// The answers of this crate.
                pub fn submission() -> $crate::Submission {
                    $crate::Submission {
                        day: $number,
                        entries: vec![$($crate::$day::$exercise::entry(
                            $exercise::$exercise,
                            $crate::Source {
                                path: concat!($d folder, "/", stringify!($exercise), ".cu").to_owned(),
                                text: include_str!(concat!(stringify!($exercise), ".cu")).to_owned(),
                            },
                        ).with_rust(
                            concat!($d folder, "/", stringify!($exercise), ".rs"),
                            include_str!(concat!(stringify!($exercise), ".rs")),
                        )),*],
                    }
                }
            };
        }
    };
}
