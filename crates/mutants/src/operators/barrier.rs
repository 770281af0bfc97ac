//! Barriers and fences left out or moved.

use super::Sites;
use crate::Operator;
use crate::code::{Code, Statement, StatementKind};
use crate::operator::ORDER;

const DROP: Operator = Operator::new("drop-barrier", "leaves out a barrier", ORDER);
const UP: Operator = Operator::new("barrier-up", "moves a barrier before the statement that it follows", ORDER);
const DOWN: Operator = Operator::new("barrier-down", "moves a barrier behind the statement that it precedes", ORDER);
const WEAKEN: Operator = Operator::new("block-to-warp", "waits for a warp where the block is meant", ORDER);
const DROP_FENCE: Operator = Operator::new("drop-fence", "leaves out a fence", ORDER);
const WEAKEN_FENCE: Operator = Operator::new("fence-to-block", "orders writes for the block only", ORDER);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for statement in code.statements.iter().filter(|statement| statement.kind == StatementKind::Simple) {
        let bytes = code.bytes(&statement.tokens);
        let first = code.word(statement.tokens.start);
        match first {
            "__threadfence" | "__threadfence_block" | "__threadfence_system" => {
                sites.replace(DROP_FENCE, bytes.clone(), ";");
                if first != "__threadfence_block" {
                    sites.replace(WEAKEN_FENCE, bytes, "__threadfence_block();");
                }
            }
            _ if is_barrier(code, statement) => {
                sites.replace(DROP, bytes.clone(), ";");
                if first == "__syncthreads" {
                    sites.replace(WEAKEN, bytes, "__syncwarp();");
                }
                moves(code, statement, sites);
            }
            _ => {}
        }
    }
}

/// `__syncthreads();`, a wait for asynchronous copies, or a statement that ends in a call to what is called `sync` or
/// `wait`: `cg::sync(block);`, `grid.sync();`.
fn is_barrier(code: &Code<'_>, statement: &Statement) -> bool {
    let first = code.word(statement.tokens.start);
    let intrinsics = ["__syncthreads", "__syncwarp", "__pipeline_wait_prior", "__pipeline_commit"];
    let calls = |token| code.word(token + 1) == "(" && matches!(code.word(token), "sync" | "barrier_sync" | "wait");
    intrinsics.contains(&first) || statement.tokens.clone().any(calls)
}

/// Swaps a barrier with its neighbours in the same block.
fn moves(code: &Code<'_>, barrier: &Statement, sites: &mut Sites<'_>) {
    let siblings = || code.statements.iter().filter(|other| other.parent == barrier.parent);
    let before = siblings().filter(|other| other.tokens.end <= barrier.tokens.start).max_by_key(|it| it.tokens.end);
    let after = siblings().filter(|other| other.tokens.start >= barrier.tokens.end).min_by_key(|it| it.tokens.start);
    for (operator, pair) in [(UP, before.map(|other| (other, barrier))), (DOWN, after.map(|other| (barrier, other)))] {
        let Some((first, second)) = pair else { continue };
        let (one, other) = (code.bytes(&first.tokens), code.bytes(&second.tokens));
        let with = [&code.text[other.clone()], &code.text[one.end..other.start], &code.text[one.clone()]].concat();
        sites.replace(operator, one.start..other.end, &with);
    }
}
