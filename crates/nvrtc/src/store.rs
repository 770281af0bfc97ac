//! What took long to make, kept for the next process: PTX, and what kernels take. It depends on nothing but what it was
//! made of and on the compiler.
//!
//! It is kept in folders of a compiler that was fetched, if those are there: never in that of a compiler which the
//! system has, and which may be replaced by another of the same name.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Files that there can be. What is made later takes the place of what has the same number, so that the folder does not
/// grow for ever.
const PLACES: u128 = 4096;

/// A folder of files, each with one thing that was made.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A folder of a compiler at this path, which is `NAME/lib/LIBRARY`: `NAME/KIND`.
fn folder(compiler: &Path, kind: &str) -> Option<PathBuf> {
    Some(compiler.parent()?.parent()?.join(kind))
}

/// The number of what is made of all this.
pub fn key(all: &impl Hash) -> u128 {
    u128::from(hash(&(0, all))) << 64 | u128::from(hash(&(1, all)))
}

impl Store {
    /// In such a folder of the compiler at this path, if it is there.
    pub fn with(compiler: &Path, kind: &str) -> Option<Self> {
        let folder = folder(compiler, kind).filter(|folder| folder.is_dir())?;
        Some(Self { folder })
    }

    /// The same, with a folder that is made if it is not there. None where it cannot be made.
    pub fn make(compiler: &Path, kind: &str) -> Option<Self> {
        let _present = fs::create_dir(folder(compiler, kind)?);
        Self::with(compiler, kind)
    }

    /// What was made of that before, unless something else is kept in its place, or the file is damaged.
    pub fn read(&self, key: u128) -> Option<Vec<u8>> {
        let mut all = fs::read(self.file(key)).ok()?;
        let end = all.iter().position(|byte| *byte == b'\n')?;
        let made = all.split_off(end + 1);
        all.truncate(end);
        (all == head(key, &made).into_bytes()).then_some(made)
    }

    /// Others read at the same time: the file is there at once and whole. Where nothing can be written, nothing is
    /// kept.
    pub fn write(&self, key: u128, made: &[u8]) {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let file = self.file(key);
        let own = format!("{}-{}", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let own = file.with_extension(own);
        let all = [head(key, made).as_bytes(), b"\n", made].concat();
        if fs::write(&own, all).and_then(|()| fs::rename(&own, &file)).is_err() {
            let _absent = fs::remove_file(&own);
        }
    }

    fn file(&self, key: u128) -> PathBuf {
        self.folder.join(format!("{:03x}", key % PLACES))
    }
}

/// The first line: what the rest was made of, and whether it is whole.
fn head(key: u128, made: &[u8]) -> String {
    format!("{key:032x} {:016x}", hash(made))
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(root: &Path) -> Store {
        Store::make(&root.join("lib/libnvrtc.so.1"), "some").unwrap()
    }

    #[test]
    fn what_is_kept_is_what_was_made() {
        let root = tempfile::tempdir().unwrap();
        let (store, key) = (store(root.path()), key(&"ret;"));
        assert_eq!(store.read(key), None);
        for made in [&b"a\nb\n"[..], b"", b"\n"] {
            store.write(key, made);
            assert_eq!(store.read(key).as_deref(), Some(made));
        }
        // Nothing else is left.
        assert_eq!(fs::read_dir(root.path().join("some")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        let (store, key) = (store(root.path()), key(&"ret;"));
        store.write(key, b"made");
        let whole = fs::read(store.file(key)).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(store.file(key), &damaged).unwrap();
            assert_eq!(store.read(key), None, "byte {at}");
            fs::write(store.file(key), &whole[..at]).unwrap();
            assert_eq!(store.read(key), None, "cut at {at}");
        }
        fs::write(store.file(key), &whole).unwrap();
        assert_eq!(store.read(key).as_deref(), Some(&b"made"[..]));
        assert_eq!(store.read(key + PLACES), None, "in the same place");
    }

    #[test]
    fn without_the_folder_nothing_is_kept() {
        let root = tempfile::tempdir().unwrap();
        assert!(Store::with(&root.path().join("lib/libnvrtc.so.1"), "some").is_none());
        assert!(Store::with(Path::new("libnvrtc.so"), "some").is_none());
    }
}
