//! The driver's state: one machine, and tables of what handles stand for.
//!
//! Handles are keys, never addresses, so that a stale one is `CUDA_ERROR_INVALID_HANDLE` and not a crash.
//! One lock guards the tables; it is never held while a kernel, a copy or a callback runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use fusion_machine::{Machine, Profile};

use crate::boundary::export;
use crate::capture::Capture;
use crate::clock::Timeline;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ffi::Handle;
use crate::function::Function;
use crate::graph::{Exec, Graph, Node};
use crate::host::HostBlock;
use crate::link::Link;
use crate::memory::Owned;
use crate::module::Module;
use crate::order::Order;
use crate::pending::Pending;
use crate::pool::Pool;
use crate::site::Sites;
use crate::stream::Stream;
use crate::{assemble, backing, peek, pending, report};
use crate::{boundary::Out, device};

/// What the driver says its version is: CUDA 13.0.
const VERSION: i32 = 13000;

/// The driver, from `cuInit` to the end of the process.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) machine: Machine,
    state: Mutex<State>,
    /// Told whenever a task of `State::pending` is done.
    pub(crate) done: Condvar,
    /// Held by whoever runs something on the machine: it does one thing at a time, in the order of the calls.
    busy: Mutex<()>,
}

/// Everything that handles stand for.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) contexts: Table<Context>,
    pub(crate) primary: device::PrimaryContext,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) links: Table<Link>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) nodes: Table<Node>,
    pub(crate) execs: Table<Exec>,
    pub(crate) captures: Table<Capture>,
    pub(crate) pools: Table<Pool>,
    /// The pool that the device has from the start, and the one that `cuMemAllocAsync` takes from.
    pub(crate) default_pool: Handle,
    pub(crate) current_pool: Handle,
    /// Device memory by address.
    pub(crate) owned: BTreeMap<u64, Owned>,
    /// Host memory that kernels may touch, by address.
    pub(crate) host_blocks: BTreeMap<usize, HostBlock>,
    pub(crate) timeline: Timeline,
    pub(crate) order: Order,
    pub(crate) pending: Pending,
    pub(crate) sites: Sites,
}

/// Objects by handle.
#[derive(Debug)]
pub(crate) struct Table<T>(HashMap<Handle, T>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Table<T> {
    /// Stores an object under a handle that nothing has had before.
    pub(crate) fn insert(&mut self, value: T) -> Handle {
        // Above the small numbers that stand for special streams, and never reused.
        static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
        let handle = NEXT.fetch_add(0x10, Ordering::Relaxed);
        self.0.insert(handle, value);
        handle
    }

    pub(crate) fn get(&self, handle: Handle) -> Result<&T> {
        self.0.get(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Result<&mut T> {
        self.0.get_mut(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Result<T> {
        self.0.remove(&handle).ok_or(Error::INVALID_HANDLE)
    }

    pub(crate) fn contains(&self, handle: Handle) -> bool {
        self.0.contains_key(&handle)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.0.iter().map(|(handle, value)| (*handle, value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut()
    }

    /// Removes and returns what the predicate picks.
    pub(crate) fn take_if(&mut self, pick: impl Fn(&T) -> bool) -> Vec<T> {
        self.0.extract_if(|_, value| pick(value)).map(|(_, value)| value).collect()
    }
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

thread_local! {
    /// The calling thread's stack of contexts; the current one is the last.
    static CONTEXTS: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// Looks at or changes the calling thread's stack of contexts, which is gone when the thread is about to end.
pub(crate) fn contexts<T>(use_them: impl FnOnce(&mut Vec<Handle>) -> T) -> Result<T> {
    CONTEXTS.try_with(|stack| use_them(&mut stack.borrow_mut())).map_err(|_| Error::DEINITIALIZED)
}

/// The driver, once it is initialised. A host function that a stream runs must not call it (`cuLaunchHostFunc`).
pub(crate) fn driver() -> Result<&'static Driver> {
    if pending::in_host_function() {
        return Err(Error::NOT_PERMITTED);
    }
    DRIVER.get().ok_or(Error::NOT_INITIALIZED)
}

/// Locks whatever a panic elsewhere may have left locked: the tables are consistent after every statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Driver {
    fn new(profile: Profile) -> Self {
        let machine = Machine::new(profile, report::machine_options());
        machine.memory().recognise_host(peek::is_readable);
        machine.assemble_with(assemble::assemble);
        if let Some(bytes) = backing::available() {
            machine.memory().limit_to(bytes);
        }
        let mut state = State::default();
        state.default_pool = state.pools.insert(Pool::default());
        state.current_pool = state.default_pool;
        Self { machine, state: Mutex::new(state), done: Condvar::new(), busy: Mutex::new(()) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Waits for tasks, with the tables free meanwhile.
    pub(crate) fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        open: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.done.wait_while(state, |state| open(state)).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the machine is free, and has it.
    pub(crate) fn busy(&self) -> MutexGuard<'_, ()> {
        lock(&self.busy)
    }
}

/// A call in a context: the locked state, and the context that is current on the calling thread.
pub(crate) struct Session {
    pub(crate) driver: &'static Driver,
    pub(crate) state: MutexGuard<'static, State>,
    pub(crate) context: Handle,
}

impl Session {
    /// Begins a call that works whatever has happened in the context before.
    pub(crate) fn begin_regardless() -> Result<Self> {
        let driver = driver()?;
        let context = contexts(|stack| stack.last().copied())?.ok_or(Error::INVALID_CONTEXT)?;
        let state = driver.state();
        if !state.contexts.contains(context) {
            return Err(Error::CONTEXT_IS_DESTROYED);
        }
        Ok(Self { driver, state, context })
    }

    /// Begins a call that fails when a kernel has failed in the context before.
    pub(crate) fn begin() -> Result<Self> {
        let session = Self::begin_regardless()?;
        session.sticky()?;
        Ok(session)
    }

    /// The error that an earlier kernel left in the context.
    pub(crate) fn sticky(&self) -> Result {
        let context = self.state.contexts.get(self.context)?;
        context.error.map_or(Ok(()), |error| {
            context.observed.set(true);
            Err(error)
        })
    }

    /// Begins a call that only puts a mark into a stream. Programs record events right behind a launch, when a
    /// GPU would not have begun it: such a call does not bring out what the kernel did wrong.
    pub(crate) fn begin_mark() -> Result<Self> {
        let session = Self::begin_regardless()?;
        if session.state.contexts.get(session.context)?.observed.get() {
            session.sticky()?;
        }
        Ok(session)
    }

    /// Begins a call that would wait for the device or change what work on it may see, which a capture forbids.
    pub(crate) fn begin_uncaptured() -> Result<Self> {
        let mut session = Self::begin()?;
        session.refuse_during_capture()?;
        Ok(session)
    }
}

export! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if DRIVER.get().is_none() {
            let profile = device::chosen_profile()?;
            report::opened(&DRIVER.get_or_init(|| Driver::new(profile)).machine.profile().name);
        }
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<i32>) {
        version.set(VERSION)
    }
}
