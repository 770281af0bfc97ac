//! Runs a file of the playground, in a process of its own as any submission.

use std::process::ExitCode;

use fusion_course::Source;
use fusion_device::EmulatorOptions;

use super::end_with;
use super::judge::{tell, unable};
use super::profile::shorten;
use crate::judgement::{DeviceKind, RunError};
use crate::play::{Play, play};
use crate::protocol::{self, Message, OPENING};
use crate::session::{Session, within};
use crate::trouble::Trouble;

/// Warp instructions that a launch may execute on the emulated device, and a 128th of them one block.
const BUDGET: u64 = 1 << 31;

/// What is to be played.
#[derive(Clone, Debug)]
pub struct Playing {
    pub source: Source,
    /// Where headers beside the file are.
    pub folder: String,
    /// None for a GPU where there is one, and the emulated device elsewhere.
    pub device: Option<DeviceKind>,
    pub seed: u64,
    /// Say what the warps of one multiprocessor do, and when.
    pub traced: bool,
}

/// The main function of a worker that plays a file.
pub fn run(playing: &Playing) -> ExitCode {
    end_with(protocol::open());
    tell(OPENING.to_owned());
    // Who asks the emulator for another budget gets it.
    let budget =
        if std::env::var_os("FUSION_EMULATOR_BUDGET").is_some() { EmulatorOptions::default() } else { within(BUDGET) };
    let open = |kind| Session::open_with(kind, false, budget);
    let session = match playing.device {
        Some(kind) => open(kind),
        None => open(DeviceKind::Gpu).or_else(|_| open(DeviceKind::Emulated)),
    };
    let session = match session {
        Ok(session) => session,
        Err(error) => return unable(error),
    };
    let Playing { source, folder, seed, traced, .. } = playing;
    tell("compiling and running".to_owned());
    match play(&session, &Play { source, folder: folder.clone(), seed: *seed, traced: *traced }) {
        Ok(mut played) => {
            if let Some(predicted) = &mut played.predicted {
                shorten(&mut predicted.launches);
            }
            Message::Played { device: session.info.clone(), played: Box::new(played) }.send();
        }
        Err(Trouble::Unable(why)) => return unable(RunError::new("play", why)),
        Err(Trouble::Failure(failure)) => return unable(RunError::new("play", failure.title)),
    }
    ExitCode::SUCCESS
}
