// refused: panic; honest: refused: panic
// A message that a terminal would obey.
fn hostile() {
    panic!("\u{1b}[2Jpass");
}
