//! One child process, watched: what it says, how it ends, and that it does end.

mod group;
mod pipe;

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use fusion_grader::protocol::Message;

use crate::emulated;
use crate::interrupt::Interrupt;
use group::{Group, State};
use pipe::{Parent, printed};

/// What a child said.
#[derive(Debug)]
pub(crate) enum Said {
    /// Boxed: a judgement is large beside a line.
    Message(Box<Message>),
    /// A line on stdout: the submission printed it.
    Printed(String),
    /// A line on stderr.
    Complained(String),
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// We killed it after the time limit.
    TimedOut,
    /// We killed it because this signal had stopped it.
    Stopped(i32),
    /// We killed it because we were asked to stop.
    Interrupted,
}

/// How long a child may take. The time starts anew with each judgement.
#[derive(Clone, Debug)]
pub(crate) struct Watch<'a> {
    pub(crate) limit: Duration,
    pub(crate) interrupt: &'a Interrupt,
}

/// How often an interrupt is looked for.
const TICK: Duration = Duration::from_millis(50);

/// So many looks in a row at a child that a signal has stopped are enough.
const PATIENCE: u32 = 10;

/// For how long the pipes of a child that has ended may be silent before nothing more is expected of them: a grandchild may hold
/// them open for ever, and on a busy machine what the child said last takes its time through the threads that read them.
const SILENCE: Duration = Duration::from_secs(1);

/// Runs the command to its end, and all that it starts with it. Its stdin is ours, and closes when this process dies, however it
/// dies: workers read it and end themselves.
///
/// The child is in a process group of its own: Ctrl-C in a terminal reaches a whole group, and a worker that it ended
/// would look as if its submission had crashed.
pub(crate) fn run(command: &mut Command, watch: &Watch<'_>, hear: impl FnMut(Said)) -> io::Result<End> {
    run_telling(command, watch, None, hear)
}

/// The same with a child that is told a line after its token.
pub(crate) fn run_telling(
    command: &mut Command,
    watch: &Watch<'_>,
    secret: Option<&str>,
    hear: impl FnMut(Said),
) -> io::Result<End> {
    run_until(command, watch, SILENCE, secret, hear)
}

fn run_until(
    command: &mut Command,
    watch: &Watch<'_>,
    silence: Duration,
    secret: Option<&str>,
    mut hear: impl FnMut(Said),
) -> io::Result<End> {
    emulated::tell(command);
    let mut parent = Parent::new(command)?;
    let mut group = Group::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()), &pipe::drawn()?)?;
    // The command holds the other end of our socket, without which the child could not end it.
    command.stdin(Stdio::null());
    let (sender, receiver) = mpsc::channel();
    parent.listen(&mut group.child, secret, &sender)?;
    if let Some(stdout) = group.child.stdout.take() {
        let (sender, token) = (sender.clone(), cfg!(not(unix)).then(|| parent.token.clone()));
        std::thread::spawn(move || printed(stdout, token.as_deref(), &sender, Said::Printed));
    }
    if let Some(stderr) = group.child.stderr.take() {
        std::thread::spawn(move || printed(stderr, None, &sender, Said::Complained));
    }
    // A limit beyond what the clock can tell is none.
    let mut deadline = Instant::now().checked_add(watch.limit);
    let mut ended: Option<(End, Instant)> = None;
    let mut stopped = 0;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(said) => {
                if matches!(&said, Said::Message(message) if message.is_result()) {
                    deadline = Instant::now().checked_add(watch.limit);
                }
                hear(said);
                if let Some((_, heard)) = &mut ended {
                    *heard = Instant::now();
                }
            }
            Err(quiet) => {
                if ended.is_none() {
                    match group.state()? {
                        State::Running => stopped = 0,
                        // Who suspends us suspends it too, and lets both go on: one look says nothing.
                        #[cfg(unix)]
                        State::Stopped(signal) => {
                            stopped += 1;
                            if stopped > PATIENCE {
                                return Ok(End::Stopped(signal));
                            }
                        }
                        State::Ended => {
                            // What it has started holds the pipes open.
                            group.end();
                            ended = Some((end(group.child.wait()?), Instant::now()));
                        }
                    }
                }
                match (ended, quiet) {
                    (Some((end, _)), RecvTimeoutError::Disconnected) => return Ok(end),
                    (Some((end, heard)), RecvTimeoutError::Timeout) if heard.elapsed() >= silence => return Ok(end),
                    (None, RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
                    _ => {}
                }
            }
        }
        if watch.interrupt.requested() {
            return Ok(End::Interrupted);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(ended.map_or(End::TimedOut, |(end, _)| end));
        }
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// A process ends by a code alone: that of a crash is the exception's.
#[cfg(windows)]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

fn end(status: ExitStatus) -> End {
    match (status.code(), signal(status)) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Killed(signal.unwrap_or_default()),
    }
}

/// Whether a signal ends a process for touching memory that is not its own: SIGBUS or SIGSEGV.
pub(crate) fn is_stray_access(signal: i32) -> bool {
    matches!(signal, 7 | 11)
}

/// The name of a signal that ends processes for what they did.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT, as Ctrl-C sends it",
        3 => "SIGQUIT",
        13 => "SIGPIPE",
        19 => "SIGSTOP",
        20 => "SIGTSTP",
        21 => "SIGTTIN: a read from the terminal",
        22 => "SIGTTOU: a write to the terminal",
        4 => "SIGILL, an illegal instruction",
        6 => "SIGABRT, abort",
        7 => "SIGBUS, a bad memory access",
        8 => "SIGFPE, an arithmetic error",
        9 => "SIGKILL, often for want of memory",
        11 => "SIGSEGV, a stray memory access on the host",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> (End, Vec<String>) {
        sh_until(script, limit, LONG)
    }

    fn sh_until(script: &str, limit: Duration, silence: Duration) -> (End, Vec<String>) {
        let interrupt = Interrupt::default();
        let mut heard = Vec::new();
        let watch = Watch { limit, interrupt: &interrupt };
        let end = run_until(Command::new("sh").args(["-c", script]), &watch, silence, None, |said| {
            heard.push(match said {
                Said::Message(message) => format!("message {message:?}"),
                Said::Printed(line) => format!("out {line}"),
                Said::Complained(line) => format!("err {line}"),
            });
        })
        .unwrap();
        heard.sort();
        (end, heard)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn garbage_is_what_the_submission_printed() {
        let (end, heard) = sh("echo hello; printf '\\377\\n'; echo oh >&2; exit 7", LONG);
        assert_eq!(end, End::Exited(7));
        assert_eq!(heard, ["err oh", "out hello", "out \u{fffd}"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_message_comes_by_its_own_way_with_the_token() {
        let script = r#"read token; m='{"fusion":"progress","text":"x"}'; echo "$token $m" >&0; echo "$token $m"; echo "$m" >&0"#;
        let (end, heard) = sh(script, LONG);
        assert_eq!(end, End::Exited(0));
        assert_eq!(heard.len(), 2);
        assert_eq!(heard[0], r#"message Progress { text: "x" }"#);
        assert!(heard[1].starts_with("out ") && heard[1].ends_with(r#"{"fusion":"progress","text":"x"}"#), "{heard:?}");
    }

    #[test]
    fn endless_output_is_cut_and_no_reason_to_wait() {
        let (end, heard) = sh("yes | head -c 60000000", LONG);
        assert_eq!(end, End::Exited(0));
        assert!(heard.len() < 30_000 && heard.iter().any(|line| line.contains("left out")));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn one_that_stops_itself_is_ended() {
        assert_eq!(sh("kill -STOP $$", LONG).0, End::Stopped(19));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_it_starts_ends_with_it() {
        // One in its group, one that has left it.
        let (end, heard) = sh("sleep 1234 & echo $!; setsid sleep 1234 & echo $!", LONG);
        assert_eq!(end, End::Exited(0));
        for line in heard {
            let number = line.trim_start_matches("out ").to_owned();
            let state = || std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let is_gone = || state().is_empty() || state().contains(") Z ");
            // What was killed is still there for as long as a busy machine takes to end it.
            let deadline = Instant::now() + Duration::from_secs(10);
            while !is_gone() && Instant::now() < deadline {
                std::thread::sleep(TICK);
            }
            assert!(is_gone(), "{number} is there: {}", state());
        }
    }

    #[test]
    fn a_crash_names_its_signal() {
        assert_eq!(sh("kill -SEGV $$", LONG).0, End::Killed(11));
        assert!(signal_name(11).contains("SIGSEGV"));
    }

    #[test]
    fn a_hang_ends_and_so_does_one_that_holds_the_pipe() {
        assert_eq!(sh("exec sleep 1000", Duration::from_millis(20)).0, End::TimedOut);
        assert_eq!(sh_until("sleep 5 & exit 4", LONG, SILENCE).0, End::Exited(4));
        assert_eq!(sh("exit 4", Duration::MAX).0, End::Exited(4));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let interrupt = Interrupt::default();
        let watch = Watch { limit: LONG, interrupt: &interrupt };
        assert!(run(&mut Command::new("/nonexistent/worker"), &watch, |_| {}).is_err());
    }
}
