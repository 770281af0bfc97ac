// refused: crash
// Closes all that is open.
fn hostile() {
    (0..256).for_each(|fd| drop(unsafe { close(fd) }));
}
