//! What is tried: a text, and the seed of its launches.

use std::path::Path;
use std::{fs, io};

/// How the first line of a file begins that says how to launch the rest.
const HEAD: &str = "//@ fuzz";

/// A PTX text, right or damaged, and what its launches are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Grids, blocks, arguments and the machine's options follow from it.
    pub seed: u64,
    /// Blocks write nowhere but in their own part of the first argument, so that the order in which they run cannot matter.
    pub private: bool,
    /// Not necessarily text.
    pub ptx: Vec<u8>,
}

impl Input {
    /// Reads a file's bytes: a head as [`Input::to_bytes`] writes it, or plain PTX.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let plain = || Self { seed: 1, private: false, ptx: bytes.to_vec() };
        let Some(rest) = bytes.strip_prefix(HEAD.as_bytes()) else { return plain() };
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let head = String::from_utf8_lossy(&rest[..end]);
        let mut input = Self { ptx: rest.get(end + 1..).unwrap_or_default().to_vec(), ..plain() };
        for word in head.split_whitespace() {
            match word.split_once('=') {
                Some(("seed", number)) => input.seed = number.parse().unwrap_or(1),
                _ => input.private |= word == "private",
            }
        }
        input
    }

    /// The file that stands for it: a comment with the seed, then the text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let private = if self.private { " private" } else { "" };
        let mut bytes = format!("{HEAD} seed={}{private}\n", self.seed).into_bytes();
        bytes.extend_from_slice(&self.ptx);
        bytes
    }

    /// The text as the front end reads it.
    pub fn text(&self) -> String {
        let end = self.ptx.iter().position(|&byte| byte == 0).unwrap_or(self.ptx.len());
        String::from_utf8_lossy(&self.ptx[..end]).into_owned()
    }

    /// Every file of a folder, by name. A folder that is not there has none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn folder(path: &Path) -> io::Result<Vec<(String, Self)>> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(path)? {
            let path = entry?.path();
            if path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push((name, Self::from_bytes(&fs::read(path)?)));
            }
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(files)
    }
}
