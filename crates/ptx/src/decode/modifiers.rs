//! The modifiers that many instructions share.

use super::{Decoder, Result};
use crate::ast::{Accuracy, Mode, Ordering, Rounding, ScalarType, Scope, Space};

/// A modifier that an instruction may have, as a part of [`Mode`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Flag {
    /// `.rn`, `.rz`, `.rm`, `.rp`
    Rounding,
    /// Those, and `.rna`, `.rs` and the roundings to integers.
    AnyRounding,
    Approx,
    Full,
    Ftz,
    Sat,
    Satfinite,
    Relu,
    Nan,
    XorsignAbs,
    CarryOut,
    Oob,
}

impl<'a> Decoder<'_, 'a> {
    /// Takes a modifier if it is there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.find(|modifier| (modifier == name).then_some(())).is_some()
    }

    /// Takes the first modifier that means something to `meaning`.
    pub(super) fn find<T>(&mut self, meaning: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        self.modifiers.iter_mut().find_map(|slot| {
            let found = slot.and_then(&meaning)?;
            *slot = None;
            Some(found)
        })
    }

    /// Gives up on modifiers that change nothing here.
    pub(super) fn ignore_modifiers(&mut self) {
        self.modifiers.clear();
    }

    /// Takes the first type.
    pub(super) fn ty(&mut self) -> Result<ScalarType> {
        match self.find(ScalarType::from_name) {
            Some(ty) => Ok(ty),
            None => self.incomplete(format!("`{}` needs a type here, such as `.b32`", self.opcode)),
        }
    }

    /// Takes the first type, which must be one of these.
    pub(super) fn ty_of(&mut self, allowed: &[ScalarType]) -> Result<ScalarType> {
        let ty = self.ty()?;
        if allowed.contains(&ty) {
            return Ok(ty);
        }
        self.unsupported(format!("`{}` is not for type `.{}`", self.opcode, ty.name()))
    }

    /// Whether the first type is a floating-point one. Takes nothing.
    pub(super) fn is_float(&self) -> bool {
        self.modifiers.iter().flatten().find_map(|name| ScalarType::from_name(name)).is_some_and(ScalarType::is_float)
    }

    pub(super) fn mode(&mut self, allowed: &[Flag]) -> Mode {
        let mut mode = Mode::plain();
        for flag in allowed {
            match flag {
                Flag::Rounding => mode.rounding = self.find(float_rounding),
                Flag::AnyRounding => {
                    mode.rounding = self.find(|name| float_rounding(name).or_else(|| other_rounding(name)))
                }
                Flag::Approx if self.flag("approx") => mode.accuracy = Accuracy::Approx,
                Flag::Full if self.flag("full") => mode.accuracy = Accuracy::Full,
                Flag::Approx | Flag::Full => {}
                Flag::Ftz => mode.ftz = self.flag("ftz"),
                Flag::Sat => mode.sat = self.flag("sat"),
                Flag::Satfinite => mode.satfinite = self.flag("satfinite"),
                Flag::Relu => mode.relu = self.flag("relu"),
                Flag::Nan => mode.nan = self.flag("NaN"),
                Flag::XorsignAbs => mode.xorsign_abs = self.flag("xorsign") && self.flag("abs"),
                Flag::CarryOut => mode.carry_out = self.flag("cc"),
                Flag::Oob => mode.oob = self.flag("oob"),
            }
        }
        mode
    }

    pub(super) fn space(&mut self) -> Option<Space> {
        self.find(|name| {
            Some(match name {
                "global" => Space::Global,
                "shared" | "shared::cta" => Space::Shared,
                "shared::cluster" => Space::SharedCluster,
                "local" => Space::Local,
                "const" => Space::Const,
                "param" | "param::entry" | "param::func" => Space::Param,
                _ => return None,
            })
        })
    }

    pub(super) fn scope(&mut self) -> Option<Scope> {
        self.find(|name| {
            Some(match name {
                "cta" => Scope::Cta,
                "cluster" => Scope::Cluster,
                "gpu" | "gl" => Scope::Gpu,
                "sys" => Scope::Sys,
                _ => return None,
            })
        })
    }

    pub(super) fn ordering(&mut self) -> Option<Ordering> {
        self.find(|name| {
            Some(match name {
                "weak" => Ordering::Weak,
                "volatile" => Ordering::Volatile,
                "relaxed" => Ordering::Relaxed,
                "acquire" => Ordering::Acquire,
                "release" => Ordering::Release,
                "acq_rel" => Ordering::AcqRel,
                "sc" => Ordering::SeqCst,
                _ => return None,
            })
        })
    }

    /// The length of a vector form, 1 without one.
    pub(super) fn lanes(&mut self) -> usize {
        let lanes = self.find(|name| match name {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        lanes.unwrap_or(1)
    }
}

/// Whether many instructions have this modifier, so that it tells nothing about a form that is not known.
pub(super) fn is_common(name: &str) -> bool {
    ScalarType::from_name(name).is_some()
        || float_rounding(name).is_some()
        || ["global", "shared", "shared::cta", "local", "const", "param", "sync", "aligned", "ftz", "sat"]
            .contains(&name)
}

fn float_rounding(name: &str) -> Option<Rounding> {
    Some(match name {
        "rn" => Rounding::Nearest,
        "rz" => Rounding::Zero,
        "rm" => Rounding::Minus,
        "rp" => Rounding::Plus,
        _ => return None,
    })
}

fn other_rounding(name: &str) -> Option<Rounding> {
    Some(match name {
        "rna" => Rounding::NearestAway,
        "rs" => Rounding::Stochastic,
        "rni" => Rounding::NearestInt,
        "rzi" => Rounding::ZeroInt,
        "rmi" => Rounding::MinusInt,
        "rpi" => Rounding::PlusInt,
        _ => return None,
    })
}
