// contained
// 
fn hostile() {
    assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err());
}
