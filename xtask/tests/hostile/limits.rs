// contained
// Gives itself more.
fn hostile() {
    assert_eq!(unsafe { setrlimit(9, &[u64::MAX, u64::MAX]) }, -1);
    assert_eq!(unsafe { setrlimit(1, &[u64::MAX, u64::MAX]) }, -1);
}
