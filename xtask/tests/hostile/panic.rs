// refused: panic; honest: refused: panic
// 
fn hostile() {
    panic!("on purpose");
}
