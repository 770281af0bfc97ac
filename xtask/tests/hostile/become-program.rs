// contained
// 
fn hostile() {
    use std::os::unix::process::CommandExt as _;
    let _error = std::process::Command::new("/bin/sh").arg("-c").arg("true").exec();
}
