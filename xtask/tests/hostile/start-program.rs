// contained
// 
fn hostile() {
    assert!(std::process::Command::new("/bin/sh").arg("-c").arg("true").spawn().is_err());
}
