// refused: fault
// An answer that launches the kernel on addresses of its own.
fn hostile() {
    let line = "{\"Queued\":[{\"Work\":{\"Launch\":{\"kernel\":\"mul_add\",\"grid\":[1,1,1],\"block\":[32,1,1],\"shared\":0,\"shared_limit\":49152,\"cooperative\":false,\"cluster\":[0,0,0],\"large_clusters\":false,\"parameters\":[1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,9,0,0,0,0,0,0,0]}}}]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
