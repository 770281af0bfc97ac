// refused: unwritten
// Two answers at once, so that each call gets that of an earlier one.
fn hostile() {
    let line = "{\"Queued\":[]}\n{\"Queued\":[]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
