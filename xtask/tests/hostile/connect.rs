// contained
// 
fn hostile() {
    assert!(std::net::TcpStream::connect("127.0.0.1:@PORT@").is_err());
}
