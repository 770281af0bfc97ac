// refused: compile
// 
fn hostile() {
    println!("{}", env!("HOME"));
}
