// refused: compile
// 
fn hostile() {
    println!("{}", include_str!("/etc/passwd"));
}
