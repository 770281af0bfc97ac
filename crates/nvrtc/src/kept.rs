//! What kernels take, as the assembler found it before. To assemble a module takes up to half a second, and each process that judges,
//! times or profiles the same kernels would do it anew.

use std::collections::HashMap;
use std::path::Path;

use crate::{Store, Usage, store};

/// The folder that it is kept in.
pub const REGISTERS: &str = "registers";

/// What one compiler has found.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    store: Store,
    version: (u32, u32),
}

impl Kept {
    /// With the compiler at this path, if it keeps anything.
    pub(crate) fn with(compiler: &Path, version: (u32, u32)) -> Option<Self> {
        Some(Self { store: Store::with(compiler, REGISTERS)?, version })
    }

    /// All that decides what the assembler finds; the folder is the compiler's own.
    pub(crate) fn key(&self, text: &str, arguments: &[String]) -> u128 {
        store::key(&(self.version, text, arguments))
    }

    /// What was found.
    pub(crate) fn read(&self, key: u128) -> Option<HashMap<String, Usage>> {
        let text = String::from_utf8(self.store.read(key)?).ok()?;
        let kernel = |line: &str| {
            let mut words = line.split(' ');
            let name = words.next()?.to_owned();
            let mut number = || words.next()?.parse().ok();
            let (registers, local_bytes, spill_stores, spill_loads) = (number()?, number()?, number()?, number()?);
            Some((name, Usage { registers, local_bytes, spill_stores, spill_loads }))
        };
        text.lines().map(kernel).collect()
    }

    pub(crate) fn write(&self, key: u128, usage: &HashMap<String, Usage>) {
        let kernel = |(name, usage): (&String, &Usage)| {
            let Usage { registers, local_bytes, spill_stores, spill_loads } = usage;
            format!("{name} {registers} {local_bytes} {spill_stores} {spill_loads}\n")
        };
        self.store.write(key, usage.iter().map(kernel).collect::<String>().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(root: &Path) -> Kept {
        Store::make(&root.join("lib/libnvrtc.so.1"), REGISTERS).unwrap();
        Kept::with(&root.join("lib/libnvrtc.so.1"), (13, 0)).unwrap()
    }

    #[test]
    fn what_is_kept_is_what_was_found() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let key = kept.key("ret;", &[]);
        assert_eq!(kept.read(key), None);
        let usage = Usage { registers: 40, local_bytes: 8, spill_stores: 4, spill_loads: 12 };
        let several = HashMap::from([("a".to_owned(), usage), ("b".to_owned(), Usage::default())]);
        for usage in [several, HashMap::new()] {
            kept.write(key, &usage);
            assert_eq!(kept.read(key), Some(usage));
        }
    }

    #[test]
    fn whatever_is_assembled_differently_is_another() {
        let root = tempfile::tempdir().unwrap();
        let kept = kept(root.path());
        let newer = Kept { version: (13, 1), ..kept.clone() };
        let option = ["-arch=sm_90".to_owned()];
        let keys = [kept.key("1", &[]), kept.key("2", &[]), kept.key("1", &option), newer.key("1", &[])];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{at}");
        }
    }
}
