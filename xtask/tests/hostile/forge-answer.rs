// refused: unwritten
// An answer by which nothing is launched.
fn hostile() {
    let line = "{\"Queued\":[]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
