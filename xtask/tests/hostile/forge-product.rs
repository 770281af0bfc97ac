// refused: launch
// An answer that multiplies matrices whose size has no number.
fn hostile() {
    let line = "{\"Queued\":[{\"Product\":[[1,1,1],[18446744073709551615,18446744073709551615,2]]}]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
