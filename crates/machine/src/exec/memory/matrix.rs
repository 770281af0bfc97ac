//! `ldmatrix` and `stmatrix`: rows of matrices in shared memory, each from where one lane says (PTX ISA 9.7.14.5.15).

use super::cluster::{Does, own};
use super::count;
use super::shared::{check, check_array, meant, wavefronts};
use crate::code::{MatrixAccess, Place};
use crate::exec::check::{Action, Touch};
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::Trapped;
use crate::exec::state::address::{addresses, resolve};
use crate::exec::state::lanes::{FULL, View, lanes};
use crate::exec::state::shared::{load_element, store_element};

/// Bytes of a row.
const ROW: u64 = 16;

/// Of an element.
const ELEMENT: u32 = 2;

pub(crate) fn execute(
    worker: &mut Worker<'_>,
    common: &mut Common,
    regs: &mut View<'_>,
    op: &MatrixAccess,
    local_base: u32,
) -> Trapped {
    let (mask, stores) = (op.lanes(), op.row.stores);
    let mut addrs = addresses(regs, &op.row.address, local_base);
    addrs = match op.row.place {
        // Any other memory has no rows: its address is outside of the block's.
        Place::Generic => addrs.map(|addr| match resolve(common.rank, addr) {
            (Place::Shared, inside) => inside,
            _ => addr,
        }),
        _ => own(worker, common, mask, &op.row.address, &addrs, Does { write: stores, bytes: ROW })?,
    };
    check(worker, &common.shared, mask, &addrs, ROW, stores)
        .map_err(|trap| meant(worker.run, trap, &op.row.address, ROW))?;
    check_array(&mut worker.watch, &op.row.address, mask, &addrs, ROW, false, stores);
    let action = if stores { Action::Write } else { Action::Read };
    let touch = Touch { action, shared: &common.shared, ..Touch::of(&op.row, Place::Shared, mask, &addrs, None) };
    worker.watch.touch(&mut common.checks, &touch);
    // Each matrix is a phase of its own: its eight rows want all banks.
    let passes = wavefronts(&addrs, mask, ROW);
    let counters = &mut worker.counters;
    let traffic = if stores { &mut counters.shared_store } else { &mut counters.shared_load };
    count(traffic, passes, ROW * u64::from(mask.count_ones()));
    worker.watch.shared(mask, &addrs, ROW, passes);
    for (matrix, reg) in op.regs.iter().enumerate() {
        let Some(reg) = reg else { continue };
        let at = |lane: usize, half: usize| {
            let (row, column) = op.place(lane, half);
            addrs[8 * matrix + row] + u64::from(ELEMENT) * column as u64
        };
        if stores {
            let value = regs.get(*reg);
            for (lane, value) in value.iter().enumerate() {
                for half in 0..2 {
                    store_element(&mut common.shared, at(lane, half), ELEMENT, value >> (16 * half) & 0xffff);
                }
            }
        } else {
            let element = |lane, half| load_element(&common.shared, at(lane, half), ELEMENT);
            regs.put(*reg, FULL, &lanes(|lane| element(lane, 0) | element(lane, 1) << 16));
        }
    }
    Ok(())
}
