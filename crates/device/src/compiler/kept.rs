//! PTX that was made before. Each process that judges needs the course's own kernels, which takes seconds to compile, and a learner's text
//! is compiled by one command after the other.

use std::hash::Hash;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use fusion_cpp::Kind;
use fusion_nvrtc::{Store, store};

use super::{Source, standard_headers};

/// The folder that it is kept in.
pub(super) const KERNELS: &str = "ptx";

/// The code here that changes what the compiler has made.
const CODE: [&str; 3] = [include_str!("compiled.rs"), include_str!("parameters.rs"), include_str!("tokens.rs")];

/// The number of all that decides what becomes of a source, which `how` it is compiled belongs to; none where something does that is not
/// among the texts: a file that it includes, or the time.
pub(super) fn key<H: Hash>(source: &Source, headers: &[Source], how: impl FnOnce() -> H) -> Option<u128> {
    let texts = || headers.iter().chain([source]);
    if !texts().all(|one| is_whole(one.text, headers)) {
        return None;
    }
    let texts: Vec<(&str, &str)> = texts().map(|one| (one.name, one.text)).collect();
    Some(store::key(&(texts, standard_headers(), CODE, how())))
}

/// Whether a text includes nothing but headers that are given, and those of the compiler.
fn is_whole(text: &str, headers: &[Source]) -> bool {
    const TIME: [&str; 3] = ["__DATE__", "__TIME__", "__TIMESTAMP__"];
    let known = |name: &str| headers.iter().any(|header| header.name == name);
    let own = |name: &str| !name.starts_with('/') && !name.contains("..");
    let is_known = |directive: &str| {
        let directive = directive.replace("\\\r\n", "").replace("\\\n", "");
        if !["include", "embed"].iter().any(|word| directive.contains(word)) {
            return true;
        }
        let rest = directive.trim_start_matches('#').trim_start().strip_prefix("include").unwrap_or_default();
        let named = |[open, close]: [char; 2]| rest.trim_start().strip_prefix(open)?.split_once(close);
        match (named(['"', '"']), named(['<', '>'])) {
            (Some((name, _)), _) => known(name),
            (_, Some((name, _))) => known(name) || own(name),
            _ => false,
        }
    };
    let directives = fusion_cpp::tokens(text).into_iter().filter(|token| token.kind == Kind::Directive);
    !TIME.iter().any(|word| text.contains(word))
        && directives.map(|token| token.text(text).to_owned()).all(|directive| is_known(&directive))
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
        std::fs::create_dir(root.path().join(KERNELS)).unwrap();
        let store = Store::with(&root.path().join("lib/libnvrtc.so"), KERNELS).unwrap();
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
        let keys = [
            key(&source("1"), &[], || 90),
            key(&source("2"), &[], || 90),
            key(&source("1"), &[], || 80),
            key(&source("1"), &header("2"), || 90),
            key(&source("1"), &header("3"), || 90),
            key(&named, &[], || 90),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(key.is_some() && !keys[..at].contains(key), "{at}");
        }
        assert_eq!(keys[0], key(&source("1"), &[], || 90));
    }

    #[test]
    fn a_text_with_something_of_elsewhere_is_not_kept() {
        let headers = [Source { name: "b.cuh", text: "" }];
        let is_kept = |text| key(&source(text), &headers, || 0).is_some();
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
            "int time = sizeof(__TIME__);",
        ] {
            assert!(!is_kept(text), "{text}");
        }
        let of_header = [Source { name: "b.cuh", text: "#include \"c.cuh\"" }];
        assert!(key(&source(""), &of_header, || 0).is_none());
    }
}
