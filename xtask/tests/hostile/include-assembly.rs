// refused: compile
// 
std::arch::global_asm!(".incbin \"@SECRET@\"");
fn hostile() {}
