//! Matrices that the lanes of a warp hold together, each lane a *fragment* (PTX ISA 9.7.14).

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixType {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S32,
    S8,
    U8,
    S4,
    U4,
    B1,
    E4m3,
    E5m2,
}

impl MatrixType {
    pub fn from_name(name: &str) -> Option<Self> {
        use MatrixType::*;
        let all = [F16, Bf16, Tf32, F32, F64, S32, S8, U8, S4, U4, B1, E4m3, E5m2];
        all.into_iter().find(|ty| ty.name() == name)
    }

    /// As PTX writes it, without the dot.
    pub fn name(self) -> &'static str {
        use MatrixType::*;
        match self {
            F16 => "f16",
            Bf16 => "bf16",
            Tf32 => "tf32",
            F32 => "f32",
            F64 => "f64",
            S32 => "s32",
            S8 => "s8",
            U8 => "u8",
            S4 => "s4",
            U4 => "u4",
            B1 => "b1",
            E4m3 => "e4m3",
            E5m2 => "e5m2",
        }
    }

    /// Width of an element.
    pub fn bits(self) -> u32 {
        use MatrixType::*;
        match self {
            B1 => 1,
            S4 | U4 => 4,
            S8 | U8 | E4m3 | E5m2 => 8,
            F16 | Bf16 => 16,
            Tf32 | F32 | S32 => 32,
            F64 => 64,
        }
    }

    /// Width of the registers that hold such elements.
    pub fn register_bits(self) -> u32 {
        self.bits().max(32)
    }

    pub fn is_integer(self) -> bool {
        use MatrixType::*;
        matches!(self, S32 | S8 | U8 | S4 | U4 | B1)
    }

    pub fn is_signed(self) -> bool {
        use MatrixType::*;
        matches!(self, S32 | S8 | S4)
    }
}

/// `.m16n8k16`: A has m rows and k columns, B has k rows and n columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

/// Which factor of D = A * B + C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    A,
    B,
    /// C and D.
    Sum,
}

/// A matrix with the places that its elements have in a warp's registers.
///
/// Every shape of the manual has its elements so: lane `4 * g + t` belongs to group `g`. A *block* of A has 8 rows, one for each group, and as
/// many columns as the registers of four lanes hold. A register has a block's elements of one row that stand side by side. Blocks
/// go down A's rows first. B is the same with rows and columns exchanged. C and D have blocks of 8 by 8, and a lane two elements of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    pub part: Part,
    pub rows: u32,
    pub columns: u32,
    pub ty: MatrixType,
    /// How many times the registers hold the same: `wmma` has more registers than elements of f16 fill.
    pub copies: u32,
}

impl Fragment {
    /// Elements that a register holds.
    pub fn per_register(&self) -> u32 {
        self.ty.register_bits() / self.ty.bits()
    }

    /// Different elements that a lane holds.
    pub fn elements(&self) -> u32 {
        self.rows * self.columns / 32
    }

    /// Registers that a lane needs.
    pub fn registers(&self) -> usize {
        (self.copies * self.elements() / self.per_register()) as usize
    }

    /// Row and column of an element of a lane. The element is bit field `element % per_register` of register `element / per_register`.
    pub fn place(&self, lane: u32, element: u32) -> (u32, u32) {
        let (group, within) = (lane / 4, lane % 4);
        let per = if self.part == Part::Sum { 2 } else { self.per_register() };
        let (block, inside) = (element / per, element % per);
        // What of a block lies along the groups, and along the lanes of a group.
        let (across, along) = (group, within * per + inside);
        match self.part {
            Part::A | Part::Sum => {
                let down = self.rows / 8;
                let wide = if self.part == Part::Sum { 8 } else { 4 * per };
                (8 * (block % down) + across, wide * (block / down) + along)
            }
            Part::B => {
                let down = self.rows / (4 * per);
                (4 * per * (block % down) + along, 8 * (block / down) + across)
            }
        }
    }
}

/// What is done with a product of two elements, or of two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MmaOp {
    MultiplyAdd,
    /// `.xor.popc` and `.and.popc` of single bits.
    XorPopc,
    AndPopc,
}

/// A form of `mma` and `wmma.mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    pub shape: Shape,
    pub a: MatrixType,
    pub b: MatrixType,
    pub c: MatrixType,
    pub d: MatrixType,
    pub op: MmaOp,
    /// Integers stay at the ends of s32 where the sum is beyond.
    pub satfinite: bool,
    /// Fragments are those of `wmma`.
    pub wmma: bool,
}

impl Mma {
    pub fn a(&self) -> Fragment {
        Fragment::of(Part::A, self.shape, self.a, self.wmma)
    }

    pub fn b(&self) -> Fragment {
        Fragment::of(Part::B, self.shape, self.b, self.wmma)
    }

    pub fn c(&self) -> Fragment {
        Fragment::of(Part::Sum, self.shape, self.c, self.wmma)
    }

    pub fn d(&self) -> Fragment {
        Fragment::of(Part::Sum, self.shape, self.d, self.wmma)
    }
}

/// A form of `wgmma.mma_async`: D = A * B + D of a warp group, 64 rows by `n` columns (PTX ISA 9.7.15.5.2).
///
/// Each of its four warps has 16 rows of A and of D. A lane's fragments of these are those of `mma` with 16 rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wgmma {
    pub n: u32,
    pub a: MatrixType,
    pub b: MatrixType,
    pub d: MatrixType,
    /// Integers stay at the ends of s32 where the sum is beyond.
    pub satfinite: bool,
    /// One of the factors is negated, and not both: `imm-scale-a` and `imm-scale-b`.
    pub negated: bool,
    /// In shared memory the elements of a column of A lie side by side, not those of a row: `imm-trans-a`.
    pub a_transposed: bool,
    /// The same of the rows of B: `imm-trans-b`.
    pub b_transposed: bool,
}

impl Wgmma {
    /// Rows that a warp has.
    pub const ROWS: u32 = 16;

    /// Columns of A: as many as 32 bytes hold.
    pub fn k(&self) -> u32 {
        256 / self.a.bits()
    }

    /// A warp's part of A.
    pub fn a(&self) -> Fragment {
        Fragment { part: Part::A, rows: Self::ROWS, columns: self.k(), ty: self.a, copies: 1 }
    }

    /// A warp's part of D.
    pub fn d(&self) -> Fragment {
        Fragment { part: Part::Sum, rows: Self::ROWS, columns: self.n, ty: self.d, copies: 1 }
    }
}

/// What a warp group does about its products besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpgroupOp {
    /// `wgmma.fence`: accesses to registers before it come before those of products behind it.
    Fence,
    /// `wgmma.commit_group`: the products begun so far are a group.
    Commit,
    /// `wgmma.wait_group`: waits until at most so many groups are under way.
    Wait(u32),
}

impl Fragment {
    /// A factor of a product of that shape.
    pub fn of(part: Part, Shape { m, n, k }: Shape, ty: MatrixType, wmma: bool) -> Self {
        let (rows, columns) = match part {
            Part::A => (m, k),
            Part::B => (k, n),
            Part::Sum => (m, n),
        };
        let once = Self { part, rows, columns, ty, copies: 1 };
        // `wmma` always has eight registers of f16 for A and for B.
        let registers = if wmma && ty == MatrixType::F16 && part != Part::Sum { 8 } else { once.registers() };
        Self { copies: (registers / once.registers().max(1)).max(1) as u32, ..once }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each element of each matrix has a place, and no other element has it.
    #[test]
    fn fragments_cover_their_matrix() {
        use MatrixType::*;
        let shapes =
            [(16, 8, 16, F16), (16, 8, 8, Tf32), (8, 8, 4, F64), (16, 8, 64, S4), (8, 8, 128, B1), (16, 8, 4, F64)];
        let wide = [(16, 16, 16, F16), (32, 8, 16, S8), (8, 32, 16, Bf16), (16, 16, 8, Tf32)];
        for (m, n, k, ty) in shapes.into_iter().chain(wide) {
            let sum = if ty == F64 { F64 } else { F32 };
            for (part, ty) in [(Part::A, ty), (Part::B, ty), (Part::Sum, sum)] {
                let fragment = Fragment::of(part, Shape { m, n, k }, ty, false);
                let mut seen = vec![false; (fragment.rows * fragment.columns) as usize];
                for lane in 0..32 {
                    for element in 0..fragment.elements() {
                        let (row, column) = fragment.place(lane, element);
                        let at = (row * fragment.columns + column) as usize;
                        assert!(!std::mem::replace(&mut seen[at], true), "{fragment:?} {row} {column}");
                    }
                }
                assert!(seen.iter().all(|seen| *seen), "{fragment:?}");
            }
        }
    }

    /// As the manual writes them out for m16n8k16 (PTX ISA 9.7.14.5.8).
    #[test]
    fn fragments_are_those_of_the_manual() {
        let shape = Shape { m: 16, n: 8, k: 16 };
        let a = Fragment::of(Part::A, shape, MatrixType::F16, false);
        let b = Fragment::of(Part::B, shape, MatrixType::F16, false);
        let c = Fragment::of(Part::Sum, shape, MatrixType::F32, false);
        for lane in 0..32 {
            let (group, within) = (lane / 4, lane % 4);
            for i in 0..8 {
                let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                let column = within * 2 + (i & 1) + if i < 4 { 0 } else { 8 };
                assert_eq!(a.place(lane, i), (row, column));
            }
            for i in 0..4 {
                assert_eq!(b.place(lane, i), (within * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, group));
                assert_eq!(c.place(lane, i), (if i < 2 { group } else { group + 8 }, within * 2 + (i & 1)));
            }
        }
        assert_eq!([a.registers(), b.registers(), c.registers()], [4, 2, 4]);
    }
}
