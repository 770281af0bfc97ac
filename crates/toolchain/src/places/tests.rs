use std::fs;

use tempfile::TempDir;

use super::*;
use crate::Version;

/// A directory with these files, each of which holds its own name; `a -> b` is a link.
fn tree(files: &[&str]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let (name, target) = file.split_once(" -> ").map_or((*file, None), |(name, target)| (name, Some(target)));
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            None => fs::write(path, name).unwrap(),
        }
    }
    root
}

fn places(root: &Path, directories: &[&str]) -> Places {
    let group = |directory: &&str| Group::new(directory, vec![root.join(directory)]);
    Places { system: directories.iter().map(group).collect(), ..Places::default() }
}

#[test]
fn an_installation_is_found_with_its_headers() {
    let root = tree(&[
        "cuda/lib64/libnvrtc.so -> libnvrtc.so.12",
        "cuda/lib64/libnvrtc.so.12 -> libnvrtc.so.12.4.127",
        "cuda/lib64/libnvrtc.so.12.4.127",
        "cuda/lib64/libnvrtc-builtins.so.12.4 -> libnvrtc-builtins.so.12.4.127",
        "cuda/lib64/libnvrtc-builtins.so.12.4.127",
        "cuda/lib64/libnvrtc_static.a",
        "cuda/include/cuda_fp16.h",
    ]);
    let toolchain = places(root.path(), &["none", "cuda/lib64"]).find().unwrap();
    let lib = root.path().join("cuda/lib64");
    assert_eq!(toolchain.nvrtc, lib.join("libnvrtc.so.12.4.127"));
    assert_eq!(toolchain.builtins, lib.join("libnvrtc-builtins.so.12.4.127"));
    assert_eq!(toolchain.include, [root.path().join("cuda/include")]);
    assert_eq!(toolchain.version, Version { major: 12, minor: 4 });
    assert_eq!((toolchain.origin, toolchain.passed_over), (Origin::System, vec![]));
}

#[test]
fn the_newest_of_a_directory_is_taken_with_its_own_builtins() {
    let root = tree(&[
        "lib/libnvrtc.so.11.2",
        "lib/libnvrtc-builtins.so.11.2",
        "lib/libnvrtc.so.13",
        "lib/libnvrtc-builtins.so.13.0",
        "lib/libnvrtc.so.12",
        "lib/libnvrtc-builtins.so.12.9",
        "include/cuda_fp16.h",
        "include/cccl/nv/target",
    ]);
    let toolchain = places(root.path(), &["lib"]).find().unwrap();
    assert!(toolchain.nvrtc.ends_with("lib/libnvrtc.so.13"));
    assert!(toolchain.builtins.ends_with("lib/libnvrtc-builtins.so.13.0"));
    assert_eq!(toolchain.include.len(), 2, "CCCL's headers as well: {:?}", toolchain.include);
}

#[test]
fn old_releases_and_incomplete_ones_are_passed_over_with_the_reason() {
    let root = tree(&[
        "old/libnvrtc.so.11.2",
        "old/libnvrtc-builtins.so.11.2",
        "alone/libnvrtc.so.12",
        "good/lib/libnvrtc.so.12",
        "good/lib/libnvrtc-builtins.so.12.6",
        "good/include/cuda_fp16.h",
    ]);
    let toolchain = places(root.path(), &["old", "alone", "good/lib"]).find().unwrap();
    assert_eq!(toolchain.version, Version { major: 12, minor: 6 });
    let reasons: Vec<&str> = toolchain.passed_over.iter().map(|place| place.found.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "libnvrtc.so.11.2 is NVRTC 11.2, and 12.0 or newer is needed",
            "libnvrtc.so.12 has no builtins library of its release beside it",
        ]
    );
}

#[test]
fn one_without_headers_is_the_last_resort() {
    let files = ["opt/only/bare/libnvrtc.so.13", "opt/only/bare/libnvrtc-builtins.so.13.0"];
    let root = tree(&files);
    let toolchain = places(root.path(), &["opt/only/bare"]).find().unwrap();
    assert!(toolchain.include.is_empty());

    let root =
        tree(&[&files[..], &["lib/libnvrtc.so.12", "lib/libnvrtc-builtins.so.12.9", "include/cuda_fp16.h"]].concat());
    let toolchain = places(root.path(), &["opt/only/bare", "lib"]).find().unwrap();
    assert_eq!(toolchain.version.major, 12);
    assert_eq!(toolchain.passed_over.len(), 1);

    // Headers of an installation elsewhere count as its own.
    let mut places = places(root.path(), &["opt/only/bare"]);
    places.headers.push(root.path().join("include"));
    assert_eq!(places.find().unwrap().version.major, 13);
}

#[test]
fn the_override_is_a_file_or_a_directory_and_nothing_else_is_looked_at() {
    let root = tree(&[
        "x/lib/libnvrtc.so.13",
        "x/lib/libnvrtc-builtins.so.13.0",
        "old/libnvrtc.so.11.2",
        "old/libnvrtc-builtins.so.11.2",
        "good/libnvrtc.so.13",
        "good/libnvrtc-builtins.so.13.0",
    ]);
    let with = |path: &str| Places { explicit: Some(root.path().join(path)), ..places(root.path(), &["good"]) };
    for path in ["x", "x/lib", "x/lib/libnvrtc.so.13"] {
        let toolchain = with(path).find().unwrap();
        assert_eq!((toolchain.origin, toolchain.nvrtc), (Origin::Explicit, root.path().join("x/lib/libnvrtc.so.13")));
    }
    for (path, reason) in [
        ("nowhere", "there is no such file or directory"),
        ("", "there is no NVRTC library in that directory"),
        ("x/lib/libnvrtc-builtins.so.13.0", "it is not named like NVRTC (libnvrtc.so*)"),
        ("old", "libnvrtc.so.11.2 is NVRTC 11.2, and 12.0 or newer is needed"),
    ] {
        match with(path).find() {
            Err(FindError::Override { why, .. }) => assert_eq!(why, reason),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn when_there_is_none_every_place_is_named() {
    let root = tree(&["empty/readme"]);
    let places = Places { cache: Some(Cache::new(root.path().join("cache"))), ..places(root.path(), &["empty"]) };
    let message = places.find().unwrap_err().to_string();
    for part in
        ["FUSION_NVRTC: not set", "empty: no NVRTC in its directory", "cache/nvrtc-", ": nothing there", "cargo xtask"]
    {
        assert!(message.contains(part), "{part:?} is missing in\n{message}");
    }
}

#[test]
fn installations_in_usr_local_are_tried_from_the_newest() {
    let root = tree(&["cuda-9.2/lib64/x", "cuda-12.4/lib64/x", "cuda-12.10/lib64/x", "cuda/lib64/x", "other/lib64/x"]);
    let names = local_installations(root.path());
    let names: Vec<_> = names.iter().map(|at| at.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["cuda/lib64", "cuda-12.10/lib64", "cuda-12.4/lib64", "cuda-9.2/lib64"]);
}

#[test]
fn the_loader_s_configuration_is_read() {
    let root = tree(&["cuda/lib/x", "etc/ld.so.conf"]);
    let cuda = root.path().join("cuda/lib");
    fs::create_dir(root.path().join("etc/ld.so.conf.d")).unwrap();
    fs::write(root.path().join("etc/ld.so.conf.d/cuda.conf"), format!("# CUDA\n{}\n/nowhere\n", cuda.display()))
        .unwrap();
    assert_eq!(loader_directories(&root.path().join("etc"))[0], cuda);
}
