// contained; honest: contained
// One line of 64 MiB.
fn hostile() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| (0..64).for_each(|_| print!("{}", "x".repeat(1 << 20))));
}
