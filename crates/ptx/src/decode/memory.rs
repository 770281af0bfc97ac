//! Loads, stores, prefetches and asynchronous copies (PTX ISA 9.7.9).

use super::operands::Width;
use super::{Decoder, Problem, Result};
use crate::ast::{Cache, NopKind, Op, Operand, Ordering, ScalarType, Space};
use ScalarType::*;

const ACCESSED: &[ScalarType] = &[B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64];

pub(super) const OPCODES: &[&str] =
    &["ld", "ldu", "st", "prefetch", "prefetchu", "cp", "discard", "applypriority", "createpolicy"];

pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op> {
    match d.opcode {
        "ld" | "ldu" => load(d),
        "st" => store(d),
        "prefetch" | "prefetchu" => prefetch(d),
        "cp" => copy(d),
        "createpolicy" => create_policy(d),
        _ => {
            d.ignore_modifiers();
            d.ignore_operands();
            Ok(Op::Nop(NopKind::Other))
        }
    }
}

fn load(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let Access { mut space, ordering, scope, mut cache, lanes, ty } = access(d)?;
    cache.non_coherent |= d.opcode == "ldu";
    let dsts = d.vector(lanes)?;
    let dsts = dsts.iter().map(|arg| d.as_dst(arg, ty, Width::AtLeast)).collect::<Result<_>>()?;
    let addr = d.address(&mut space)?;
    d.cache_policy();
    Ok(Op::Ld { space, ordering, scope, ty, d: dsts, addr, cache })
}

fn store(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("async") {
        return super::bulk::store(d);
    }
    let Access { mut space, ordering, scope, cache, lanes, ty } = access(d)?;
    if space == Space::Const {
        return d.invalid("constant memory cannot be written");
    }
    let addr = d.address(&mut space)?;
    let values = d.vector(lanes)?;
    let a = values.iter().map(|arg| d.as_operand(arg, ty, Width::AtLeast)).collect::<Result<_>>()?;
    d.cache_policy();
    Ok(Op::St { space, ordering, scope, ty, addr, a, cache })
}

/// The modifiers of a load or a store.
struct Access {
    space: Space,
    ordering: Ordering,
    scope: Option<crate::ast::Scope>,
    cache: Cache,
    lanes: usize,
    ty: ScalarType,
}

fn access(d: &mut Decoder<'_, '_>) -> Result<Access> {
    d.flag("mmio");
    Ok(Access {
        space: d.space().unwrap_or(Space::Generic),
        ordering: d.ordering().unwrap_or(Ordering::Weak),
        scope: d.scope(),
        cache: d.cache(),
        lanes: d.lanes(),
        ty: d.ty_of(ACCESSED)?,
    })
}

fn prefetch(d: &mut Decoder<'_, '_>) -> Result<Op> {
    if d.flag("tensormap") {
        d.ignore_modifiers();
        d.ignore_operands();
        return Ok(Op::Nop(NopKind::Other));
    }
    let mut space = d.space().unwrap_or(Space::Generic);
    d.find(|name| matches!(name, "L1" | "L2" | "L2::evict_last" | "L2::evict_normal").then_some(()));
    let addr = d.address(&mut space)?;
    Ok(Op::Prefetch { space, addr })
}

/// `cp.async`, its groups and its waits.
fn copy(d: &mut Decoder<'_, '_>) -> Result<Op> {
    let reduces = d.flag("reduce");
    if !d.flag("async") || reduces && !d.modifiers.contains(&Some("bulk")) {
        return d.unsupported("it is not an instruction that the emulator knows");
    }
    if d.flag("bulk") {
        return super::bulk::copy(d, reduces);
    }
    if d.flag("mbarrier") {
        return super::mbarrier::copied(d);
    }
    if d.flag("commit_group") {
        return Ok(Op::CpAsyncCommit);
    }
    if d.flag("wait_all") {
        return Ok(Op::CpAsyncWait { n: None });
    }
    if d.flag("wait_group") {
        return Ok(Op::CpAsyncWait { n: Some(d.constant()?) });
    }
    let cache = d.cache();
    let (Some(mut to), Some(mut from)) = (d.space(), d.space()) else {
        return d.invalid("`cp.async` copies `.shared.global`");
    };
    if to != Space::Shared || from != Space::Global {
        return d.unsupported("`cp.async` copies from `.global` to `.shared`");
    }
    let (dst, src) = (d.address(&mut to)?, d.address(&mut from)?);
    let size = d.constant()?;
    if !matches!(size, 4 | 8 | 16) {
        return d.invalid("`cp.async` copies 4, 8 or 16 bytes");
    }
    let src_size = if d.remaining() > usize::from(d.has_policy) {
        let arg = d.next()?;
        match d.as_operand(&arg, U32, Width::Exact) {
            Err(Problem::Invalid(_)) if d.as_operand(&arg, Pred, Width::Exact).is_ok() => {
                return d.unsupported("the `ignore-src` predicate of `cp.async` is not emulated");
            }
            size => Some(size?),
        }
    } else {
        None
    };
    d.cache_policy();
    Ok(Op::CpAsync { dst, src, size, src_size, cache })
}

/// A cache policy is a hint about hints: any value will do.
fn create_policy(d: &mut Decoder<'_, '_>) -> Result<Op> {
    d.ignore_modifiers();
    let dst = d.dst(B64)?;
    d.ignore_operands();
    Ok(Op::Mov { ty: B64, d: dst, a: Operand::Imm(0) })
}

impl Decoder<'_, '_> {
    /// Cache operators and eviction priorities (PTX ISA 9.7.9.1, 9.7.9.2).
    pub(super) fn cache(&mut self) -> Cache {
        let mut cache = Cache { non_coherent: self.flag("nc"), ..Cache::default() };
        while let Some(hint) = self.find(|name| CACHE_HINTS.contains(&name).then_some(name)) {
            match hint {
                "cg" => cache.l2_only = true,
                "cs" | "lu" | "L1::no_allocate" | "L1::evict_first" => cache.streaming = true,
                "L2::cache_hint" => self.has_policy = true,
                _ => {}
            }
        }
        cache
    }

    /// The last operand of an instruction with `.L2::cache_hint`.
    pub(super) fn cache_policy(&mut self) {
        if self.has_policy {
            self.args.next();
        }
    }
}

const CACHE_HINTS: &[&str] = &[
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];
