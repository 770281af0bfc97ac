//! `P-SHARED-UNUSED`: dynamic shared memory that no block touches, and that keeps blocks from running beside one another.

use super::Ended;
use crate::machine::residency::Residency;
use crate::machine::thresholds::SHARED_TIMES;
use crate::report::Fault;
use crate::report::kind::Speed;

/// `touched`: bytes of the dynamic shared memory up to the last that a block has touched.
pub(crate) fn advise(ended: &Ended<'_>, kernel: &str, touched: u32) -> Option<Fault> {
    let Ended { residency, .. } = *ended;
    let asked = ended.run.launch.dynamic_shared;
    if asked == 0 || asked < touched.saturating_mul(SHARED_TIMES) {
        return None;
    }
    // Where the grid has no more blocks for an SM, it need not have room for more.
    let most = residency.blocks.div_ceil(residency.profile.sms.max(1).into());
    let needed = Residency { shared: residency.shared - asked + touched, ..*residency };
    let [held, possible] = [residency, &needed].map(|residency| u64::from(residency.per_sm()).min(most));
    let saving = ended.saving_to(needed.times(&ended.counters));
    let kind = Speed::UnusedShared { asked: asked.into(), touched: touched.into(), held, possible, saving };
    (held < possible).then(|| Fault { kernel: kernel.into(), ..Fault::new(kind) })
}
