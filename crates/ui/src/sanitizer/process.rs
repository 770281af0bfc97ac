//! A program with a time limit.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How a program ended, and all that it printed.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) output: String,
    pub(super) in_time: bool,
}

/// How long the output may still come after the program has ended: a child of its own can hold the pipe.
const GRACE: Duration = Duration::from_secs(2);

pub(super) fn run(program: &Path, arguments: &[String], limit: Duration) -> Ended {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what compute-sanitizer started is stopped with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return Ended { output: format!("{} cannot be started: {error}", program.display()), in_time: true };
        }
    };
    let (sender, receiver) = mpsc::channel();
    for pipe in [child.stdout.take().map(boxed), child.stderr.take().map(boxed)].into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(read(pipe)));
    }
    drop(sender);

    let in_time = wait(&mut child, Instant::now() + limit);
    if !in_time {
        stop(&mut child);
    }
    let mut output = String::new();
    while let Ok(part) = receiver.recv_timeout(GRACE) {
        output += &part;
    }
    Ended { output, in_time }
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

fn read(mut pipe: Box<dyn Read + Send>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is still worth something.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn wait(child: &mut Child, end: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => return false,
            _ => return true,
        }
    }
}

fn stop(child: &mut Child) {
    #[cfg(unix)]
    {
        // The standard library stops one process only; the group's number is the child's.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_stopped() {
        let words = |text: &str| ["-c".to_owned(), text.to_owned()];
        let ended = run(Path::new("sh"), &words("echo out; echo err >&2"), Duration::from_secs(20));
        assert!(ended.in_time && ended.output.contains("out\n") && ended.output.contains("err\n"));
        let began = Instant::now();
        let ended = run(Path::new("sh"), &words("echo out; sleep 30 & wait"), Duration::from_millis(100));
        assert!(!ended.in_time && ended.output == "out\n" && began.elapsed() < Duration::from_secs(10));
        assert!(run(Path::new("/no/such/program"), &[], GRACE).output.contains("cannot be started"));
    }
}
