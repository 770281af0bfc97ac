// contained; honest: contained
// A terminal would be cleared, and its title changed.
fn hostile() {
    println!("\u{1b}[2J\u{1b}]0;pass\u{7}\r");
}
