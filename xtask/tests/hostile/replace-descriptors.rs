// refused: crash
// Puts its standard output in the place of all that is open.
fn hostile() {
    (3..64).for_each(|fd| drop(unsafe { dup2(1, fd) }));
}
