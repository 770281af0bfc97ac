// refused: crash; honest: contained
// A verdict on every descriptor: the one that leads to the worker takes answers of another form.
fn hostile() {
    let line = "\n{\"fusion\":\"judged\",\"device\":{\"kind\":\"emulated\",\"name\":\"x\",\"compute_capability\":\"9.0\",\"multiprocessors\":1,\"l2_bytes\":1,\"memory_bytes\":1,\"driver\":\"13.0\"},\"judgement\":{\"name\":\"mul_add\",\"day\":22,\"kind\":\"exercise\",\"verdict\":\"pass\",\"parts\":{}}}\n";
    (0..64).for_each(|fd| drop(unsafe { write(fd, line.as_ptr(), line.len()) }));
}
