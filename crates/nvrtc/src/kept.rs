//! What kernels take, as the assembler found it before. To assemble a module takes up to half a second, and each process that judges,
//! times or profiles the same kernels would do it anew. It depends on nothing but the text, the options and the assembler.
//!
//! It is kept in the folder `registers` of a compiler that was fetched, if that folder is there: never in that of a compiler which the system
//! has, and which may be replaced by another of the same name.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Usage;

/// Files that there can be. What is assembled later takes the place of what has the same number, so that the folder does not grow for ever.
const PLACES: u128 = 4096;

/// Where it is kept, for one compiler.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    version: (u32, u32),
}

/// Where the numbers of one module are kept.
#[derive(Debug)]
pub(crate) struct Entry {
    file: PathBuf,
    key: u128,
}

/// The folder of a compiler at this path, which is `NAME/lib/LIBRARY`: `NAME/registers`.
pub fn folder(compiler: &Path) -> Option<PathBuf> {
    Some(compiler.parent()?.parent()?.join("registers"))
}

impl Kept {
    /// With the compiler at this path, if there is such a folder.
    pub(crate) fn with(compiler: &Path, version: (u32, u32)) -> Option<Self> {
        let folder = folder(compiler).filter(|folder| folder.is_dir())?;
        Some(Self { folder, version })
    }

    /// All that decides what the assembler finds; the folder is the compiler's own.
    pub(crate) fn entry(&self, text: &str, arguments: &[String]) -> Entry {
        let all = (self.version, text, arguments);
        let key = u128::from(hash(&(0, all))) << 64 | u128::from(hash(&(1, all)));
        Entry { file: self.folder.join(format!("{:03x}", key % PLACES)), key }
    }
}

impl Entry {
    /// What was found, unless another module's is kept here, or the file is damaged.
    pub(crate) fn read(&self) -> Option<HashMap<String, Usage>> {
        let all = fs::read_to_string(&self.file).ok()?;
        let (head, rest) = all.split_once('\n')?;
        if head != self.head(rest) {
            return None;
        }
        let kernel = |line: &str| {
            let mut words = line.split(' ');
            let name = words.next()?.to_owned();
            let mut number = || words.next()?.parse().ok();
            let (registers, local_bytes, spill_stores, spill_loads) = (number()?, number()?, number()?, number()?);
            Some((name, Usage { registers, local_bytes, spill_stores, spill_loads }))
        };
        rest.lines().map(kernel).collect()
    }

    /// Others read at the same time: the file is there at once and whole. Where nothing can be written, nothing is kept.
    pub(crate) fn write(&self, usage: &HashMap<String, Usage>) {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let kernel = |(name, usage): (&String, &Usage)| {
            let Usage { registers, local_bytes, spill_stores, spill_loads } = usage;
            format!("{name} {registers} {local_bytes} {spill_stores} {spill_loads}\n")
        };
        let rest: String = usage.iter().map(kernel).collect();
        let own = format!("{}-{}", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
        let own = self.file.with_extension(own);
        let written = fs::write(&own, format!("{}\n{rest}", self.head(&rest)));
        if written.and_then(|()| fs::rename(&own, &self.file)).is_err() {
            let _absent = fs::remove_file(&own);
        }
    }

    /// The first line: which module it is, and whether the rest is whole.
    fn head(&self, rest: &str) -> String {
        format!("{:032x} {:016x}", self.key, hash(rest))
    }
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(root: &Path) -> Kept {
        fs::create_dir_all(root.join("registers")).unwrap();
        Kept::with(&root.join("lib/libnvrtc.so.1"), (13, 0)).unwrap()
    }

    fn usage() -> HashMap<String, Usage> {
        let usage = Usage { registers: 40, local_bytes: 8, spill_stores: 4, spill_loads: 12 };
        HashMap::from([("a".to_owned(), usage), ("b".to_owned(), Usage::default())])
    }

    #[test]
    fn what_is_kept_is_what_was_found() {
        let root = tempfile::tempdir().unwrap();
        let entry = kept(root.path()).entry("ret;", &[]);
        assert_eq!(entry.read(), None);
        for usage in [usage(), HashMap::new()] {
            entry.write(&usage);
            assert_eq!(entry.read(), Some(usage));
        }
        // Nothing else is left.
        assert_eq!(fs::read_dir(root.path().join("registers")).unwrap().count(), 1);
    }

    #[test]
    fn whatever_is_assembled_differently_is_another() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let newer = Kept { version: (13, 1), ..kept.clone() };
        let option = ["-arch=sm_90".to_owned()];
        let entries = [kept.entry("1", &[]), kept.entry("2", &[]), kept.entry("1", &option), newer.entry("1", &[])];
        for (at, entry) in entries.iter().enumerate() {
            assert!(entries[..at].iter().all(|other| other.key != entry.key), "{at}");
        }
    }

    #[test]
    fn a_file_that_is_damaged_or_of_another_is_not_taken() {
        let root = tempfile::tempdir().unwrap();
        let entry = kept(root.path()).entry("ret;", &[]);
        entry.write(&usage());
        let whole = fs::read(&entry.file).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&entry.file, &damaged).unwrap();
            assert_eq!(entry.read(), None, "byte {at}");
            fs::write(&entry.file, &whole[..at]).unwrap();
            assert_eq!(entry.read(), None, "cut at {at}");
        }
        fs::write(&entry.file, &whole).unwrap();
        assert_eq!(entry.read(), Some(usage()));
        let same_place = Entry { key: entry.key + PLACES, ..entry };
        assert_eq!(same_place.read(), None);
    }

    #[test]
    fn without_the_folder_nothing_is_kept() {
        let root = tempfile::tempdir().unwrap();
        assert!(Kept::with(&root.path().join("lib/libnvrtc.so.1"), (13, 0)).is_none());
        assert!(Kept::with(Path::new("libnvrtc.so"), (13, 0)).is_none());
    }
}
