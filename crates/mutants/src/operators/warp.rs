//! Shuffles and votes.

use super::Sites;
use crate::Operator;
use crate::code::Code;
use crate::operator::{INDEX, ORDER};

const MASK: Operator = Operator::new("narrow-mask", "names half of the lanes that take part", ORDER);
const OFFSET: Operator = Operator::new("shuffle-offset", "takes the value of a lane that is one further", INDEX);
const DIRECTION: Operator = Operator::new("shuffle-direction", "shuffles in another direction", INDEX);
const DROP: Operator = Operator::new("drop-shuffle", "takes the lane's own value", INDEX);

pub(super) fn find(code: &Code<'_>, sites: &mut Sites<'_>) {
    for token in code.body_tokens() {
        let word = code.word(token);
        let is_sync = word.ends_with("_sync") && word.starts_with("__");
        let Some(close) = code.pair(token + 1).filter(|_| is_sync || word == "__syncwarp") else { continue };
        let arguments = code.arguments(token + 1);
        if let Some(mask) = arguments.first() {
            sites.replace(MASK, code.bytes(mask), &format!("({}) & 0x0000ffffu", code.text_of(mask)));
        }
        let others: &[&str] = match word {
            "__shfl_down_sync" => &["__shfl_up_sync", "__shfl_xor_sync"],
            "__shfl_up_sync" => &["__shfl_down_sync"],
            "__shfl_xor_sync" => &["__shfl_down_sync"],
            "__any_sync" => &["__all_sync"],
            "__all_sync" => &["__any_sync"],
            _ => &[],
        };
        for other in others {
            sites.replace(DIRECTION, code.bytes(&(token..token + 1)), other);
        }
        if let (true, [_, value, offset, ..]) = (word.starts_with("__shfl"), &arguments[..]) {
            sites.replace(OFFSET, code.bytes(offset), &format!("({}) + 1", code.text_of(offset)));
            sites.replace(DROP, code.bytes(&(token..close + 1)), &format!("({})", code.text_of(value)));
        }
    }
}
