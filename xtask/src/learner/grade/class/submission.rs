//! The two files of a submission, and nothing else of its folder.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fusion_course::Exercise;
use fusion_grader::judgement::{Code, Failure};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use tempfile::TempDir;

/// Bytes of a file at most. The course's longest has 20 KiB.
const LARGEST: u64 = 1 << 20;

/// A copy of both, which is removed with this.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) folder: TempDir,
    pub(super) kernel: PathBuf,
    /// What the `.cu` and the `.rs` are called in messages.
    pub(super) name: String,
    pub(super) launch_name: String,
}

/// Why there is no copy.
#[derive(Debug)]
pub(super) enum Refused {
    Theirs(Box<Failure>),
    Ours(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Ours(error)
    }
}

/// Where the files of an exercise may be: as in this repository, as in one day of it, or side by side.
fn places(day: &str) -> [String; 5] {
    [format!("exercises/day{day}/src"), format!("day{day}/src"), format!("day{day}"), "src".to_owned(), String::new()]
}

/// The same in words.
pub(super) fn layout(day: &str, name: &str) -> String {
    let at = |place: &String| Path::new(place).join(format!("{name}.cu")).display().to_string();
    format!("looked for {}, each with its {name}.rs", places(day).each_ref().map(at).join(", "))
}

/// The first of the places that has something of that name.
fn find(folder: &Path, exercise: &Exercise, extension: &str) -> Option<PathBuf> {
    let file = format!("{}.{extension}", exercise.name);
    let mut paths = places(&exercise.day.to_string()).into_iter().map(|place| Path::new(&place).join(&file));
    paths.find(|path| folder.join(path).symlink_metadata().is_ok())
}

/// Whether there is a file of this exercise.
pub(super) fn any(folder: &Path, exercise: &Exercise) -> bool {
    ["cu", "rs"].iter().any(|extension| find(folder, exercise, extension).is_some())
}

impl Taken {
    /// Copies both into a folder of its own inside of `into`.
    pub(super) fn from(folder: &Path, exercise: &Exercise, into: &Path) -> Result<Self, Refused> {
        let copies = tempfile::Builder::new().prefix("submission-").tempdir_in(into)?;
        let take = |extension: &str| {
            let Some(found) = find(folder, exercise, extension) else {
                let title = format!("the submission has no {}.{extension}", exercise.name);
                let failure = Failure::new(Code::Compile, title);
                let failure = failure.note(layout(&exercise.day.to_string(), exercise.name));
                return Err(Refused::Theirs(Box::new(failure)));
            };
            let name = found.display().to_string();
            let text = read(folder, &found)
                .map_err(|why| Failure::new(Code::Compile, format!("{name} is not taken: {why}")))
                .map_err(|failure| Refused::Theirs(Box::new(failure)))?;
            let copy = copies.path().join(format!("{}.{extension}", exercise.name));
            fs::write(&copy, text)?;
            Ok((copy, name))
        };
        let (kernel, name) = take("cu")?;
        let (_, launch_name) = take("rs")?;
        Ok(Self { kernel, name, launch_name, folder: copies })
    }
}

/// The text of a plain file. What is not one is not opened, or opened without waiting.
fn read(folder: &Path, file: &Path) -> Result<String, String> {
    let within = File::open(folder).map_err(|error| error.to_string())?;
    // In one step, in which nobody can put a link where there was a folder. A pipe's other end is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = match openat2(&within, file, flags, Mode::empty(), resolve) {
        Ok(opened) => File::from(opened),
        Err(Errno::LOOP) => return Err("it is a symbolic link, or in a folder that is one".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let data = opened.metadata().map_err(|error| error.to_string())?;
    if !data.is_file() {
        return Err("it is not a plain file".to_owned());
    }
    if data.nlink() > 1 {
        return Err("it is a hard link: it has a second name somewhere".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}
