//! Rows that every block finds at zero, without zeroing what no block has touched.
//!
//! A thread may have 512 KiB of local memory, a warp 16 MiB, and a launch has many blocks: to clear all of it for each takes
//! longer than most kernels run.

/// Rows in a page, which is cleared as a whole.
const PAGE: usize = 32;

/// Rows that are zero unless they were touched since [`Paged::clear`].
#[derive(Debug)]
pub(crate) struct Paged<T> {
    rows: Vec<T>,
    zero: T,
    /// For each page whether any of its rows was touched.
    touched: Vec<bool>,
    /// Those that were.
    pages: Vec<usize>,
}

impl<T: Copy> Paged<T> {
    pub(crate) fn new(zero: T) -> Self {
        Self { rows: Vec::new(), zero, touched: Vec::new(), pages: Vec::new() }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Has at least so many rows. New ones are zero.
    pub(crate) fn grow(&mut self, rows: usize) {
        if self.rows.len() < rows {
            self.rows.resize(rows, self.zero);
            self.touched.resize(rows.div_ceil(PAGE), false);
        }
    }

    /// Makes every row zero.
    pub(crate) fn clear(&mut self) {
        for page in self.pages.drain(..) {
            let end = self.rows.len().min((page + 1) * PAGE);
            self.rows[page * PAGE..end].fill(self.zero);
            self.touched[page] = false;
        }
    }

    /// Makes every row zero, and leaves no more than so many.
    pub(crate) fn shrink(&mut self, rows: usize) {
        self.clear();
        self.rows.truncate(rows);
        self.touched.truncate(rows.div_ceil(PAGE));
    }

    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> Option<&T> {
        self.rows.get(row)
    }

    /// A row to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, row: usize) -> Option<&mut T> {
        let found = self.rows.get_mut(row)?;
        let page = row / PAGE;
        if !self.touched[page] {
            self.touched[page] = true;
            self.pages.push(page);
        }
        Some(found)
    }

    /// Calls `f` for the rows of a range that are not zero, and maybe for some that are.
    pub(crate) fn each_touched(&mut self, from: usize, to: usize, mut f: impl FnMut(&mut T)) {
        let to = to.min(self.rows.len());
        if from >= to {
            return;
        }
        for page in from / PAGE..to.div_ceil(PAGE) {
            if self.touched[page] {
                let (first, end) = (from.max(page * PAGE), to.min((page + 1) * PAGE));
                self.rows[first..end].iter_mut().for_each(&mut f);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_touched_is_zero_again() {
        let mut rows = Paged::new(0_u8);
        rows.grow(100);
        for row in [0, 31, 32, 99] {
            *rows.get_mut(row).unwrap() = 7;
        }
        assert!(rows.get_mut(100).is_none());
        rows.grow(200);
        *rows.get_mut(199).unwrap() = 7;
        let mut seen = 0;
        rows.each_touched(31, 99, |row| seen += usize::from(*row));
        assert_eq!((seen, rows.get(99), rows.get(199), rows.get(200)), (14, Some(&7), Some(&7), None));
        rows.shrink(50);
        rows.grow(200);
        assert!((0..200).all(|row| rows.get(row) == Some(&0)));
        let mut any = false;
        rows.each_touched(0, 500, |_| any = true);
        rows.each_touched(300, 500, |_| any = true);
        rows.each_touched(205, 210, |_| any = true);
        assert!(!any);
        *rows.get_mut(3).unwrap() = 1;
        rows.clear();
        assert_eq!((rows.get(3), rows.len()), (Some(&0), 200));
    }
}
