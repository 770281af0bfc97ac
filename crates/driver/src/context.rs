//! Contexts: what owns memory, streams and modules, and what a kernel's fault breaks.

use std::cell::Cell;
use std::ffi::{c_int, c_uint};

use crate::boundary::{Out, Raw, export};
use crate::driver::{Driver, Session, State, contexts, driver};
use crate::error::{Error, Result};
use crate::ffi::{Device, Handle};
use crate::stream::Stream;

/// `CUlimit`, by number: stack size, printf buffer, heap, nested synchronisation, pending launches, L2 fetch granularity, persisting L2.
const LIMITS: [usize; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];
/// The heap's size, which is settled once a kernel that uses the heap was launched.
const MALLOC_HEAP_SIZE: c_uint = 2;
/// The bits of `CUctx_flags`.
const FLAGS: c_uint = 0xff;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) default_stream: Handle,
    pub(crate) per_thread_stream: Handle,
    /// What a kernel's fault left. Every call that touches the device returns it until the context is gone.
    pub(crate) error: Option<Error>,
    /// Whether a call has returned it. A GPU works behind its host's back: until then, marks in streams still succeed.
    pub(crate) observed: Cell<bool>,
    flags: c_uint,
    limits: [usize; LIMITS.len()],
    cache_config: c_uint,
    shared_config: c_uint,
}

impl Context {
    pub(crate) fn create(state: &mut State, flags: c_uint) -> Handle {
        let handle = state.contexts.insert(Self {
            default_stream: 0,
            per_thread_stream: 0,
            error: None,
            observed: Cell::new(false),
            flags,
            limits: LIMITS,
            cache_config: 0,
            shared_config: 1,
        });
        let default_stream = state.streams.insert(Stream::new(handle, true, 0));
        let per_thread_stream = state.streams.insert(Stream::new(handle, true, 0));
        if let Ok(context) = state.contexts.get_mut(handle) {
            context.default_stream = default_stream;
            context.per_thread_stream = per_thread_stream;
        }
        handle
    }

    /// Destroys a context with everything that belongs to it, the error in it included.
    pub(crate) fn destroy(driver: &Driver, handle: Handle) -> Result {
        // Whatever is running in it ends first.
        driver.settle();
        let _busy = driver.busy();
        let mut state = driver.state();
        state.contexts.remove(handle).map_err(|_| Error::INVALID_CONTEXT)?;
        for stream in state.streams.take_if(|s| s.context == handle) {
            state.drop_tasks(stream.queue);
        }
        driver.done.notify_all();
        state.events.take_if(|e| e.context == handle);
        state.captures.take_if(|c| c.context == handle);
        for module in state.modules.take_if(|m| m.context == handle) {
            module.unload(driver, &mut state);
        }
        state.release_memory_of(driver, handle);
        driver.machine.drop_heap();
        Ok(())
    }
}

/// The context that a null handle stands for is the current one.
fn begin_in(context: Handle) -> Result<Session> {
    if context == 0 {
        return Session::begin_regardless();
    }
    let driver = driver()?;
    let state = driver.state();
    if !state.contexts.contains(context) {
        return Err(Error::INVALID_CONTEXT);
    }
    Ok(Session { driver, state, context })
}

fn create(out: Out<Handle>, flags: c_uint, device: Device) -> Result {
    let driver = driver()?;
    out.required()?;
    if device != 0 {
        return Err(Error::INVALID_DEVICE);
    }
    if flags & !FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let handle = Context::create(&mut driver.state(), flags);
    contexts(|stack| stack.push(handle))?;
    out.set(handle)
}

fn synchronize(context: Handle) -> Result {
    let mut session = begin_in(context)?;
    session.sticky()?;
    session.refuse_during_capture()?;
    let context = session.context;
    let mut session = session.wait_for_context(context)?;
    session.state.host_waits_for_context(context);
    Ok(())
}

export! {
    fn cuCtxCreate_v2(context: Out<Handle>, flags: c_uint, device: Device) {
        create(context, flags, device)
    }

    fn cuCtxCreate_v3(context: Out<Handle>, _affinity: Raw, affinities: c_int, flags: c_uint, device: Device) {
        if affinities != 0 {
            return Err(Error::UNSUPPORTED_EXEC_AFFINITY);
        }
        create(context, flags, device)
    }

    fn cuCtxCreate_v4(context: Out<Handle>, params: Raw, flags: c_uint, device: Device) {
        if !params.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        create(context, flags, device)
    }

    fn cuCtxDestroy_v2(context: Handle) {
        let driver = driver()?;
        if driver.state().primary.context == Some(context) {
            return Err(Error::INVALID_CONTEXT);
        }
        Context::destroy(driver, context)?;
        contexts(|stack| {
            if stack.last() == Some(&context) {
                stack.pop();
            }
        })
    }

    fn cuCtxPushCurrent_v2(context: Handle) {
        begin_in(context)?;
        contexts(|stack| stack.push(context))
    }

    fn cuCtxPopCurrent_v2(context: Out<Handle>) {
        driver()?;
        let popped = contexts(Vec::pop)?.ok_or(Error::INVALID_CONTEXT)?;
        context.set_if_wanted(popped);
        Ok(())
    }

    fn cuCtxSetCurrent(context: Handle) {
        if context != 0 {
            begin_in(context)?;
        } else {
            driver()?;
        }
        contexts(|stack| {
            stack.pop();
            if context != 0 {
                stack.push(context);
            }
        })
    }

    fn cuCtxGetCurrent(context: Out<Handle>) {
        driver()?;
        context.set(contexts(|stack| stack.last().copied())?.unwrap_or(0))
    }

    fn cuCtxGetDevice(device: Out<Device>) {
        Session::begin_regardless()?;
        device.set(0)
    }

    fn cuCtxGetDevice_v2(device: Out<Device>, context: Handle) {
        begin_in(context)?;
        device.set(0)
    }

    fn cuCtxGetId(context: Handle, id: Out<u64>) {
        id.set(begin_in(context)?.context as u64)
    }

    fn cuCtxGetApiVersion(context: Handle, version: Out<c_uint>) {
        begin_in(context)?;
        version.set(3020)
    }

    fn cuCtxSynchronize() {
        synchronize(0)
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        synchronize(context)
    }

    fn cuCtxGetFlags(flags: Out<c_uint>) {
        let session = Session::begin_regardless()?;
        flags.set(session.state.contexts.get(session.context)?.flags)
    }

    fn cuCtxSetFlags(flags: c_uint) {
        let mut session = Session::begin_regardless()?;
        if flags & !FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let context = session.context;
        session.state.contexts.get_mut(context)?.flags = flags;
        Ok(())
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: c_uint) {
        let session = Session::begin()?;
        let limits = &session.state.contexts.get(session.context)?.limits;
        value.set(*limits.get(limit as usize).ok_or(Error::UNSUPPORTED_LIMIT)?)
    }

    fn cuCtxSetLimit(limit: c_uint, value: usize) {
        let mut session = Session::begin()?;
        let context = session.context;
        let limits = &mut session.state.contexts.get_mut(context)?.limits;
        let old = limits.get_mut(limit as usize).ok_or(Error::UNSUPPORTED_LIMIT)?;
        if limit == MALLOC_HEAP_SIZE && !session.driver.machine.set_heap_bytes(value as u64) {
            return Err(Error::INVALID_VALUE);
        }
        *old = value;
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<c_uint>) {
        let session = Session::begin()?;
        config.set(session.state.contexts.get(session.context)?.cache_config)
    }

    fn cuCtxSetCacheConfig(config: c_uint) {
        let mut session = Session::begin()?;
        if config > 3 {
            return Err(Error::INVALID_VALUE);
        }
        let context = session.context;
        session.state.contexts.get_mut(context)?.cache_config = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Out<c_uint>) {
        let session = Session::begin()?;
        config.set(session.state.contexts.get(session.context)?.shared_config)
    }

    fn cuCtxSetSharedMemConfig(config: c_uint) {
        let mut session = Session::begin()?;
        let context = session.context;
        // The banks of every emulated GPU are four bytes wide, whatever was asked for.
        session.state.contexts.get_mut(context)?.shared_config = if config > 2 { return Err(Error::INVALID_VALUE) } else { 1 };
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        Session::begin()?;
        least.set_if_wanted(crate::stream::LEAST_PRIORITY);
        greatest.set_if_wanted(crate::stream::GREATEST_PRIORITY);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        Session::begin().map(|_| ())
    }
}
