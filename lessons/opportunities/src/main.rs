//! Reads a graph of operations, or the launches of a program, and says what to fuse: bytes, launches, a score, and the reasons against.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use fusion_lesson::LessonError;
use fusion_machine::Profile;

mod candidate;
mod claim;
mod cost;
mod error;
mod explain;
mod file;
mod graph;
mod json;
mod operation;
mod reason;
mod score;
#[cfg(test)]
mod tests;
mod text;
mod trace;

use error::GraphError;
use file::File;
use graph::Graph;

/// The graph that is shown when none is named.
const TRANSFORMER_LAYER: &str = include_str!("../graphs/transformer-layer.json");

/// Finds what to fuse in a graph of operations, or in a program that has run. Needs no GPU: everything is arithmetic, and times are predicted.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// A graph in JSON, as in lessons/opportunities/graphs [default: a transformer layer]
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// A program's launches, as `cargo xtask run --trace FILE -- PROGRAM` writes them, in place of a graph
    #[arg(long, value_name = "FILE", conflicts_with_all = ["graph", "explain"])]
    trace: Option<PathBuf>,
    /// The GPU whose bandwidth and throughput count: such as h200 or t4, or a profile's file
    #[arg(long, value_name = "GPU", default_value = "h200", value_parser = fusion_lesson::profile)]
    profile: Profile,
    /// All the arithmetic of one candidate, by its name
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// One JSON object instead of tables
    #[arg(long, conflicts_with = "explain")]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match report(&arguments) {
        Ok(text) => match fusion_lesson::print(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => error.report(),
        },
        Err(error) => LessonError::Wrong(error.to_string()).report(),
    }
}

fn report(arguments: &Arguments) -> Result<String, GraphError> {
    if let Some(path) = &arguments.trace {
        return trace::report(path, &arguments.profile, arguments.json);
    }
    let file = match &arguments.graph {
        Some(path) => File::read(path)?,
        None => File::parse("lessons/opportunities/graphs/transformer-layer.json", TRANSFORMER_LAYER)?,
    };
    let graph = Graph::new(file)?;
    let candidates = candidate::find(&graph, &arguments.profile);
    match &arguments.explain {
        Some(name) => explain::candidate(&graph, &arguments.profile, &candidates, name),
        None if arguments.json => Ok(json::report(&graph, &arguments.profile, &candidates)),
        None => Ok(text::report(&graph, &arguments.profile, &candidates)),
    }
}
