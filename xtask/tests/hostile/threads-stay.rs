// contained; honest: contained
// Threads that never end.
fn hostile() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| (0..50).for_each(|_| drop(std::thread::spawn(|| loop { std::thread::park() }))));
}
