// refused: panic; honest: refused: panic
// A panic with a number.
fn hostile() {
    std::panic::panic_any(5);
}
