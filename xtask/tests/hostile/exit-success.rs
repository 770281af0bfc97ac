// refused: crash; honest: refused: crash
// Ends as a program does that has done its work.
fn hostile() {
    std::process::exit(0);
}
