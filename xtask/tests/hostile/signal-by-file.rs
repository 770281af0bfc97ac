// contained
// A signal that the system sends when something comes, to a process that one names, or text that somebody seems to have typed.
unsafe extern "C" {
    fn fcntl(fd: i32, command: i32, ...) -> i32;
    fn ioctl(fd: i32, request: u64, ...) -> i32;
}
const F_GETFL: i32 = 3;
const F_SETOWN: i32 = 8;
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
const FIOSETOWN: u64 = 0x8901;
const TIOCSTI: u64 = 0x5412;
fn hostile() {
    fn refused(returned: i32) -> bool {
        returned == -1 && std::io::Error::last_os_error().raw_os_error() == Some(1)
    }
    unsafe {
        assert!(fcntl(1, F_GETFL) >= 0);
        let (parent, owner) = (getppid(), [1, getppid()]);
        for fd in [0, 1, 2] {
            assert!(refused(fcntl(fd, F_SETOWN, parent)));
            assert!(refused(fcntl(fd, F_SETOWN_EX, owner.as_ptr())));
            assert!(refused(fcntl(fd, F_SETSIG, 9)));
            assert!(refused(ioctl(fd, FIOSETOWN, &parent)));
            assert!(refused(ioctl(fd, TIOCSTI, b"x".as_ptr())));
        }
    }
}
