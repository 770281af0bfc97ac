// refused: panic
// 
fn hostile() {
    panic!("on purpose");
}
