//! Colours of single words, where there are any.

use fusion_grader::render::Look;

/// What a word is to look like (ECMA-48, "Select Graphic Rendition").
#[derive(Clone, Copy, Debug)]
pub(crate) enum Paint {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
    Cyan = 36,
}

impl Paint {
    pub(crate) fn on(self, text: &str, look: Look) -> String {
        if look.color { format!("\u{1b}[{}m{text}\u{1b}[0m", self as u8) } else { text.to_owned() }
    }
}
