/// Who is told how a fetch goes. Libraries do not print; programs decide what to show.
pub trait Progress {
    /// One line worth keeping, for example the licence or that a damaged cache is being replaced.
    fn note(&mut self, line: &str);
    /// A piece of work begins whose size is `total` bytes.
    fn start(&mut self, what: &str, total: u64);
    /// `done` of the current piece's bytes are there; may exceed its total by a little.
    fn advance(&mut self, done: u64);
    /// The current piece is over, well or badly.
    fn finish(&mut self);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn note(&mut self, _line: &str) {}
    fn start(&mut self, _what: &str, _total: u64) {}
    fn advance(&mut self, _done: u64) {}
    fn finish(&mut self) {}
}
