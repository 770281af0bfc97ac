//! What a worker process tells its parent: a line each, a token and one JSON object.

mod channel;

use serde::{Deserialize, Serialize};

use crate::bench::Size;
use crate::judgement::{DeviceInfo, Fate, Judgement, RunError};
use crate::play::Played;
use crate::profile::Profiled;

pub(crate) use channel::open;

/// Exit code of a worker whose context was lost, or whose process can no longer be trusted: what it has judged
/// stands, and a fresh worker must judge the rest.
pub const SPENT: u8 = 3;

/// The first thing that a judging worker does, as [`Message::Progress`] has it.
pub const OPENING: &str = "opening the device";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "fusion", rename_all = "kebab-case")]
pub enum Message {
    /// The answers in this program.
    Listed {
        day: u32,
        exercises: Vec<String>,
        /// The exercises whose ladder has a top rung here.
        top: Vec<String>,
        samples: Vec<SampleName>,
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
    /// Where the time of one variant goes.
    Profiled {
        device: DeviceInfo,
        profiled: Box<Profiled>,
    },
    /// What came of a file of the playground.
    Played {
        device: DeviceInfo,
        played: Box<Played>,
    },
    /// The time of something that was launched alone, as a line of [`fusion_timings::Record`].
    Measured {
        record: String,
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

/// An answer whose verdict is known, as [`fusion_course::Sample`] has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleName {
    pub exercise: String,
    pub name: String,
    pub verdict: String,
}

impl Message {
    /// Reads a line; `None` for one that does not begin with the worker's token, which the worker did not send.
    pub fn parse(line: &str, token: &str) -> Option<Message> {
        let json = line.strip_prefix(token)?.strip_prefix(' ')?;
        serde_json::from_str(json).ok()
    }

    /// Whether it is what was asked for, or a part of it.
    pub fn is_result(&self) -> bool {
        matches!(
            self,
            Message::Judged { .. }
                | Message::Mutant { .. }
                | Message::Timed { .. }
                | Message::Profiled { .. }
                | Message::Played { .. }
                | Message::Measured { .. }
        )
    }

    /// Sends itself to the parent.
    pub fn send(&self) {
        channel::send(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_the_token_are_messages() {
        let message = Message::Progress { text: "right: N = 3".to_owned() };
        let json = serde_json::to_string(&message).unwrap();
        let parsed = Message::parse(&format!("t0ken {json}"), "t0ken");
        assert!(matches!(parsed, Some(Message::Progress { text }) if text == "right: N = 3"));
        for line in [String::new(), json.clone(), format!("t0ke {json}"), format!("t0ken{json}"), "t0ken {}".to_owned()]
        {
            assert!(Message::parse(&line, "t0ken").is_none(), "{line}");
        }
    }
}
