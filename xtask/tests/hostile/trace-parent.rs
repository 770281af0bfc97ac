// contained
// 
fn hostile() {
    assert_eq!(unsafe { ptrace(16, getppid(), 0, 0) }, -1);
}
