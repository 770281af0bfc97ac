//! A child and all that it starts, which ends with it.

use std::io;
use std::process::{Child, Command};

/// The variable by which processes that a child started are known when they have left its group. One that clears its environment
/// gets away.
const MARK: &str = "FUSION_WORKER";

/// What has become of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    /// This signal has stopped it, and nothing of ours will let it go on.
    #[cfg(unix)]
    Stopped(i32),
    Ended,
}

/// A child that does not outlive us, and leaves nothing behind.
pub(super) struct Group {
    pub(super) child: Child,
    mark: String,
    ended: bool,
}

impl Group {
    /// Starts a command in a process group of its own.
    pub(super) fn spawn(command: &mut Command, mark: &str) -> io::Result<Self> {
        own_group(command);
        let child = command.env(MARK, mark).spawn()?;
        Ok(Self { child, mark: mark.to_owned(), ended: false })
    }

    /// Looks at the child. One that has ended is still there, so that its number is not another's, until it is waited for.
    #[cfg(unix)]
    pub(super) fn state(&mut self) -> io::Result<State> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};

        let Some(pid) = self.pid() else { return Ok(State::Ended) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(match waitid(WaitId::Pid(pid), options)? {
            None => State::Running,
            Some(status) if status.stopped() => State::Stopped(status.stopping_signal().unwrap_or_default()),
            Some(_) => State::Ended,
        })
    }

    #[cfg(not(unix))]
    pub(super) fn state(&mut self) -> io::Result<State> {
        Ok(if self.child.try_wait()?.is_some() { State::Ended } else { State::Running })
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }

    /// Ends all that the child has started, and the child.
    pub(super) fn end(&mut self) {
        // Once: when the child has been waited for, its number may be another's.
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            // Fails where the group is empty.
            let _ended = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        // Fails for a child that has ended.
        let _ended = self.child.kill();
        sweep(&self.mark);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
        let _reaped = self.child.wait();
    }
}

/// Ends processes that left the child's group: what a process was started with can be read, unless it has written over it.
#[cfg(target_os = "linux")]
fn sweep(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let numbered = |entry: std::fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
    // One that starts another while we look is found in the next round.
    for _ in 0..8 {
        let Ok(processes) = std::fs::read_dir("/proc") else { return };
        let mut found = false;
        for number in processes.flatten().filter_map(numbered) {
            let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            if !environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()) {
                continue;
            }
            found = true;
            if let Some(pid) = rustix::process::Pid::from_raw(number) {
                let _ended = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Elsewhere the group is all that is known.
#[cfg(not(target_os = "linux"))]
fn sweep(_mark: &str) {}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Windows' flag for the same (`CREATE_NEW_PROCESS_GROUP`, Win32 "Process Creation Flags").
#[cfg(windows)]
fn own_group(command: &mut Command) {
    std::os::windows::process::CommandExt::creation_flags(command, 0x0000_0200);
}
