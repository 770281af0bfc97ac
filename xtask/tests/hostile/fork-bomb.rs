// contained
// 
fn hostile() {
    (0..1000).for_each(|_| assert_eq!(unsafe { fork() }, -1));
}
