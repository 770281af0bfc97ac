// refused: crash
// More than there is.
fn hostile() {
    let hog = vec![1_u8; 64 << 30];
    assert_ne!(hog[hog.len() / 2], 0);
}
