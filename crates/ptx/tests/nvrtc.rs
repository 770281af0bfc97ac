//! PTX as NVRTC writes it: `tests/nvrtc/*.ptx`, made from the kernels beside them by `make.py`.
//! What is read from each is summed up in `tests/nvrtc/summary.txt`; after a change that is meant,
//! `UPDATE_EXPECT=1 cargo test -p fusion-ptx --test nvrtc` writes it anew.

#![allow(clippy::unwrap_used)]

use expect_test::expect_file;
use fusion_ptx::ast::{Init, LocId, Module, Op};
use fusion_ptx::{Parsed, parse};
use std::fmt::Write;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvrtc"))
}

fn read(name: &str) -> Parsed {
    parse(&std::fs::read_to_string(folder().join(name)).unwrap())
}

#[test]
fn nvrtc_output_is_read_completely() {
    let mut names: Vec<String> =
        folder().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".ptx"));
    names.sort();
    let mut text = String::new();
    for name in names {
        let Parsed { module, diagnostics } = read(&name);
        assert_eq!(diagnostics, [], "{name}");
        writeln!(text, "{name}: {:?} {}", module.version, module.target).unwrap();
        summarise(&module, &mut text);
        text.push('\n');
    }
    expect_file![folder().join("summary.txt")].assert_eq(&text);
}

fn summarise(module: &Module, text: &mut String) {
    for variable in &module.variables {
        let init = variable.initializer.iter().map(|piece| match piece {
            Init::Bytes { offset, bytes } => format!("{} bytes at {offset}", bytes.len()),
            Init::Address { offset, size, target, addend, generic, .. } => format!(
                "{size} bytes at {offset}: {}{} + {addend}",
                if *generic { "generic " } else { "" },
                module.variables[target.index()].name
            ),
            Init::Function { offset, size, target, .. } => {
                format!("{size} bytes at {offset}: {}", module.functions[target.index()].name)
            }
        });
        let init = init.collect::<Vec<_>>().join(", ");
        let (name, space, size, align) = (&variable.name, variable.space.name(), variable.size, variable.align);
        writeln!(text, "  .{space} {name}: {size} bytes by {align} [{init}]").unwrap();
    }
    for function in &module.functions {
        let params = function.params.iter().map(|param| format!("{}+{}", param.offset, param.size));
        writeln!(
            text,
            "  {} {}({}) -> {}: {} instructions, {} registers, {} variables, {} labels",
            if function.is_entry { "entry" } else { "func" },
            function.name,
            params.collect::<Vec<_>>().join(", "),
            function.returns.len(),
            function.body.len(),
            function.registers.len(),
            function.variables.len(),
            function.labels.len(),
        )
        .unwrap();
        for instruction in &function.body {
            assert!(!matches!(instruction.op, Op::Unsupported { .. }), "{instruction:?}");
        }
    }
    for id in 0..module.locations.len() {
        writeln!(text, "  {}", location(module, LocId(id as u32))).unwrap();
    }
}

/// `file:line:column in function at file:line:column ...`
fn location(module: &Module, id: LocId) -> String {
    let location = &module.locations[id.index()];
    let file = &module.files[location.file.index()].path;
    let mut text = format!("{file}:{}:{}", location.line, location.column);
    if let Some(function) = &location.function {
        text.push_str(&format!(" in {function}"));
    }
    if let Some(outer) = location.inlined_at {
        assert!(outer < id, "an inlining chain must end");
        text.push_str(&format!(" at {}", self::location(module, outer)));
    }
    text
}

#[test]
fn launch_bounds_are_kept() {
    let module = read("rows.90.ptx").module;
    let kernel = &module.functions[module.function("softmax").unwrap().index()];
    assert_eq!(kernel.directives.max_threads, Some([256, 1, 1]));
    assert_eq!(kernel.directives.min_blocks_per_sm, Some(2));
}
