// refused: launch
// An answer that sets memory that was not given to it.
fn hostile() {
    let line = "{\"Queued\":[{\"Work\":{\"Fill\":{\"address\":4096,\"value\":1,\"element\":4,\"count\":1000000}}}]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
