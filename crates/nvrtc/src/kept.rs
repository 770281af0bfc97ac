//! What was compiled before. Compiling a kernel takes a third of a second to a second, and each process that judges, times or profiles it
//! asks for the same again: PTX of the source, and machine code of the PTX.
//!
//! It is kept in the folder `compiled` beside the folder of a compiler that was fetched, if that folder is there: never beside a
//! compiler that the system has, which may be replaced by another at the same path. Who may not read it, such as the submissions of a class,
//! does not learn from it what others have compiled.

use std::ffi::CString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};

use crate::{Image, Made, Unit};

/// Files that there can be. What is compiled later takes the place of what has the same number, so that the folder does not grow for ever.
const PLACES: u128 = 4096;

/// Bytes of the key and of the checksum, which come first.
const HEAD: usize = 16 + 8;

/// Where it is kept, for one compiler.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    compiler: PathBuf,
}

/// Where one compilation is kept.
#[derive(Debug)]
pub(crate) struct Entry {
    file: PathBuf,
    key: u128,
}

/// The folder of a compiler at this path, which is `ROOT/NAME/lib/LIBRARY`: `ROOT/compiled`.
pub fn folder(compiler: &Path) -> Option<PathBuf> {
    Some(compiler.parent()?.parent()?.parent()?.join("compiled"))
}

impl Kept {
    /// Beside the compiler at this path, if there is such a folder.
    pub(crate) fn beside(compiler: &Path) -> Option<Self> {
        let folder = folder(compiler).filter(|folder| folder.is_dir())?;
        Some(Self { folder, compiler: compiler.to_owned() })
    }

    /// All that decides what the compiler makes.
    pub(crate) fn entry(&self, source: &Unit, headers: &[Unit], arguments: &[CString]) -> Entry {
        let all = (&self.compiler, source, headers, arguments);
        let key = u128::from(hash(&(0, all))) << 64 | u128::from(hash(&(1, all)));
        Entry { file: self.folder.join(format!("{:03x}", key % PLACES)), key }
    }
}

impl Entry {
    /// What was made, unless it was another that was kept here, or the file is damaged.
    pub(crate) fn read(&self) -> Option<Made> {
        let bytes = fs::read(&self.file).ok()?;
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        if head != self.head(rest) {
            return None;
        }
        let all = lz4_flex::decompress_size_prepended(rest).ok()?;
        let mut rest = all.as_slice();
        let (ptx, log, code) = (part(&mut rest)?, part(&mut rest)?, part(&mut rest)?);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let image = Image { ptx: text(ptx)?, machine_code: (!code.is_empty()).then(|| code.to_vec()) };
        Some(Made { image: Ok(image), log: text(log)? })
    }

    /// Others read at the same time: the file is there at once and whole. Where nothing can be written, nothing is kept.
    pub(crate) fn write(&self, image: &Image, log: &str) {
        let parts = [image.ptx.as_bytes(), log.as_bytes(), image.machine_code.as_deref().unwrap_or_default()];
        let all: Vec<u8> = parts
            .iter()
            .flat_map(|part| (part.len() as u64).to_le_bytes().into_iter().chain(part.iter().copied()))
            .collect();
        let rest = lz4_flex::compress_prepend_size(&all);
        let own = self.file.with_extension(std::process::id().to_string());
        let written = fs::write(&own, [self.head(&rest).as_slice(), &rest].concat());
        if written.and_then(|()| fs::rename(&own, &self.file)).is_err() {
            let _absent = fs::remove_file(&own);
        }
    }

    fn head(&self, rest: &[u8]) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..16].copy_from_slice(&self.key.to_le_bytes());
        head[16..].copy_from_slice(&hash(rest).to_le_bytes());
        head
    }
}

/// The next part of what was written: its length and its bytes.
fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, bytes) = rest.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (part, others) = bytes.split_at_checked(length)?;
    *rest = others;
    Some(part)
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The path of the library that this process has open under such a name. Its loader knows it; Linux tells it.
pub(crate) fn opened(name: &str) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let mut named = path.filter(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name)));
    named.next().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn kept(root: &Path) -> Kept {
        fs::create_dir_all(root.join("compiled")).unwrap();
        Kept::beside(&root.join("nvrtc-1.0/lib/libnvrtc.so.1")).unwrap()
    }

    fn unit(text: &str) -> Unit {
        Unit::new("a.cu", text).unwrap()
    }

    #[test]
    fn what_is_kept_is_what_was_made() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let entry = kept.entry(&unit("1"), &[], &[]);
        assert!(entry.read().is_none());
        for machine_code in [None, Some(vec![1, 2, 3])] {
            let image = Image { ptx: ".version 9.0\n".repeat(100), machine_code };
            entry.write(&image, "a warning");
            let read = entry.read().unwrap();
            assert_eq!((read.image.unwrap(), read.log.as_str()), (image, "a warning"));
        }
        // Nothing else is left.
        assert_eq!(fs::read_dir(root.path().join("compiled")).unwrap().count(), 1);
    }

    #[test]
    fn whatever_is_compiled_differently_is_another() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let option = [CString::new("-lineinfo").unwrap()];
        let keys = [
            kept.entry(&unit("1"), &[], &[]).key,
            kept.entry(&unit("2"), &[], &[]).key,
            kept.entry(&unit("1"), &[unit("2")], &[]).key,
            kept.entry(&unit("1"), &[], &option).key,
            kept.entry(&Unit::new("b.cu", "1").unwrap(), &[], &[]).key,
            Kept { compiler: "other".into(), ..kept.clone() }.entry(&unit("1"), &[], &[]).key,
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let entry = kept.entry(&unit("1"), &[], &[]);
        entry.write(&Image { ptx: "ret;".repeat(50), machine_code: None }, "");
        let whole = fs::read(&entry.file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&entry.file, &damaged).unwrap();
            assert!(entry.read().is_none(), "byte {at}");
            fs::write(&entry.file, &whole[..at]).unwrap();
            assert!(entry.read().is_none(), "cut at {at}");
        }
        fs::write(&entry.file, &whole).unwrap();
        assert!(entry.read().is_some());
        let same_place = Entry { key: entry.key + PLACES, ..entry };
        assert!(same_place.read().is_none());
    }

    #[test]
    fn without_the_folder_nothing_is_kept() {
        let root = tempfile::tempdir().unwrap();
        assert!(Kept::beside(&root.path().join("nvrtc-1.0/lib/libnvrtc.so.1")).is_none());
        assert!(Kept::beside(Path::new("libnvrtc.so")).is_none());
    }
}
