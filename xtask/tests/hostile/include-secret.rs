// refused: compile
// 
fn hostile() {
    println!("{:?}", include_bytes!("@SECRET@"));
}
