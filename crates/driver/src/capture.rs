//! Stream capture: operations become the nodes of a graph instead of running.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{c_int, c_uint};
use std::thread::ThreadId;

use crate::boundary::{Out, Raw, export};
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::graph::{Graph, Node};
use crate::operation::Operation;
use crate::stream::Capturing;

/// `CUstreamCaptureMode`.
const GLOBAL: c_uint = 0;
const THREAD_LOCAL: c_uint = 1;
const RELAXED: c_uint = 2;
/// `CUstreamCaptureStatus`.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

/// A capture in progress. It may span streams, which join it by waiting for events.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) context: Handle,
    graph: Handle,
    origin: Handle,
    mode: c_uint,
    thread: ThreadId,
    valid: bool,
}

thread_local! {
    /// What the thread takes upon itself (`cuThreadExchangeStreamCaptureMode`).
    static MODE: Cell<c_uint> = const { Cell::new(GLOBAL) };
}

impl Session {
    /// Refuses a call that is unsafe while a capture that concerns this thread is in progress, and ends that capture's validity.
    pub(crate) fn refuse_during_capture(&mut self) -> Result {
        let thread = std::thread::current().id();
        let mode = MODE.get();
        let concerned = self.state.captures.iter().find(|(_, capture)| match (mode, capture.mode) {
            (RELAXED, _) | (_, RELAXED) => false,
            (_, GLOBAL) => mode == GLOBAL || capture.thread == thread,
            _ => capture.thread == thread,
        });
        match concerned.map(|(handle, _)| handle) {
            Some(capture) => Err(self.break_capture(capture, Error::STREAM_CAPTURE_UNSUPPORTED)),
            None => Ok(()),
        }
    }

    /// Refuses a call that needs the work of a stream to be done, when it is only being captured.
    pub(crate) fn refuse_if_captured(&mut self, stream: Handle) -> Result {
        match &self.state.streams.get(stream)?.capturing {
            Some(capturing) => {
                let capture = capturing.capture;
                Err(self.break_capture(capture, Error::STREAM_CAPTURE_UNSUPPORTED))
            }
            None => self.refuse_implicit(stream),
        }
    }

    /// Refuses work on the legacy default stream, which would wait for blocking streams that are being captured.
    pub(crate) fn refuse_implicit(&mut self, stream: Handle) -> Result {
        if self.state.contexts.get(self.context)?.default_stream != stream {
            return Ok(());
        }
        let context = self.context;
        let others = self.state.streams.iter().filter(|(_, s)| s.context == context && s.blocking);
        let captured = others.filter_map(|(_, s)| s.capturing.as_ref()).map(|c| c.capture).next();
        match captured {
            Some(capture) => Err(self.break_capture(capture, Error::STREAM_CAPTURE_IMPLICIT)),
            None => Ok(()),
        }
    }

    /// Fails when the capture is no longer valid.
    pub(crate) fn active(&self, capture: Handle) -> Result {
        let capture = self.state.captures.get(capture)?;
        if capture.valid { Ok(()) } else { Err(Error::STREAM_CAPTURE_INVALIDATED) }
    }

    /// Whether a capture began on this stream.
    pub(crate) fn began(&self, capture: Handle, stream: Handle) -> bool {
        self.state.captures.get(capture).is_ok_and(|capture| capture.origin == stream)
    }

    /// Marks a capture as broken; its end will say so.
    pub(crate) fn invalidate(&mut self, capture: Handle) {
        if let Ok(capture) = self.state.captures.get_mut(capture) {
            capture.valid = false;
        }
    }

    /// Marks a capture as broken because of a call, and gives the error of that call.
    pub(crate) fn break_capture(&mut self, capture: Handle, error: Error) -> Error {
        self.invalidate(capture);
        error
    }

    /// Makes an operation the next node of the capture that the stream is in.
    pub(crate) fn capture(&mut self, stream: Handle, capturing: Capturing, operation: Operation) -> Result<Handle> {
        self.active(capturing.capture)?;
        let graph = self.state.captures.get(capturing.capture)?.graph;
        let node = self.state.add_node(Node::new(graph, operation, capturing.tail))?;
        self.state.streams.get_mut(stream)?.capturing =
            Some(Capturing { capture: capturing.capture, tail: vec![node] });
        Ok(node)
    }
}

fn begin(stream: Handle, mode: c_uint, graph: Option<(Handle, Vec<Handle>)>) -> Result {
    let mut session = Session::begin()?;
    let stream = session.stream(stream)?;
    if mode > RELAXED {
        return Err(Error::INVALID_VALUE);
    }
    let context = session.state.streams.get(stream)?.context;
    if session.state.contexts.get(context)?.default_stream == stream {
        return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
    }
    if session.state.streams.get(stream)?.capturing.is_some() {
        return Err(Error::ILLEGAL_STATE);
    }
    let (graph, tail) = match graph {
        Some((graph, tail)) => {
            session.state.graphs.get(graph)?;
            (graph, tail)
        }
        None => (session.state.graphs.insert(Graph::default()), Vec::new()),
    };
    let thread = std::thread::current().id();
    let capture = session.state.captures.insert(Capture { context, graph, origin: stream, mode, thread, valid: true });
    session.state.streams.get_mut(stream)?.capturing = Some(Capturing { capture, tail });
    Ok(())
}

fn end(stream: Handle, out: Out<Handle>) -> Result {
    let mut session = Session::begin_regardless()?;
    out.required()?;
    let stream = session.stream(stream)?;
    let capturing = session.state.streams.get(stream)?.capturing.clone().ok_or(Error::ILLEGAL_STATE)?;
    let capture = session.state.captures.get(capturing.capture)?;
    if capture.origin != stream {
        return Err(session.break_capture(capturing.capture, Error::STREAM_CAPTURE_UNMATCHED));
    }
    if capture.mode != RELAXED && capture.thread != std::thread::current().id() {
        return Err(Error::STREAM_CAPTURE_WRONG_THREAD);
    }
    let capture = session.state.captures.remove(capturing.capture)?;
    for other in session.state.streams.values_mut() {
        if other.capturing.as_ref().is_some_and(|c| c.capture == capturing.capture) {
            other.capturing = None;
        }
    }
    let refused = if !capture.valid {
        Some(Error::STREAM_CAPTURE_INVALIDATED)
    } else if !session.joined(capture.graph, &capturing.tail)? {
        Some(Error::STREAM_CAPTURE_UNJOINED)
    } else {
        None
    };
    if let Some(error) = refused {
        session.state.destroy_graph(capture.graph)?;
        out.set(0)?;
        return Err(error);
    }
    out.set(capture.graph)
}

impl Session {
    /// Whether all nodes of the graph lead to the end of the stream that began the capture.
    fn joined(&self, graph: Handle, tail: &[Handle]) -> Result<bool> {
        let mut reached = HashSet::new();
        let mut open = tail.to_vec();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(&self.state.nodes.get(node)?.dependencies);
            }
        }
        Ok(self.state.graphs.get(graph)?.nodes.iter().all(|node| reached.contains(node)))
    }

    /// Status, identity, graph and tail of the capture that a stream is in.
    fn capture_info(&self, stream: Handle) -> Result<Option<(c_int, u64, Handle)>> {
        let stream = self.stream(stream)?;
        let Some(capturing) = &self.state.streams.get(stream)?.capturing else {
            return Ok(None);
        };
        let capture = self.state.captures.get(capturing.capture)?;
        let status = if capture.valid { ACTIVE } else { INVALIDATED };
        Ok(Some((status, capturing.capture as u64, capture.graph)))
    }
}

fn info(stream: Handle, status: Out<c_int>, id: Out<u64>, graph: Out<Handle>) -> Result {
    let session = Session::begin_regardless()?;
    match session.capture_info(stream)? {
        None => status.set(NONE),
        Some((value, capture, captured)) => {
            status.set(value)?;
            id.set_if_wanted(capture);
            graph.set_if_wanted(captured);
            Ok(())
        }
    }
}

export! {
    fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint) {
        begin(stream, mode, None)
    }

    fn cuStreamBeginCaptureToGraph(
        stream: Handle,
        graph: Handle,
        dependencies: crate::boundary::In<Handle>,
        _edge_data: Raw,
        count: usize,
        mode: c_uint,
    ) {
        begin(stream, mode, Some((graph, dependencies.get_all(count)?)))
    }

    fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) {
        end(stream, graph)
    }

    fn cuStreamIsCapturing(stream: Handle, status: Out<c_int>) {
        let mut session = Session::begin_regardless()?;
        let resolved = session.stream(stream)?;
        session.refuse_implicit(resolved)?;
        status.set(session.capture_info(stream)?.map_or(NONE, |info| info.0))
    }

    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<c_int>, id: Out<u64>) {
        info(stream, status, id, Raw::NULL.as_out())
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle,
        status: Out<c_int>,
        id: Out<u64>,
        graph: Out<Handle>,
        dependencies: Raw,
        count: Out<usize>,
    ) {
        // The array of dependencies would have to be memory of the driver's own: the emulator does not hand it out.
        if !dependencies.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        count.set_if_wanted(0);
        info(stream, status, id, graph)
    }

    fn cuStreamGetCaptureInfo_v3(
        stream: Handle,
        status: Out<c_int>,
        id: Out<u64>,
        graph: Out<Handle>,
        dependencies: Raw,
        edge_data: Raw,
        count: Out<usize>,
    ) {
        if !dependencies.is_null() || !edge_data.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        count.set_if_wanted(0);
        info(stream, status, id, graph)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        let wanted = mode.get()?;
        if !matches!(wanted, GLOBAL | THREAD_LOCAL | RELAXED) {
            return Err(Error::INVALID_VALUE);
        }
        mode.set(MODE.replace(wanted))
    }
}
