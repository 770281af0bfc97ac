// contained
// What would outlive it.
fn hostile() {
    assert_eq!(unsafe { shmget(0, 4096, 0o1600) }, -1);
    assert_eq!(unsafe { memfd_create(c"x".as_ptr(), 0) }, -1);
}
