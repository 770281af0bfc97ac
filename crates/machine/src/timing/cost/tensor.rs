//! What products of matrices cost: `mma`, `wmma.mma` and `wgmma.mma_async`, by their shapes and types.

use fusion_ptx::ast::MatrixType;

use super::{Cost, Unit, cost};
use crate::profile::{Profile, Units};

/// Multiply-adds of the largest product of f16 that is one machine instruction: m16n8k16.
const LARGEST: f64 = 2048.0;

/// Multiply-adds of f16 by `wgmma` in a clock of an SM, sums in f32. NVIDIA's H100 white paper has 989.4 TFLOP/s for its 132 SMs at 1,830 MHz: 4,096
/// operations a clock, of which a multiply-add is two. m64n256k16 takes 128 clocks. What has half as many bits goes twice as fast.
const WARPGROUP: f64 = 2048.0;

/// Warps that a warp group has, each with a quarter of the rows.
const WARPS: f64 = 4.0;

/// Clocks that a product of a warp group takes at least, however small: assumed, nothing was measured.
const SHORTEST: f64 = 32.0;

/// A product, by the text of its opcode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    multiply_adds: f64,
    factors: MatrixType,
    sums: MatrixType,
    warpgroup: bool,
}

impl Product {
    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`; of f16, `wmma` names the sums only.
    pub(super) fn of(opcode: &str) -> Option<Self> {
        let mut parts = opcode.split('.');
        let is_product = match parts.next()? {
            "mma" => true,
            "wmma" => parts.next()? == "mma",
            "wgmma" => parts.next()? == "mma_async",
            _ => false,
        };
        if !is_product {
            return None;
        }
        let shape = opcode.split('.').find_map(|part| {
            let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
            let (n, k) = rest.split_once('k')?;
            Some(m.parse::<f64>().ok()? * n.parse::<f64>().ok()? * k.parse::<f64>().ok()?)
        })?;
        let types: Vec<MatrixType> = opcode.split('.').filter_map(MatrixType::from_name).collect();
        let (sums, factors) = match types[..] {
            [sums, factors, _, _] => (sums, factors),
            // `wgmma` has no other C than D.
            [sums, factors, _] => (sums, factors),
            [sums, _] => (sums, MatrixType::F16),
            _ => return None,
        };
        let warpgroup = opcode.starts_with("wgmma");
        Some(Self { multiply_adds: if warpgroup { shape / WARPS } else { shape }, factors, sums, warpgroup })
    }

    /// Each of four schedulers has a tensor core.
    pub(super) fn cost(self, units: &Units) -> Cost {
        let share = |rate: f64| rate / f64::from(Profile::PARTITIONS_PER_SM);
        if self.warpgroup {
            let busy = self.multiply_adds / share(WARPGROUP * 16.0 / f64::from(self.factors.bits()));
            return cost(Unit::Tensor, 1.0, busy, busy.max(SHORTEST));
        }
        let rate = match self.factors {
            MatrixType::F16 if self.sums == MatrixType::F16 => units.tensor_half,
            MatrixType::F16 | MatrixType::Bf16 => units.tensor,
            MatrixType::Tf32 => units.tensor_tf32,
            MatrixType::F64 => units.tensor_fp64,
            MatrixType::E4m3 | MatrixType::E5m2 => units.tensor_fp8,
            // Of what has half as many bits there is twice as much in a clock.
            ty => units.tensor_int8 * 8.0 / f64::from(ty.bits()),
        };
        let busy = self.multiply_adds / share(rate);
        // A product of f16 that takes as long as this one has so many multiply-adds: the latency was published for the largest.
        let largest = LARGEST / share(units.tensor);
        let latency = match busy < largest {
            true => (units.tensor_latency - 2.0 * (largest - busy)).max(units.tensor_latency / 2.0),
            false => units.tensor_latency + busy - largest,
        };
        let bits = f64::from(self.factors.bits());
        let issues = (self.multiply_adds * bits / (LARGEST * 16.0)).ceil().max(1.0);
        cost(Unit::Tensor, issues, busy, latency)
    }
}
