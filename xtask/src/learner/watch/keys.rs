//! What keys do.

use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::View;
use crate::interrupt;

/// The keys that are named on the screen, and what for.
pub(super) const KEYS: [(char, &str); 8] = [
    ('n', "next"),
    ('h', "hint"),
    ('l', "list"),
    ('b', "bench"),
    ('e', "explain"),
    ('d', "diff"),
    ('r', "reset"),
    ('q', "quit"),
];

/// What is left to be done by who pressed the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Grade,
    Bench,
    /// What the kernel became.
    Explain,
    Quit(u8),
}

/// The next key, if one is pressed before the time is over.
pub(super) fn next(within: Duration) -> io::Result<Option<KeyEvent>> {
    if !event::poll(within)? {
        return Ok(None);
    }
    match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Some(key)),
        // A new size is asked for whenever the screen is drawn.
        _ => Ok(None),
    }
}

pub(super) fn press(view: &mut View, key: KeyEvent) -> Done {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c' | 'd') => Done::Quit(interrupt::EXIT_CODE),
            _ => Done::Nothing,
        };
    }
    if view.asks() {
        view.answer(matches!(key.code, KeyCode::Char('y' | 'Y')));
        return Done::Nothing;
    }
    match key.code {
        KeyCode::Char('q') => return Done::Quit(0),
        KeyCode::Char('b') => return Done::Bench,
        KeyCode::Enter | KeyCode::Char('g') => return Done::Grade,
        KeyCode::Char('n') => view.next(),
        KeyCode::Char('h') => view.hint(),
        KeyCode::Char('l') => view.list(),
        KeyCode::Char('e') if view.explain() => return Done::Explain,
        KeyCode::Char('d') => view.diff(),
        KeyCode::Char('r') => view.ask_to_reset(),
        KeyCode::Esc => view.back(),
        KeyCode::Up | KeyCode::Char('k') => view.scroll(-1),
        KeyCode::Down | KeyCode::Char('j') => view.scroll(1),
        KeyCode::PageUp => view.scroll(-view.page()),
        KeyCode::PageDown | KeyCode::Char(' ') => view.scroll(view.page()),
        KeyCode::Home => view.scroll(isize::MIN),
        KeyCode::End => view.scroll(isize::MAX),
        _ => {}
    }
    Done::Nothing
}
