//! The lines of an allocation, made where a launch first touches them.

use std::sync::{Mutex, PoisonError};

use super::line::Line;
use super::row::LINE;
use crate::memory::Allocation;

/// Lines of a page, which share a lock.
const PAGE: usize = 32;

type Page = Option<Box<[Line; PAGE]>>;

/// What the race checks remember about an allocation.
#[derive(Debug)]
pub(crate) struct Shadow {
    pages: Box<[Mutex<Page>]>,
}

impl Shadow {
    pub(crate) fn new(allocation: &Allocation) -> Self {
        let lines = allocation.end() / LINE - allocation.base / LINE + 1;
        let pages = (lines as usize).div_ceil(PAGE);
        Self { pages: (0..pages).map(|_| Mutex::default()).collect() }
    }

    /// Forgets every line that a range touches.
    pub(crate) fn forget(&self, allocation: &Allocation, base: u64, size: u64, launch: u32) {
        for line in base / LINE..=(base + size.max(1) - 1) / LINE {
            self.line(allocation, line * LINE, launch, Line::clear);
        }
    }

    /// Lets `f` work on the line at an address; nobody else sees it meanwhile.
    #[inline(always)]
    pub(crate) fn line(&self, allocation: &Allocation, at: u64, launch: u32, f: impl FnOnce(&mut Line)) {
        let index = (at / LINE).wrapping_sub(allocation.base / LINE) as usize;
        let Some(page) = self.pages.get(index / PAGE) else { return };
        let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = page.get_or_insert_with(|| Box::new(std::array::from_fn(|_| Line::default())));
        let line = &mut lines[index % PAGE];
        if line.launch != launch {
            line.clear();
            line.launch = launch;
        }
        f(line);
    }
}
