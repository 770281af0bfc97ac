//! What a worker process tells its parent: one JSON object a line on stdout.
//!
//! A submission may print too, so every line that is not a [`Message`] is the submission's, and a
//! message always starts a line of its own.

use std::io::Write as _;

use serde::{Deserialize, Serialize};

use crate::bench::Size;
use crate::judgement::{DeviceInfo, Fate, Judgement, RunError};

/// The field that marks a line as ours.
const TAG: &str = "{\"fusion\":";

/// Exit code of a worker whose context was lost, or whose process can no longer be trusted: what it has judged
/// stands, and a fresh worker must judge the rest.
pub const SPENT: u8 = 3;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "fusion", rename_all = "kebab-case")]
pub enum Message {
    /// The answers in this program.
    Listed {
        day: u32,
        exercises: Vec<String>,
        wrong: Vec<WrongName>,
    },
    /// The GPU of this machine, or why there is none.
    Probed {
        gpu: Option<DeviceInfo>,
        note: Option<String>,
    },
    /// What it is doing now.
    Progress {
        text: String,
    },
    Judged {
        device: DeviceInfo,
        judgement: Box<Judgement>,
    },
    /// What became of a mutant.
    Mutant {
        id: String,
        fate: Fate,
    },
    /// The times of one exercise at one size.
    Timed {
        device: DeviceInfo,
        size: Box<Size>,
    },
    /// What was not timed, a size or all of the exercise, and why.
    Untimed {
        shape: Option<String>,
        note: String,
    },
    /// Nothing can be graded here.
    Unable {
        error: RunError,
    },
}

/// A deliberately wrong kernel and the reason for which it must be refused, as [`crate::judgement::Failure::reason`]
/// gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongName {
    pub exercise: String,
    pub name: String,
    pub reason: String,
}

impl Message {
    /// Reads a line; `None` for one that the submission printed.
    pub fn parse(line: &str) -> Option<Message> {
        if !line.starts_with(TAG) {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    /// Writes itself to stdout. A parent that is gone is no error: there is nobody to tell.
    pub fn send(&self) {
        let Ok(json) = serde_json::to_string(self) else { return };
        let mut stdout = std::io::stdout().lock();
        // The submission may have left a line unfinished.
        let _gone = stdout.write_all(format!("\n{json}\n").as_bytes()).and_then(|()| stdout.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_lines_are_messages() {
        let message = Message::Progress { text: "right: N = 3".to_owned() };
        let json = serde_json::to_string(&message).unwrap();
        assert!(matches!(Message::parse(&json), Some(Message::Progress { text }) if text == "right: N = 3"));
        for line in ["", "hello", "{}", "{\"fusion\":", "{\"fusion\":\"judged\"}", "{\"fusion\":\"other\"}"] {
            assert!(Message::parse(line).is_none(), "{line}");
        }
    }
}
