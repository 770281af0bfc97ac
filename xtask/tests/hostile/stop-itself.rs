// refused: timeout
// Stops, and does not end.
fn hostile() {
    unsafe { raise(19) };
}
