//! The PTX front end: text in, a typed [`Module`](ast::Module) and a list of [`Diagnostic`]s out.
//!
//! The reference for everything here is NVIDIA's *PTX ISA* manual, whose section numbers the docs quote.
//! Parsing never fails as a whole and never panics: whatever is wrong becomes a diagnostic with a
//! span, and an instruction that is not understood becomes [`Op::Unsupported`](ast::Op::Unsupported),
//! which is an error only if a thread executes it.
//!
//! Text passes through three stages. The `lexer` cuts it into tokens; the `parser` reads directives,
//! declarations and statements and keeps the scopes of names; `decode` turns an opcode, its
//! modifiers and its operands into a typed [`Op`](ast::Op).

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ast;
mod decode;
mod diagnostic;
mod lexer;
mod link;
mod literal;
mod names;
mod parser;

pub use diagnostic::{Diagnostic, Lines, Position, Severity, position};
pub use link::{Unit, link};
pub use parser::{Parsed, parse, parse_bytes};
