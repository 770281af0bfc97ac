//! Branches, calls, barriers and fences (PTX ISA 9.7.12, 9.7.13).

use super::operands::Width;
use super::{Decoder, Result};
use crate::Diagnostic;
use crate::ast::{
    BarrierOp, CallArg, CallResult, Callee, Collective, Function, FunctionId, LabelId, Linkage, NopKind, Op, Operand,
    Ordering, ScalarType, Scope, Space,
};
use crate::names::{Symbol, add_register};
use crate::parser::{Arg, ArgKind, quote};
use ScalarType::*;

/// What the device runtime provides, if the module declares it and does not define it.
const BUILTINS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];

pub(super) const OPCODES: &[&str] = &[
    "bra",
    "brx",
    "call",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "bar",
    "barrier",
    "membar",
    "fence",
    "nanosleep",
    "pmevent",
    "griddepcontrol",
];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "bra" => {
            let uniform = d.flag("uni");
            Ok(Op::Bra { target: label(d)?, uniform })
        }
        "brx" => brx(d),
        "call" => call(d),
        "ret" => {
            d.flag("uni");
            Ok(Op::Ret)
        }
        "exit" => Ok(Op::Exit),
        "trap" => Ok(Op::Trap),
        "brkpt" => Ok(Op::Brkpt),
        "bar" | "barrier" => barrier(d),
        "membar" | "fence" => fence(d),
        "nanosleep" => {
            let ty = d.ty_of(&[U32])?;
            d.src(ty)?;
            Ok(Op::Nop(NopKind::Nanosleep))
        }
        _ => nothing(d),
    }
}

/// An instruction that has no effect on an emulated GPU.
fn nothing(d: &mut Decoder<'_, '_>) -> Result<Op> {
    d.ignore_modifiers();
    d.ignore_operands();
    Ok(Op::Nop(NopKind::Other))
}

fn label(d: &mut Decoder<'_, '_>) -> Result<LabelId> {
    let arg = d.next()?;
    match arg.kind {
        ArgKind::Name { name, member: None, index: None, offset: 0 } => {
            Ok(d.names.use_label(name, arg.span, d.function))
        }
        _ => Err(Diagnostic::error(arg.span, "a label must stand here").into()),
    }
}

fn brx(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if !d.flag("idx") {
        return d.incomplete("`brx` exists only as `brx.idx`");
    }
    d.flag("uni");
    let index = d.src(U32)?;
    let arg = d.next()?;
    let symbol = match arg.kind {
        ArgKind::Name { name, .. } => d.names.resolve(name, d.function),
        _ => None,
    };
    match symbol {
        Some(Symbol::Targets(list)) => Ok(Op::BrxIdx { index, targets: d.names.targets[list].clone() }),
        _ => Err(Diagnostic::error(arg.span, "the label of a `.branchtargets` list above must stand here").into()),
    }
}

/// `call (returns), callee, (args), prototype;` where all but the callee may be missing.
fn call(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let uniform = d.flag("uni");
    let mut arg = d.next()?;
    let mut returns = Vec::new();
    if let ArgKind::List(list) = arg.kind {
        returns = list;
        arg = d.next()?;
    }
    let ArgKind::Name { name, member: None, index: None, offset: 0 } = arg.kind else {
        return Err(Diagnostic::error(arg.span, "the name of a function must stand here").into());
    };
    let args = match d.args.next() {
        Some(Arg { kind: ArgKind::List(list), .. }) => list,
        None => Vec::new(),
        Some(other) => return Err(Diagnostic::error(other.span, "arguments in parentheses must stand here").into()),
    };
    let (callee, signature) = match d.names.resolve(name, d.function) {
        Some(Symbol::Function(id)) => (callee(d, id), d.module.functions.get(id.index())),
        Some(Symbol::Reg(reg)) => {
            // A prototype or a list of targets, which execution does without.
            d.args.next();
            (Callee::Indirect(reg), None)
        }
        Some(_) => return Err(Diagnostic::error(arg.span, format!("{} is not a function", quote(name))).into()),
        None => return Err(d.undeclared(name, arg.span)),
    };
    // A vector is passed lane by lane, as its parameter was declared (PTX ISA 6.4.3).
    let args: Vec<_> = args.into_iter().flat_map(|arg| d.parts(arg)).collect();
    let returns: Vec<_> = returns.into_iter().flat_map(|arg| d.parts(arg)).collect();
    if let Some(signature) = signature {
        check_signature(&arg, signature, returns.len(), args.len())?;
    }
    let ty = |index: usize, params: fn(&Function) -> &[crate::ast::Param]| {
        signature.and_then(|function| params(function).get(index)).map(|param| param.ty)
    };
    let mut passed = Vec::with_capacity(args.len());
    for (index, arg) in args.iter().enumerate() {
        passed.push(call_arg(d, arg, ty(index, |function| &function.params))?);
    }
    let mut results = Vec::with_capacity(returns.len());
    for (index, arg) in returns.iter().enumerate() {
        let ty = ty(index, |function| &function.returns);
        let result = match arg.kind {
            // Nobody will read this register.
            ArgKind::Sink => match add_register(d.function, "_", ty.unwrap_or(B64), 1, arg.span) {
                Symbol::Reg(reg) => CallResult::Register(reg),
                _ => return d.unsupported("this result cannot be discarded"),
            },
            _ => match call_arg(d, arg, ty)? {
                CallArg::Value(Operand::Reg(reg)) => CallResult::Register(reg),
                CallArg::Param(local) => CallResult::Param(local),
                CallArg::Value(_) => {
                    let message = "a result goes to a register or a `.param` variable";
                    return Err(Diagnostic::error(arg.span, message).into());
                }
            },
        };
        results.push(result);
    }
    Ok(Op::Call { callee, args: passed, returns: results, uniform })
}

fn callee(d: &Decoder<'_, '_>, id: FunctionId) -> Callee {
    match d.module.functions.get(id.index()) {
        Some(function)
            if function.linkage == Linkage::Extern
                && !function.has_body
                && BUILTINS.contains(&function.name.as_str()) =>
        {
            Callee::Builtin(function.name.clone())
        }
        _ => Callee::Direct(id),
    }
}

fn check_signature(callee: &Arg<'_>, function: &Function, returns: usize, args: usize) -> Result<()> {
    let variadic = function.params.last().is_some_and(|param| param.size == 0);
    let wanted = (function.returns.len(), function.params.len());
    if variadic || wanted == (returns, args) {
        return Ok(());
    }
    let message = format!(
        "{} has {} parameters and {} results, but is called with {args} and {returns}",
        quote(&function.name),
        wanted.1,
        wanted.0
    );
    Err(Diagnostic::error(callee.span, message).into())
}

/// A variable in `.param` memory, or a value: a register of any size where the callee is not known.
fn call_arg<'a>(d: &mut Decoder<'_, 'a>, arg: &Arg<'a>, ty: Option<ScalarType>) -> Result<CallArg> {
    if let ArgKind::Name { name, member: None, index: None, offset: 0 } = arg.kind {
        match d.names.resolve(name, d.function) {
            Some(Symbol::Local(id))
                if d.function.variables.get(id.index()).is_some_and(|variable| variable.space == Space::Param) =>
            {
                return Ok(CallArg::Param(id));
            }
            Some(Symbol::Reg(reg)) => return Ok(CallArg::Value(Operand::Reg(reg))),
            _ => {}
        }
    }
    Ok(CallArg::Value(d.as_operand(arg, ty.unwrap_or(B64), Width::AtLeast)?))
}

fn barrier(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("warp") {
        d.flag("sync");
        return d.collective(Collective::Sync, (None, None), &[], true);
    }
    if d.flag("cluster") {
        let wait = d.flag("wait");
        if !wait && !d.flag("arrive") {
            return d.incomplete("`barrier.cluster` needs `.arrive` or `.wait`");
        }
        let relaxed = d.ordering() == Some(Ordering::Relaxed);
        return Ok(Op::ClusterBarrier { wait, aligned: d.flag("aligned"), relaxed });
    }
    d.flag("cta");
    let aligned = d.flag("aligned") || d.opcode == "bar";
    if d.flag("red") {
        return barrier_reduction(d, aligned);
    }
    let op = if d.flag("sync") {
        BarrierOp::Sync
    } else if d.flag("arrive") {
        BarrierOp::Arrive
    } else {
        return d.incomplete(format!("`{}` needs `.sync`, `.arrive` or `.red`", d.opcode));
    };
    let barrier = d.src(U32)?;
    let threads = if d.remaining() > 0 { Some(d.src(U32)?) } else { None };
    if op == BarrierOp::Arrive && threads.is_none() {
        return d.invalid("whoever arrives must say how many threads take part");
    }
    Ok(Op::Barrier { op, aligned, d: None, barrier, threads, p: None })
}

/// `bar.red.popc.u32 d, a {, b}, p` and `bar.red.{and,or}.pred d, a {, b}, p`
fn barrier_reduction(d: &mut Decoder<'_, '_>, aligned: bool) -> Result<Op> {
    let (op, ty) = if d.flag("popc") {
        (BarrierOp::RedPopc, d.ty_of(&[U32])?)
    } else if d.flag("and") {
        (BarrierOp::RedAnd, d.ty_of(&[Pred])?)
    } else if d.flag("or") {
        (BarrierOp::RedOr, d.ty_of(&[Pred])?)
    } else {
        return d.incomplete("`bar.red` needs `.popc`, `.and` or `.or`");
    };
    let dst = d.dst(ty)?;
    let barrier = d.src(U32)?;
    let threads = if d.remaining() > 1 { Some(d.src(U32)?) } else { None };
    Ok(Op::Barrier { op, aligned, d: dst, barrier, threads, p: Some(d.pred()?) })
}

/// `membar.gl` is `fence.sc.gpu`.
fn fence(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.find(|name| name.starts_with("proxy").then_some(())).is_some() {
        return proxy(d);
    }
    // It orders the initialisation of mbarriers alone.
    d.flag("mbarrier_init");
    let default = if d.opcode == "membar" { Ordering::SeqCst } else { Ordering::AcqRel };
    let ordering = d.ordering().unwrap_or(default);
    d.find(|name| name.starts_with("sync_restrict").then_some(()));
    match d.scope() {
        Some(scope) => Ok(Op::Fence { ordering, scope }),
        None if ordering == Ordering::AcqRel || d.opcode == "fence" => {
            d.incomplete("`fence` needs a scope: `.cta`, `.cluster`, `.gpu` or `.sys`")
        }
        None => Ok(Op::Fence { ordering, scope: Scope::Sys }),
    }
}

/// Fences between proxies. Those for aliases, and for global memory alone, order what is not emulated.
fn proxy(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("tensormap::generic") {
        let Some(ordering) = d.ordering() else {
            return d.incomplete("`fence.proxy.tensormap` needs `.acquire` or `.release`");
        };
        let Some(scope) = d.scope() else {
            return d.incomplete("`fence.proxy.tensormap` needs a scope: `.cta`, `.cluster`, `.gpu` or `.sys`");
        };
        // An acquisition names the 128 bytes that it is about.
        d.ignore_operands();
        return Ok(Op::Fence { ordering, scope });
    }
    let asynchronous = d.flag("async");
    if asynchronous && !matches!(d.space(), Some(Space::Global)) {
        d.find(|name| name.starts_with("generic").then_some(()));
        return Ok(Op::ProxyFence);
    }
    nothing(d)
}
