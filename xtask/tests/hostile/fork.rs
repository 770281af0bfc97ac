// contained
// 
fn hostile() {
    assert_eq!(unsafe { fork() }, -1);
}
