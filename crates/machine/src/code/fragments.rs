//! Where the elements that a warp's lanes hold lie among all of their matrix.

use fusion_ptx::ast::{Fragment, Mma};

/// Of the matrices of a product: A, C and D row by row, and B column by column.
#[derive(Clone, Debug)]
pub(crate) struct Fragments {
    pub(crate) a: Places,
    pub(crate) b: Places,
    pub(crate) c: Places,
    pub(crate) d: Places,
}

/// A lane's first element lies at a place of the lane's own, and each other one so much further on, which is the same for all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) of_lanes: [usize; 32],
    pub(crate) of_elements: Vec<usize>,
    /// Bits of an element, and how many of them a register holds.
    pub(crate) bits: u32,
    pub(crate) per_register: usize,
    /// Elements of the matrix.
    pub(crate) count: usize,
}

impl Fragments {
    pub(crate) fn of(form: &Mma) -> Self {
        Self {
            a: Places::new(&form.a(), false),
            b: Places::new(&form.b(), true),
            c: Places::new(&form.c(), false),
            d: Places::new(&form.d(), false),
        }
    }
}

impl Places {
    fn new(fragment: &Fragment, by_columns: bool) -> Self {
        let Fragment { rows, columns, .. } = *fragment;
        let place = |lane: usize, element: u32| {
            let (row, column) = fragment.place(lane as u32, element);
            (if by_columns { column * rows + row } else { row * columns + column }) as usize
        };
        Self {
            of_lanes: std::array::from_fn(|lane| place(lane, 0)),
            of_elements: (0..fragment.elements()).map(|element| place(0, element)).collect(),
            bits: fragment.ty.bits(),
            per_register: fragment.per_register() as usize,
            count: (rows * columns) as usize,
        }
    }
}
