//! The list of files that a fetch put into the cache, kept beside them so that damage is noticed before a confusing
//! failure inside the compiler.
//!
//! One line a file: CRC-32, size, path with `/`. The hash that guards against tampering is pip's SHA-256 on the wheels;
//! this one only has to notice truncation and bit rot, quickly.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The name of the list inside the cache.
const FILE: &str = "manifest.txt";
const FIRST_LINE: &str = "fusion-course toolchain, format 1";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) files: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) crc32: u32,
    pub(crate) size: u64,
    /// Relative, with `/`.
    pub(crate) path: String,
}

impl Manifest {
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let mut text = format!("{FIRST_LINE}\n");
        for Entry { crc32, size, path } in &self.files {
            text += &format!("{crc32:08x} {size} {path}\n");
        }
        std::fs::write(directory.join(FILE), text)
    }

    /// `Err` says what is wrong with the list.
    pub(crate) fn read(directory: &Path) -> Result<Manifest, String> {
        let text = std::fs::read_to_string(directory.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(format!("{FILE} is of another format"));
        }
        let files: Option<Vec<Entry>> = lines.map(entry).collect();
        match files {
            Some(files) if !files.is_empty() => Ok(Manifest { files }),
            _ => Err(format!("{FILE} is cut short or altered")),
        }
    }

    /// Checks the size of every file, and the contents of the libraries: a header that is wrong shows itself in the
    /// compiler's messages, a library that is wrong crashes. `Err` names the first file that differs.
    pub(crate) fn check(&self, directory: &Path) -> Result<(), String> {
        for Entry { crc32, size, path } in &self.files {
            let file = directory.join(path);
            let found = std::fs::metadata(&file).map_err(|error| format!("{path}: {error}"))?.len();
            if found != *size {
                return Err(format!("{path} has {found} bytes instead of {size}"));
            }
            if path.starts_with("lib/") && checksum(&file).map_err(|error| format!("{path}: {error}"))? != *crc32 {
                return Err(format!("the contents of {path} have changed"));
            }
        }
        Ok(())
    }
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.splitn(3, ' ');
    let crc32 = u32::from_str_radix(words.next()?, 16).ok()?;
    let size = words.next()?.parse().ok()?;
    let path = words.next()?.to_owned();
    Some(Entry { crc32, size, path })
}

fn checksum(path: &Path) -> io::Result<u32> {
    let mut file = File::open(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            count => hasher.update(&buffer[..count]),
        }
    }
}
