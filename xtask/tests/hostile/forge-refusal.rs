// refused: values
// An answer that it was refused, with a text that a terminal would obey.
fn hostile() {
    let line = "{\"Refused\":{\"code\":\"values\",\"title\":\"\\u001b[2Jpass\"}}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
