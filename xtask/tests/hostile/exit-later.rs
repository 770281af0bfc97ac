// refused: crash; honest: refused: crash
// The same after some calls that were right.
fn hostile() {
    static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    if CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 20 {
        std::process::exit(0);
    }
}
