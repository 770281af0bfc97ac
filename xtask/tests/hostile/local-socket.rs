// contained
// 
fn hostile() {
    assert!(std::os::unix::net::UnixStream::pair().is_err());
    assert!(std::os::unix::net::UnixDatagram::unbound().is_err());
}
