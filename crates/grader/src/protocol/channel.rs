//! The way that messages go, which is not the submission's.
//!
//! A worker's standard input is a socket to its parent. Before anything of the submission is called, the worker keeps that socket
//! for itself, puts an empty file in its place, and reads a token that its parent drew. Each message begins with the token.
//! Standard output and error are the submission's: what it prints there, be it a message word by word, is only shown.
//!
//! Where there are no such sockets (Windows), messages go to standard output, and only the token tells them from what is printed.

use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Message;

/// Characters of a token at most.
const LONGEST_TOKEN: u64 = 256;

static CHANNEL: OnceLock<Mutex<Channel>> = OnceLock::new();

struct Channel {
    token: String,
    to_parent: Box<dyn Write + Send>,
}

/// Opens the channel: the first thing that a worker does. What it returns ends when the parent does.
///
/// A worker that is started by hand has nobody to tell, and prints its messages.
pub(crate) fn open() -> Box<dyn Read + Send> {
    let (from_parent, to_parent) = ends();
    let mut from_parent = BufReader::new(from_parent);
    let mut token = String::new();
    if !io::stdin().is_terminal() {
        // Without a token no message will be believed, which is all that can be done.
        let _no_token = (&mut from_parent).take(LONGEST_TOKEN).read_line(&mut token);
    }
    let channel = Channel { token: token.trim_end().to_owned(), to_parent };
    CHANNEL.get_or_init(|| Mutex::new(channel));
    Box::new(from_parent)
}

#[cfg(unix)]
fn ends() -> (Box<dyn Read + Send>, Box<dyn Write + Send>) {
    use std::fs::File;
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    let kept = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let socket = kept.and_then(|socket| socket.peer_addr().map(|_| socket));
    let both = socket.and_then(|socket| Ok((socket.try_clone()?, socket)));
    match both {
        Ok((from, to)) => {
            // If this fails, the submission sees the socket, and not the token.
            let _kept = File::open("/dev/null").and_then(|empty| Ok(rustix::stdio::dup2_stdin(empty)?));
            (Box::new(from), Box::new(to))
        }
        Err(_) => (Box::new(io::stdin()), Box::new(io::stdout())),
    }
}

#[cfg(not(unix))]
fn ends() -> (Box<dyn Read + Send>, Box<dyn Write + Send>) {
    (Box::new(io::stdin()), Box::new(io::stdout()))
}

/// Sends a message. A parent that is gone is no error: there is nobody to tell.
pub(super) fn send(message: &Message) {
    let Ok(json) = serde_json::to_string(message) else { return };
    let Some(channel) = CHANNEL.get() else { return };
    let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
    // On standard output the submission may have left a line unfinished.
    let line = format!("\n{} {json}\n", channel.token);
    let _gone = channel.to_parent.write_all(line.as_bytes()).and_then(|()| channel.to_parent.flush());
}
