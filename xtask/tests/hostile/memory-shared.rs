// contained
// Memory of a kind that counts less.
fn hostile() {
    let memory = unsafe { mmap(std::ptr::null_mut(), 64 << 30, 3, 0x21, -1, 0) };
    assert_eq!(memory.addr(), usize::MAX);
}
