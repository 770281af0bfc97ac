// contained
// 
fn hostile() {
    assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_err());
}
