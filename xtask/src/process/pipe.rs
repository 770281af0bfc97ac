//! What a child prints and what a worker tells, each read to its end by a thread of its own.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use fusion_grader::protocol::Message;

use super::Said;
use crate::plain;

/// Lines longer than this are cut, so that a child cannot fill our memory.
const LONGEST_LINE: u64 = 4 << 20;

/// So much of what a child prints is read; the rest is counted and thrown away.
const MOST_BYTES: u64 = 4 << 20;
const MOST_LINES: u64 = 20_000;

/// A child's standard input: a worker's way to tell, and what tells it that we are gone.
pub(super) struct Parent {
    pub(super) token: String,
    /// Held, because the child ends when it closes.
    #[cfg(unix)]
    socket: std::os::unix::net::UnixStream,
    #[cfg(not(unix))]
    pipe: Option<std::process::ChildStdin>,
}

impl Parent {
    /// Makes the command's standard input ours.
    #[cfg(unix)]
    pub(super) fn new(command: &mut Command) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        Ok(Self { token: drawn()?, socket: ours })
    }

    #[cfg(not(unix))]
    pub(super) fn new(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped());
        Ok(Self { token: drawn()?, pipe: None })
    }

    /// Gives the child its token, and listens to what it tells.
    #[cfg(unix)]
    pub(super) fn listen(
        &mut self,
        _child: &mut std::process::Child,
        secret: Option<&str>,
        sender: &Sender<Said>,
    ) -> io::Result<()> {
        // A child that has ended, or wants no token, is none of our business here.
        for line in [Some(self.token.as_str()), secret].into_iter().flatten() {
            let _unwanted = writeln!(self.socket, "{line}");
        }
        let (socket, sender, token) = (self.socket.try_clone()?, sender.clone(), self.token.clone());
        std::thread::spawn(move || {
            lines(socket, LONGEST_LINE, |line| match Message::parse(&line, &token) {
                Some(message) => sender.send(Said::Message(Box::new(message))).is_ok(),
                None => true,
            });
        });
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn listen(
        &mut self,
        child: &mut std::process::Child,
        secret: Option<&str>,
        _sender: &Sender<Said>,
    ) -> io::Result<()> {
        self.pipe = child.stdin.take();
        for line in [Some(self.token.as_str()), secret].into_iter().flatten() {
            if let Some(pipe) = &mut self.pipe {
                let _unwanted = writeln!(pipe, "{line}");
            }
        }
        Ok(())
    }
}

/// 128 random bits in hexadecimal digits, which cannot be guessed.
pub(super) fn drawn() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Sends what a child prints, without characters that move a terminal's cursor. Where messages have no way of their own, they
/// are among it, behind the `token`.
pub(super) fn printed(pipe: impl Read, token: Option<&str>, sender: &Sender<Said>, said: impl Fn(String) -> Said) {
    let (mut bytes, mut count) = (0, 0);
    lines(pipe, LONGEST_LINE, |line| {
        if let Some(message) = token.and_then(|token| Message::parse(&line, token)) {
            return sender.send(Said::Message(Box::new(message))).is_ok();
        }
        (bytes, count) = (bytes + line.len() as u64, count + 1);
        if bytes > MOST_BYTES || count > MOST_LINES {
            return true;
        }
        sender.send(said(plain::line(&line))).is_ok()
    });
    if bytes > MOST_BYTES || count > MOST_LINES {
        let left = format!("(more than {MOST_LINES} lines or {} MiB: the rest is left out)", MOST_BYTES >> 20);
        let _gone = sender.send(said(left));
    }
}

/// Reads lines that are not empty to the end of a pipe, or until one is not wanted any more.
fn lines(pipe: impl Read, longest: u64, mut hear: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(pipe);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match reader.by_ref().take(longest).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        if !line.is_empty() && !hear(line.to_owned()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let (one, two) = (drawn().unwrap(), drawn().unwrap());
        assert!(one.len() == 32 && one != two);
    }
}
