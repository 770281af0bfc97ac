// refused: crash
// The same bit by bit.
fn hostile() {
    let mut hogs = Vec::new();
    loop { hogs.push(vec![1_u8; 64 << 20]); }
}
