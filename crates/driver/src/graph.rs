//! Graphs: operations with the order between them, made by capture or node by node, and run as a whole.

mod exec;
mod node;
mod query;

use std::collections::{BTreeSet, HashMap};
use std::ffi::c_uint;

use crate::boundary::{In, Out, export};
use crate::driver::{State, driver};
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::operation::{Operation, Step};

pub(crate) use exec::Exec;

/// Exported symbols of this module and those below it.
pub(crate) static ALL_EXPORTS: [&[crate::boundary::Export]; 4] =
    [EXPORTS, exec::EXPORTS, node::EXPORTS, query::EXPORTS];

#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// In the order in which they were added.
    pub(crate) nodes: Vec<Handle>,
}

#[derive(Debug)]
pub(crate) struct Node {
    graph: Handle,
    pub(crate) operation: Operation,
    /// Nodes of the same graph that must have run before.
    pub(crate) dependencies: Vec<Handle>,
}

impl Node {
    pub(crate) fn new(graph: Handle, operation: Operation, dependencies: Vec<Handle>) -> Self {
        Self { graph, operation, dependencies }
    }
}

impl State {
    pub(crate) fn add_node(&mut self, node: Node) -> Result<Handle> {
        let graph = node.graph;
        self.graphs.get(graph)?;
        for dependency in &node.dependencies {
            if self.nodes.get(*dependency)?.graph != graph {
                return Err(Error::INVALID_VALUE);
            }
        }
        let handle = self.nodes.insert(node);
        self.graphs.get_mut(graph)?.nodes.push(handle);
        Ok(handle)
    }

    pub(crate) fn destroy_graph(&mut self, graph: Handle) -> Result {
        for node in self.graphs.remove(graph)?.nodes {
            let _ = self.nodes.remove(node);
        }
        Ok(())
    }

    /// The nodes of a graph in an order that its dependencies allow, as near to the order of adding as can be.
    /// Fails when they go in a circle.
    fn ordered(&self, graph: Handle) -> Result<Vec<(Handle, Step)>> {
        let nodes = &self.graphs.get(graph)?.nodes;
        let index: HashMap<Handle, usize> = nodes.iter().enumerate().map(|(i, node)| (*node, i)).collect();
        let mut open = vec![0; nodes.len()];
        let mut dependents = vec![Vec::new(); nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for dependency in &self.nodes.get(*node)?.dependencies {
                open[i] += 1;
                dependents[*index.get(dependency).ok_or(Error::INVALID_VALUE)?].push(i);
            }
        }
        let mut ready: BTreeSet<usize> = (0..nodes.len()).filter(|i| open[*i] == 0).collect();
        let mut ordered = Vec::with_capacity(nodes.len());
        // Where a node stands in that order.
        let mut places: HashMap<Handle, usize> = HashMap::new();
        while let Some(i) = ready.pop_first() {
            let Node { operation, dependencies, .. } = self.nodes.get(nodes[i])?;
            let behind = dependencies.iter().filter_map(|node| places.get(node).copied()).collect();
            places.insert(nodes[i], ordered.len());
            ordered.push((nodes[i], Step { operation: operation.clone(), behind }));
            for dependent in &dependents[i] {
                open[*dependent] -= 1;
                if open[*dependent] == 0 {
                    ready.insert(*dependent);
                }
            }
        }
        if ordered.len() == nodes.len() { Ok(ordered) } else { Err(Error::INVALID_VALUE) }
    }
}

fn change_dependencies(
    graph: Handle,
    from: In<Handle>,
    to: In<Handle>,
    count: usize,
    change: impl Fn(&mut Vec<Handle>, Handle) -> Result,
) -> Result {
    let mut state = driver()?.state();
    state.graphs.get(graph)?;
    for (from, to) in from.get_all(count)?.into_iter().zip(to.get_all(count)?) {
        if state.nodes.get(from)?.graph != graph || state.nodes.get(to)?.graph != graph {
            return Err(Error::INVALID_VALUE);
        }
        change(&mut state.nodes.get_mut(to)?.dependencies, from)?;
    }
    Ok(())
}

fn add_dependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Result {
    change_dependencies(graph, from, to, count, |dependencies, from| {
        if dependencies.contains(&from) {
            return Err(Error::INVALID_VALUE);
        }
        dependencies.push(from);
        Ok(())
    })
}

fn remove_dependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Result {
    change_dependencies(graph, from, to, count, |dependencies, from| {
        let index = dependencies.iter().position(|d| *d == from).ok_or(Error::INVALID_VALUE)?;
        dependencies.remove(index);
        Ok(())
    })
}

export! {
    fn cuGraphCreate(graph: Out<Handle>, flags: c_uint) {
        let mut state = driver()?.state();
        graph.required()?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        graph.set(state.graphs.insert(Graph::default()))
    }

    fn cuGraphDestroy(graph: Handle) {
        driver()?.state().destroy_graph(graph)
    }

    fn cuGraphClone(clone: Out<Handle>, original: Handle) {
        let mut state = driver()?.state();
        clone.required()?;
        let nodes = state.graphs.get(original)?.nodes.clone();
        let graph = state.graphs.insert(Graph::default());
        // Dependencies may point to nodes that were added later: all nodes first, then the edges.
        let mut renamed: HashMap<Handle, Handle> = HashMap::new();
        for node in &nodes {
            let operation = state.nodes.get(*node)?.operation.clone();
            let copy = state.add_node(Node::new(graph, operation, Vec::new()))?;
            renamed.insert(*node, copy);
        }
        for (node, copy) in &renamed {
            let dependencies = &state.nodes.get(*node)?.dependencies;
            let dependencies = dependencies.iter().filter_map(|d| renamed.get(d).copied()).collect();
            state.nodes.get_mut(*copy)?.dependencies = dependencies;
        }
        clone.set(graph)
    }

    fn cuGraphDestroyNode(node: Handle) {
        let mut state = driver()?.state();
        let removed = state.nodes.remove(node)?;
        state.graphs.get_mut(removed.graph)?.nodes.retain(|n| *n != node);
        for other in state.nodes.values_mut() {
            other.dependencies.retain(|n| *n != node);
        }
        Ok(())
    }

    fn cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        add_dependencies(graph, from, to, count)
    }

    fn cuGraphAddDependencies_v2(
        graph: Handle,
        from: In<Handle>,
        to: In<Handle>,
        _edge_data: crate::boundary::Raw,
        count: usize,
    ) {
        add_dependencies(graph, from, to, count)
    }

    fn cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        remove_dependencies(graph, from, to, count)
    }

    fn cuGraphRemoveDependencies_v2(
        graph: Handle,
        from: In<Handle>,
        to: In<Handle>,
        _edge_data: crate::boundary::Raw,
        count: usize,
    ) {
        remove_dependencies(graph, from, to, count)
    }
}
