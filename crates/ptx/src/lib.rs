//! The PTX front end: text in, a typed [`Module`](ast::Module) and a list of [`Diagnostic`]s out.
//!
//! The reference for everything here is NVIDIA's *PTX ISA* manual, whose section numbers the docs quote.
//! Parsing never fails as a whole and never panics: whatever is wrong becomes a diagnostic with a
//! span, and an instruction that is not understood becomes [`Op::Unsupported`](ast::Op::Unsupported),
//! which is an error only if a thread executes it.

pub mod ast;
