// contained; honest: contained
// More than anybody would read.
fn hostile() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| (0..2_000_000).for_each(|i| println!("line {i}")));
}
