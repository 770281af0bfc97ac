//! The standard module around a body.

use crate::case::{Buffer, BufferKind, Case};

/// The name of the entry that is launched.
pub(crate) const ENTRY: &str = "test";

/// The PTX to load: the file itself, or its body inside a standard entry.
pub fn module_text(case: &Case) -> String {
    if case.is_module() {
        return case.ptx.clone();
    }
    let mut lines = vec![
        format!(".version {}", case.version),
        format!(".target {}", case.target),
        ".address_size 64".to_owned(),
        String::new(),
    ];
    let parameters: Vec<_> = case.buffers.iter().map(parameter).collect();
    lines.push(format!(".visible .entry {ENTRY}("));
    lines.push(parameters.join(",\n"));
    lines.push(")".to_owned());
    if case.geometry.cluster > 0 {
        lines.push(format!(".explicitcluster .reqnctapercluster {}, 1, 1", case.geometry.cluster));
    }
    lines.push("{".to_owned());
    lines.push("    .reg .b32 %thread, %threads, %block;".to_owned());
    case.buffers.iter().for_each(|buffer| declare(buffer, &mut lines));
    lines.push("    mov.u32 %block, %ctaid.x;".to_owned());
    lines.push("    mov.u32 %threads, %ntid.x;".to_owned());
    lines.push("    mov.u32 %thread, %tid.x;".to_owned());
    lines.push("    mad.lo.u32 %thread, %block, %threads, %thread;".to_owned());
    case.buffers.iter().for_each(|buffer| before(buffer, &mut lines));
    lines.push(String::new());
    lines.push(case.ptx.trim_end().to_owned());
    lines.push(String::new());
    case.buffers.iter().for_each(|buffer| after(buffer, &mut lines));
    lines.push("    ret;".to_owned());
    lines.push("}\n".to_owned());
    lines.join("\n")
}

fn parameter(buffer: &Buffer) -> String {
    if buffer.kind == BufferKind::Tensor {
        return format!("    .param .align 64 .b8 parameter_{}[128]", buffer.name);
    }
    let ty = if buffer.kind == BufferKind::Param { buffer.ty.memory() } else { "u64" };
    format!("    .param .{ty} parameter_{}", buffer.name)
}

fn declare(buffer: &Buffer, lines: &mut Vec<String>) {
    let Buffer { name, ty, kind, .. } = buffer;
    match kind {
        BufferKind::In | BufferKind::Out => {
            lines.push(format!("    .reg .b64 %address_{name};"));
            lines.push(format!("    .reg .{} %{name};", ty.register()));
            if ty.is_predicate() {
                lines.push(format!("    .reg .b32 %bit_{name};"));
            }
        }
        BufferKind::Cell | BufferKind::Memory | BufferKind::Tensor => {
            lines.push(format!("    .reg .b64 %{name};"));
        }
        BufferKind::Param => lines.push(format!("    .reg .{} %{name};", ty.register())),
    }
}

/// Finds this thread's address, and loads an input.
fn before(buffer: &Buffer, lines: &mut Vec<String>) {
    let Buffer { name, ty, kind, .. } = buffer;
    let address = match kind {
        BufferKind::Tensor => {
            lines.push(format!("    mov.b64 %{name}, parameter_{name};"));
            lines.push(format!("    cvta.param.u64 %{name}, %{name};"));
            return;
        }
        BufferKind::In | BufferKind::Out => format!("%address_{name}"),
        BufferKind::Cell | BufferKind::Memory => format!("%{name}"),
        BufferKind::Param => {
            lines.push(format!("    ld.param.{} %{name}, [parameter_{name}];", ty.memory()));
            return;
        }
    };
    lines.push(format!("    ld.param.u64 {address}, [parameter_{name}];"));
    lines.push(format!("    cvta.to.global.u64 {address}, {address};"));
    if kind.is_per_thread() {
        lines.push(format!("    mad.wide.u32 {address}, %thread, {}, {address};", ty.size()));
    }
    if *kind == BufferKind::In {
        if ty.is_predicate() {
            lines.push(format!("    ld.global.u32 %bit_{name}, [{address}];"));
            lines.push(format!("    setp.ne.u32 %{name}, %bit_{name}, 0;"));
        } else {
            lines.push(format!("    ld.global.{} %{name}, [{address}];", ty.memory()));
        }
    }
}

/// Stores an output.
fn after(buffer: &Buffer, lines: &mut Vec<String>) {
    let Buffer { name, ty, kind, .. } = buffer;
    if *kind != BufferKind::Out {
        return;
    }
    if ty.is_predicate() {
        lines.push(format!("    selp.u32 %bit_{name}, 1, 0, %{name};"));
        lines.push(format!("    st.global.u32 [%address_{name}], %bit_{name};"));
    } else {
        lines.push(format!("    st.global.{} [%address_{name}], %{name};", ty.memory()));
    }
}
