//! A box that is cut from a tensor: its rows, and where each lies.

use super::{RANKS, TensorMap};

/// A box whose first element has some coordinates, which may lie outside of the tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'m> {
    map: &'m TensorMap,
    start: [i64; RANKS],
}

/// Elements of a box that differ in the innermost dimension alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Where it begins among the bytes of the box.
    pub(crate) at: u64,
    /// Bytes before those that lie in the tensor, and of these the number. Of a row that lies outside it is 0.
    pub(crate) before: u64,
    pub(crate) inside: u64,
    /// The address of the first byte that lies in the tensor.
    pub(crate) from: u64,
}

impl<'m> Cut<'m> {
    pub(crate) fn new(map: &'m TensorMap, start: [i64; RANKS]) -> Self {
        Self { map, start }
    }

    /// Bytes of a row in shared memory.
    pub(crate) fn width(&self) -> u64 {
        u64::from(self.map.box_dims[0]) * self.map.element.bytes()
    }

    /// Bytes from one row to the next in shared memory. Under a pattern a row has as many as the pattern spans, also where the box is
    /// narrower (CUDA C++ Programming Guide, *TMA Swizzle*).
    fn pitch(&self) -> u64 {
        self.map.swizzle.span().unwrap_or_else(|| self.width())
    }

    /// Elements along a dimension but the innermost.
    fn count(&self, axis: usize) -> u64 {
        match axis < self.map.rank {
            true => u64::from(self.map.box_dims[axis].div_ceil(self.map.steps[axis].max(1))),
            false => 1,
        }
    }

    /// Bytes of the box, elements outside of the tensor among them: what an mbarrier is told of.
    pub(crate) fn bytes(&self) -> u64 {
        self.width() * self.count_rows()
    }

    /// Bytes that the box takes up in shared memory.
    pub(crate) fn room(&self) -> u64 {
        self.pitch() * self.count_rows()
    }

    fn count_rows(&self) -> u64 {
        (1..RANKS).map(|axis| self.count(axis)).product()
    }

    /// In the order in which they lie in shared memory.
    pub(crate) fn rows(self) -> impl Iterator<Item = Row> + use<'m> {
        (0..self.count_rows()).map(move |row| self.row(row))
    }

    fn row(&self, number: u64) -> Row {
        let map = self.map;
        let (mut left, mut from, mut outside) = (number, map.address, false);
        for axis in 1..map.rank {
            let step = i64::from(map.steps[axis].max(1));
            let index = self.start[axis] + (left % self.count(axis)) as i64 * step;
            left /= self.count(axis);
            outside |= index < 0 || index as u64 >= map.dims[axis];
            from = from.wrapping_add((index as u64).wrapping_mul(map.strides[axis - 1]));
        }
        let element = map.element.bytes();
        let (first, end) = (self.start[0], self.start[0] + i64::from(map.box_dims[0]));
        let low = first.max(0);
        let high = end.min(i64::try_from(map.dims[0]).unwrap_or(i64::MAX)).max(low);
        let inside = if outside { 0 } else { (high - low) as u64 * element };
        let before = if inside == 0 { 0 } else { (low - first) as u64 * element };
        let from = from.wrapping_add(low as u64 * element);
        Row { at: number * self.pitch(), before, inside, from }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Swizzle;
    use super::super::tests::plane;
    use super::*;

    fn rows(map: &TensorMap, x: i64, y: i64) -> Vec<(u64, u64, u64)> {
        let rows = Cut::new(map, [x, y, 0, 0, 0]).rows();
        rows.map(|row| (row.before, row.inside, if row.inside == 0 { 0 } else { row.from - map.address })).collect()
    }

    #[test]
    fn rows_lie_a_stride_apart() {
        let map = plane();
        assert_eq!(Cut::new(&map, [0; 5]).bytes(), 128);
        assert_eq!(rows(&map, 8, 2), [(0, 32, 224), (0, 32, 320), (0, 32, 416), (0, 32, 512)]);
        let at: Vec<u64> = Cut::new(&map, [0; 5]).rows().map(|row| row.at).collect();
        assert_eq!(at, [0, 32, 64, 96]);
    }

    #[test]
    fn what_lies_outside_is_cut_off() {
        let map = plane();
        assert_eq!(rows(&map, -3, -1), [(0, 0, 0), (12, 20, 0), (12, 20, 96), (12, 20, 192)]);
        assert_eq!(rows(&map, 16, 8), [(0, 16, 832), (0, 16, 928), (0, 0, 0), (0, 0, 0)]);
        assert!(rows(&map, 20, 0).iter().all(|row| row.1 == 0));
        assert!(rows(&map, i64::from(i32::MIN), i64::from(i32::MAX)).iter().all(|row| row.1 == 0));
    }

    #[test]
    fn steps_leave_rows_out() {
        let map = TensorMap { steps: [5, 3, 1, 1, 1], ..plane() };
        assert_eq!(Cut::new(&map, [0; 5]).bytes(), 64);
        assert_eq!(rows(&map, 0, 1), [(0, 32, 96), (0, 32, 384)]);
    }

    #[test]
    fn a_narrow_row_takes_up_what_the_pattern_spans() {
        let map = TensorMap { box_dims: [4, 4, 1, 1, 1], swizzle: Swizzle::Bytes64, ..plane() };
        let cut = Cut::new(&map, [0; 5]);
        assert_eq!((cut.bytes(), cut.room()), (64, 256));
        assert_eq!(cut.rows().map(|row| row.at).collect::<Vec<_>>(), [0, 64, 128, 192]);
    }

    #[test]
    fn inner_dimensions_come_first() {
        let map =
            TensorMap { rank: 3, dims: [8, 2, 3, 1, 1], strides: [32, 64, 0, 0], box_dims: [8, 2, 2, 1, 1], ..plane() };
        let from: Vec<u64> = Cut::new(&map, [0, 0, 1, 0, 0]).rows().map(|row| row.from - map.address).collect();
        assert_eq!(from, [64, 96, 128, 160]);
    }
}
