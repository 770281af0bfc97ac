//! The launch's parameter buffer.

use super::extend;
use crate::code::Access;
use crate::exec::fault;
use crate::exec::fault::trap::Trapped;
use crate::exec::state::lanes::{View, each};
use crate::exec::state::run::Run;

#[inline(always)]
fn element(params: &[u8], addr: u64, size: u32) -> Option<u64> {
    let start = usize::try_from(addr).ok()?;
    let bytes = params.get(start..start.checked_add(size as usize)?)?;
    Some(match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    })
}

/// `ld.param` at an offset that every lane shares.
#[inline(always)]
pub(crate) fn load_known(run: &Run<'_>, regs: &mut View<'_>, access: &Access, mask: u32) -> Trapped {
    for (j, reg) in access.regs.iter().enumerate() {
        let at = (access.address.offset as u64).wrapping_add(j as u64 * u64::from(access.element));
        let Some(value) = element(run.params, at, access.element) else {
            return Err(fault::stray_param(mask, at, u64::from(access.element), run.params.len()));
        };
        let value = extend(value, access.element, access.signed);
        match reg {
            Some(reg) if reg.bits == 32 => regs.put_word(reg.slot, mask, &[value as u32; 32]),
            Some(reg) if reg.bits == 64 => regs.put_double(reg.slot, mask, &[value; 32]),
            Some(reg) => regs.put(*reg, mask, &[value; 32]),
            None => {}
        }
    }
    Ok(())
}

/// `ld.param` at computed offsets.
pub(crate) fn load(run: &Run<'_>, regs: &mut View<'_>, access: &Access, mask: u32, addrs: &[u64; 32]) -> Trapped {
    let mut results = Vec::with_capacity(access.regs.len());
    for (j, reg) in access.regs.iter().enumerate() {
        let mut values = [0; 32];
        for lane in each(mask) {
            let at = addrs[lane].wrapping_add(j as u64 * u64::from(access.element));
            let Some(value) = element(run.params, at, access.element) else {
                return Err(fault::stray_param(1 << lane, at, u64::from(access.element), run.params.len()));
            };
            values[lane] = extend(value, access.element, access.signed);
        }
        results.push((*reg, values));
    }
    for (reg, values) in &results {
        if let Some(reg) = reg {
            regs.put(*reg, mask, values);
        }
    }
    Ok(())
}
