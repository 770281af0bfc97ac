// contained
// Writes, cuts, moves, removes, and gives away a file that is there.
fn hostile() {
    assert!(std::fs::write("@SECRET@", "x").is_err());
    assert!(std::fs::OpenOptions::new().append(true).open("@SECRET@").is_err());
    assert!(std::fs::rename("@SECRET@", "@OUTSIDE@/moved").is_err());
    assert!(std::fs::hard_link("@SECRET@", "@OUTSIDE@/linked").is_err());
    assert!(std::fs::remove_file("@SECRET@").is_err());
    assert_eq!(unsafe { chmod(c"@SECRET@".as_ptr(), 0o777) }, -1);
    assert_eq!(unsafe { chown(c"@SECRET@".as_ptr(), 1, 1) }, -1);
    assert_eq!(unsafe { truncate(c"@SECRET@".as_ptr(), 0) }, -1);
    assert_eq!(unsafe { utimes(c"@SECRET@".as_ptr(), std::ptr::null()) }, -1);
}
