//! What a causal mask lets a kernel skip.

use fusion_lesson::{grouped, new_table};

/// Queries and keys of a tile.
const TILES: [[usize; 2]; 2] = [[64, 64], [128, 64]];

/// Tiles of a head: all of them, those with a key that some query of the tile may see, and among these those with one
/// that some may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tiles {
    all: usize,
    needed: usize,
    masked: usize,
}

impl Tiles {
    /// Query i may see keys 0 to i.
    fn of(length: usize, [queries, keys]: [usize; 2]) -> Tiles {
        let (mut needed, mut masked) = (0, 0);
        let columns = length.div_ceil(keys);
        for first in (0..length).step_by(queries) {
            let last = (first + queries).min(length) - 1;
            needed += last / keys + 1;
            // All keys of these tiles are seen by the tile's first query, and so by all.
            masked += last / keys + 1 - (first + 1) / keys;
        }
        Tiles { all: columns * length.div_ceil(queries), needed, masked }
    }
}

pub(crate) fn show(lengths: &[usize]) -> String {
    let mut text = "\n5. Tiles of scores under a causal mask, by arithmetic\n".to_owned();
    for [queries, keys] in TILES {
        let header = ["tokens", "tiles", "needed", "skipped", "with a mask", "at most faster", "useful scores"];
        let mut table = new_table(&header);
        for &length in lengths {
            let tiles = Tiles::of(length, [queries, keys]);
            let percent = |part: usize, of: usize| format!("{:.0}%", 100.0 * part as f64 / of as f64);
            table.add_row([
                grouped(length),
                grouped(tiles.all),
                grouped(tiles.needed),
                percent(tiles.all - tiles.needed, tiles.all),
                grouped(tiles.masked),
                format!("{:.2}x", tiles.all as f64 / tiles.needed as f64),
                percent(length * (length + 1) / 2, tiles.needed * queries * keys),
            ]);
        }
        text += &format!("\n{queries} queries x {keys} keys\n{table}\n");
    }
    text += "\nNeeded tiles have a score that counts, and those with a mask also one that does not. Useful scores are those\n\
             that count, of all that needed tiles have.";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_those_that_scores_say() {
        for length in [1, 17, 64, 65, 128, 200, 333] {
            for [queries, keys] in TILES {
                let (mut needed, mut masked, mut all) = (0, 0, 0);
                for first in (0..length).step_by(queries) {
                    for key in (0..length).step_by(keys) {
                        let rows = first..(first + queries).min(length);
                        // A tile has places for keys that there are not: they are masked too, as the last query may
                        // see all others.
                        let seen = |i: usize| (key..key + keys).map(move |j| j <= i);
                        all += 1;
                        needed += usize::from(rows.clone().flat_map(seen).any(|seen| seen));
                        let mixed =
                            rows.clone().flat_map(seen).any(|seen| seen) && !rows.flat_map(seen).all(|seen| seen);
                        masked += usize::from(mixed);
                    }
                }
                assert_eq!(
                    Tiles::of(length, [queries, keys]),
                    Tiles { all, needed, masked },
                    "{length} {queries} {keys}"
                );
            }
        }
    }
}
