// refused: crash
// An answer that does not end.
fn hostile() {
    let line = "x".repeat(1 << 20);
    (0..64).for_each(|_| drop(unsafe { write(3, line.as_ptr(), line.len()) }));
    (0..64).for_each(|_| drop(unsafe { write(4, line.as_ptr(), line.len()) }));
}
