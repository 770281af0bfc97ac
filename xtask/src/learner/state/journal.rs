//! A file of what happened: a line of JSON each, only ever appended to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// All lines that can be read. One that was cut off by a crash, or is of a version that does not exist yet, is left out.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let lines = text.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

pub(super) fn append<T: Serialize>(path: &Path, what: &T) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    // Another terminal may be writing. Where a file system has no locks, a short line is still appended as a whole.
    let _lockless = file.lock();
    let mut line = if is_cut(&mut file)? { vec![b'\n'] } else { Vec::new() };
    serde_json::to_writer(&mut line, what)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Whether the last line has no end, because who wrote it was stopped.
fn is_cut(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::state::Attempt;
    use fusion_grader::judgement::Judgement;

    fn attempt(exercise: &str) -> Attempt {
        let judgement = Judgement { name: exercise.to_owned(), ..Judgement::default() };
        Attempt::new("2026-11-23T09:30:12.345Z", &judgement, None)
    }

    #[test]
    fn attempts_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/attempts.jsonl");
        assert_eq!(read::<Attempt>(&path).unwrap(), []);
        let both = ["mul_add", "softmax"].map(attempt);
        both.iter().for_each(|attempt| append(&path, attempt).unwrap());
        assert_eq!(read::<Attempt>(&path).unwrap(), both);
    }

    #[test]
    fn a_crash_loses_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/attempts.jsonl");
        append(&path, &attempt("mul_add")).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        append(&path, &attempt("softmax")).unwrap();
        assert_eq!(read::<Attempt>(&path).unwrap(), ["mul_add", "softmax"].map(attempt));
    }

    #[test]
    fn many_may_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/attempts.jsonl");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || (0..50).for_each(|_| append(path, &attempt(name)).unwrap()));
            }
        });
        assert_eq!(read::<Attempt>(&path).unwrap().len(), 200);
    }
}
