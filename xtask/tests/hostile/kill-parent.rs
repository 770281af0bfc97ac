// contained
// 
fn hostile() {
    assert_eq!(unsafe { kill(getppid(), 9) }, -1);
}
