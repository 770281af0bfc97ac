//! The terminal: how wide it is, and what it can show.

use super::super::check::{Check, Finding};
use crate::output;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "screen",
        why: "Reports show your line with a mark below it, and tables have several columns. They are plainer elsewhere.",
        apart: None,
        look: |_| {
            let look = output::look();
            screen(look.terminal, look.width, std::env::var("TERM").ok().as_deref())
        },
    },
    Check {
        name: "letters",
        why: "Formulas and progress use characters outside of ASCII.",
        apart: None,
        look: |_| letters(cfg!(windows), |variable| std::env::var(variable).ok().filter(|value| !value.is_empty())),
    },
];

/// Columns in which a report's longest usual lines fit.
const WIDE: u16 = 80;

fn screen(is_terminal: bool, width: Option<u16>, kind: Option<&str>) -> Finding {
    match (is_terminal, width, kind) {
        (false, ..) => Finding::ok("this is no terminal: text is plain, and `watch` prints line by line"),
        (true, _, Some("dumb")) => {
            Finding::note("TERM is dumb: `watch` cannot draw here", "export TERM=xterm-256color")
        }
        (true, Some(width), _) if width < WIDE => {
            Finding::note(format!("{width} columns wide"), format!("make the window at least {WIDE} columns wide"))
        }
        (true, Some(width), _) => Finding::ok(format!("{width} columns wide")),
        (true, None, _) => Finding::ok("a terminal"),
    }
}

/// The variables that say it, the strongest first (POSIX, "Environment Variables").
const LOCALE: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

fn letters(is_windows: bool, value: impl Fn(&str) -> Option<String>) -> Finding {
    let Some((name, locale)) = LOCALE.iter().find_map(|name| Some((name, value(name)?))) else {
        return if is_windows {
            Finding::ok("as Windows has them")
        } else {
            Finding::note("no locale is set: characters outside of ASCII may look wrong", "export LANG=C.UTF-8")
        };
    };
    let is_utf8 = locale.to_uppercase().replace('-', "").contains("UTF8");
    match is_utf8 {
        true => Finding::ok(format!("UTF-8 ({name}={locale})")),
        false => Finding::note(
            format!("{name}={locale} is not UTF-8: characters outside of ASCII may look wrong"),
            format!("export {name}=C.UTF-8"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::check::State::{Note, Ok};
    use super::*;

    #[test]
    fn terminals() {
        for (finding, state) in [
            (screen(false, None, None), Ok),
            (screen(true, Some(120), Some("xterm")), Ok),
            (screen(true, Some(60), Some("xterm")), Note),
            (screen(true, Some(120), Some("dumb")), Note),
        ] {
            assert_eq!(finding.state, state, "{finding:?}");
        }
    }

    #[test]
    fn the_strongest_variable_says_which_letters() {
        let of = |set: &'static [(&str, &str)]| {
            letters(false, |name| {
                set.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]).state, Ok);
        assert_eq!(of(&[("LANG", "en_US.utf8")]).state, Ok);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]).fix.as_deref(), Some("export LC_ALL=C.UTF-8"));
        assert_eq!(of(&[]).state, Note);
    }
}
