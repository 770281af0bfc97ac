// contained
// 
fn hostile() {
    assert_eq!(unsafe { kill(-1, 9) }, -1);
    assert_eq!(unsafe { kill(0, 9) }, -1);
}
