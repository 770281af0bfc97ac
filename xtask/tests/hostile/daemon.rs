// contained
// Leaves its session and its group.
fn hostile() {
    assert_eq!(unsafe { setsid() }, -1);
    assert_eq!(unsafe { setpgid(0, 0) }, -1);
}
