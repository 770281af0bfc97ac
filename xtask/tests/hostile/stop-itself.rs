// refused: timeout; honest: refused: crash
// Stops, and does not end.
fn hostile() {
    unsafe { raise(19) };
}
