//! PTX that was made before. Each process that judges needs the course's own kernels, which takes seconds to compile,
//! and a learner's text is compiled by one command after the other.

use std::hash::Hash;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use fusion_nvrtc::{Store, store};

use super::{Options, Source, standard_headers};

/// The folder that it is kept in.
pub(super) const KERNELS: &str = "ptx";

/// The code here that changes what the compiler has made.
const CODE: [&str; 5] = [
    include_str!("../compiler.rs"),
    include_str!("compiled.rs"),
    include_str!("parameters.rs"),
    include_str!("tokens.rs"),
    include_str!("../../../cpp/src/lib.rs"),
];

/// The number of all that decides what becomes of a source, which `how` it is compiled belongs to; none where something
/// may that is not among the texts: a file that it includes, or that an argument names, or the time.
pub(super) fn key(source: &Source, headers: &[Source], options: &Options, how: impl Hash) -> Option<u128> {
    let texts = || headers.iter().chain([source]);
    if !options.arguments.is_empty() || !texts().all(|one| is_whole(one.text, headers)) {
        return None;
    }
    let texts: Vec<(&str, &str)> = texts().map(|one| (one.name, one.text)).collect();
    Some(store::key(&(texts, standard_headers(), CODE, how)))
}

/// Whether a text includes nothing but headers that are given, and those of the compiler. What looks as if it included
/// something does, also in a comment: to compile once too often does no harm.
fn is_whole(text: &str, headers: &[Source]) -> bool {
    const TIME: [&str; 3] = ["__DATE__", "__TIME__", "__TIMESTAMP__"];
    let known = |name: &str| headers.iter().any(|header| header.name == name);
    let own = |name: &str| !name.starts_with('/') && !name.contains("..");
    let is_known = |line: &str| {
        let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
        if !has(&["include", "embed", "import"]) || !has(&["#", "%:", "??="]) {
            return true;
        }
        let rest = line.trim_start().trim_start_matches('#').trim_start().strip_prefix("include").unwrap_or_default();
        let named = |[open, close]: [char; 2]| rest.trim_start().strip_prefix(open)?.split_once(close);
        match (named(['"', '"']), named(['<', '>'])) {
            (Some((name, _)), _) => known(name),
            (_, Some((name, _))) => known(name) || own(name),
            _ => false,
        }
    };
    let spliced = text.replace("\\\r\n", "").replace("\\\n", "");
    !TIME.iter().any(|word| spliced.contains(word)) && spliced.lines().all(is_known)
}

pub(super) fn read(store: &Store, key: u128) -> Option<String> {
    let mut ptx = String::new();
    ZlibDecoder::new(store.read(key)?.as_slice()).read_to_string(&mut ptx).ok()?;
    Some(ptx)
}

/// A tenth of its size.
pub(super) fn write(store: &Store, key: u128, ptx: &str) {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    if let Ok(bytes) = encoder.write_all(ptx.as_bytes()).and_then(|()| encoder.finish()) {
        store.write(key, &bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source<'_> {
        Source { name: "a.cu", text }
    }

    #[test]
    fn what_is_written_is_read() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::make(&root.path().join("lib/libnvrtc.so"), KERNELS).unwrap();
        assert_eq!(read(&store, 1), None);
        write(&store, 1, ".version 9.0\nret;\n");
        assert_eq!(read(&store, 1).as_deref(), Some(".version 9.0\nret;\n"));
        store.write(1, b"no PTX");
        assert_eq!(read(&store, 1), None);
    }

    #[test]
    fn all_that_decides_tells_texts_apart() {
        let header = |text| [Source { name: "b.cuh", text }];
        let named = Source { name: "c.cu", text: "1" };
        let options = Options::default();
        let keys = [
            key(&source("1"), &[], &options, 90),
            key(&source("2"), &[], &options, 90),
            key(&source("1"), &[], &options, 80),
            key(&source("1"), &header("2"), &options, 90),
            key(&source("1"), &header("3"), &options, 90),
            key(&named, &[], &options, 90),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(key.is_some() && !keys[..at].contains(key), "{at}");
        }
        assert_eq!(keys[0], key(&source("1"), &[], &options, 90));
        // An argument may name a folder with headers.
        let with_folder = Options { arguments: vec!["-I.".to_owned()], ..Options::default() };
        assert_eq!(key(&source("1"), &[], &with_folder, 90), None);
    }

    #[test]
    fn a_text_with_something_of_elsewhere_is_not_kept() {
        let headers = [Source { name: "b.cuh", text: "" }];
        let is_kept = |text| key(&source(text), &headers, &Options::default(), 0).is_some();
        for text in
            ["#include \"b.cuh\"", "#include <cuda_fp16.h>", "# include <cuda/std/cstdint> // x", "#pragma once"]
        {
            assert!(is_kept(text), "{text}");
        }
        for text in [
            "#include \"c.cuh\"",
            "#include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include <../b.cuh>",
            "#include NAME",
            "#inc\\\nlude \"c.cuh\"",
            "#embed \"b.cuh\"",
            "%:include \"c.cuh\"",
            "#if 0\nit's /*\n#endif\n#include \"c.cuh\"\n#if 0\n*/\n#endif",
            "int time = sizeof(__TIME__);",
        ] {
            assert!(!is_kept(text), "{text}");
        }
        let of_header = [Source { name: "b.cuh", text: "#include \"c.cuh\"" }];
        assert!(key(&source(""), &of_header, &Options::default(), 0).is_none());
    }
}
