//! Which lane and register holds which element, worked out from what a device multiplies by what.

use std::collections::{BTreeMap, BTreeSet};

use crate::form::Form;

/// An element that a lane holds: number `slot` of those that the lane has of its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    pub(crate) lane: usize,
    pub(crate) slot: usize,
}

/// Where each element of A, B and the sums lies, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) a: Vec<Held>,
    pub(crate) b: Vec<Held>,
    pub(crate) sums: Vec<Held>,
}

impl Layout {
    /// What follows from the answers of a kernel `partners`: for each element of B and each sum, the number of the
    /// element of A that is multiplied for it, or 0.
    ///
    /// Two sums that need the same element of A are of one row, two that need the same element of B are of one
    /// column. Elements of A and B that are multiplied by each other have the same k. That is all that a device can
    /// tell: numbers of rows, columns and k are names. They are given as the manual gives them. Rows go by the first
    /// register and lane that has a sum of them, columns by the first lane and register, and k by the first register
    /// and lane of A. Nothing is returned where the answers are no product of matrices.
    pub(crate) fn from_answers(form: Form, answers: &[u32]) -> Option<Layout> {
        let [m, n, k] = form.sizes();
        let [of_a, of_b, of_sums] = form.held();
        let element = |number: usize, each: usize| Held { lane: number / each, slot: number % each };
        // For each sum, the elements of A and of B that it needs.
        let mut needs: BTreeMap<Held, (BTreeSet<Held>, BTreeSet<Held>)> = BTreeMap::new();
        let mut products: Vec<(Held, Held, Held)> = Vec::new();
        for (at, &answer) in answers.iter().enumerate().filter(|(_, answer)| **answer != 0) {
            let (b, sum) = (element(at / (32 * of_sums), of_b), element(at % (32 * of_sums), of_sums));
            let a = element(answer as usize - 1, of_a);
            let (left, right) = needs.entry(sum).or_default();
            left.insert(a);
            right.insert(b);
            products.push((a, b, sum));
        }
        let by_register = |held: &Held, each: usize| (held.slot / each, held.lane, held.slot);
        let rows = classes(needs.iter().map(|(sum, (a, _))| (a, *sum)), |held| by_register(held, 1));
        let columns = classes(needs.iter().map(|(sum, (_, b))| (b, *sum)), |held| (held.lane, held.slot));
        // The elements of A of the first row have all k; the others follow by who is multiplied by the same element
        // of B.
        let partners: BTreeMap<Held, BTreeSet<Held>> = products.iter().fold(BTreeMap::new(), |mut all, &(a, b, _)| {
            all.entry(a).or_default().insert(b);
            all
        });
        let terms = classes(partners.iter().map(|(a, b)| (b, *a)), |held| by_register(held, form.each()));
        let row_of = |sum: &Held| rows.iter().position(|row| row.contains(sum));
        let column_of = |sum: &Held| columns.iter().position(|column| column.contains(sum));
        let mut places: [BTreeMap<(usize, usize), Held>; 3] = Default::default();
        for (a, b, sum) in products {
            let (row, column) = (row_of(&sum)?, column_of(&sum)?);
            let term = terms.iter().position(|term| term.contains(&a))?;
            let found = [((row, term), a), ((term, column), b), ((row, column), sum)];
            for (places, (place, held)) in places.iter_mut().zip(found) {
                // An element is where it is, whichever product tells it.
                if *places.entry(place).or_insert(held) != held {
                    return None;
                }
            }
        }
        let [a, b, sums] = places.map(|places| places.into_values().collect::<Vec<_>>());
        let whole = a.len() == m * k && b.len() == k * n && sums.len() == m * n;
        (whole && rows.len() == m && columns.len() == n && terms.len() == k).then_some(Layout { a, b, sums })
    }
}

/// Those with the same key together, in the order of the first of each.
fn classes<'a, T: Ord>(
    keyed: impl Iterator<Item = (&'a BTreeSet<Held>, Held)>,
    order: impl Fn(&Held) -> T,
) -> Vec<Vec<Held>> {
    let mut by_key: BTreeMap<&BTreeSet<Held>, Vec<Held>> = BTreeMap::new();
    for (key, held) in keyed {
        by_key.entry(key).or_default().push(held);
    }
    let mut classes: Vec<Vec<Held>> = by_key.into_values().collect();
    classes.sort_by_key(|class| class.iter().map(&order).min());
    classes
}
