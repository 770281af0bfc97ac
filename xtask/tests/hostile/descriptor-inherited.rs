// contained
// A file that was open when the grader was started. Class mode must not hand it on.
unsafe extern "C" {
    fn pread(fd: i32, into: *mut u8, len: usize, offset: i64) -> isize;
}
fn hostile() {
    let mut bytes = [0; 64];
    for fd in 3..64 {
        let read = unsafe { pread(fd, bytes.as_mut_ptr(), bytes.len(), 0) };
        assert!(read < 7 || &bytes[..7] != b"nothing");
    }
}
