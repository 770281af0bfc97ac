// contained; honest: contained
// Bytes that are no text.
fn hostile() {
    use std::io::Write as _;
    std::io::stdout().write_all(&[0xff, 0xfe, 0, b'\n']).unwrap();
}
