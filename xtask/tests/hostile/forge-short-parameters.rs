// refused: launch
// An answer with fewer parameters than the kernel has.
fn hostile() {
    let line = "{\"Queued\":[{\"Work\":{\"Launch\":{\"kernel\":\"mul_add\",\"grid\":[1,1,1],\"block\":[32,1,1],\"shared\":0,\"shared_limit\":49152,\"cooperative\":false,\"cluster\":[0,0,0],\"large_clusters\":false,\"parameters\":[1]}}}]}\n";
    (3..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
