//! The order of the slots in each row, chosen so that few edges cross.
//!
//! Sweeps down and up sort each row by where its neighbours stand on average; the best order seen is kept.
//! Equals keep their order, so steps that could stand either way stand as they are listed.

use super::grid::Grid;
use super::int;

/// How much sorting and counting a drawing may cost, in edges and slots looked at.
const EFFORT: usize = 400_000;
/// More sweeps than this have never been seen to help.
const MOST_SWEEPS: usize = 24;

/// Reorders the rows of a grid.
pub(super) fn reduce_crossings(grid: &mut Grid) {
    let size = grid.slots.len() + grid.slots.iter().map(|slot| slot.down.len()).sum::<usize>();
    let sweeps = (EFFORT / size.max(1)).clamp(2, MOST_SWEEPS);
    let mut place = vec![0; grid.slots.len()];
    for row in &grid.rows {
        note(row, &mut place);
    }
    let mut best = (crossings(grid, &place), grid.rows.clone());
    for sweep in 0..sweeps {
        if best.0 == 0 {
            break;
        }
        if sweep % 2 == 0 {
            (1..grid.rows.len()).for_each(|row| sort_row(grid, row, row - 1, &mut place));
        } else {
            (1..grid.rows.len()).rev().for_each(|row| sort_row(grid, row - 1, row, &mut place));
        }
        if grid.is_small() {
            swap_neighbours(grid, &mut place);
        }
        let count = crossings(grid, &place);
        if count < best.0 {
            best = (count, grid.rows.clone());
        }
    }
    grid.rows = best.1;
}

/// Writes down where each slot of a row stands.
fn note(row: &[usize], place: &mut [usize]) {
    for (index, &slot) in row.iter().enumerate() {
        place[slot] = index;
    }
}

/// Sorts one row by the average place of its neighbours in the row beside it.
fn sort_row(grid: &mut Grid, row: usize, beside: usize, place: &mut [usize]) {
    const FINE: i64 = 1 << 16;
    let (own, other) = (int(grid.rows[row].len()), int(grid.rows[beside].len()));
    let key = |slot: usize| {
        let neighbours = if beside < row { &grid.slots[slot].up } else { &grid.slots[slot].down };
        if neighbours.is_empty() {
            return int(place[slot]) * other * FINE / own;
        }
        neighbours.iter().map(|&slot| int(place[slot])).sum::<i64>() * FINE / int(neighbours.len())
    };
    let mut keyed: Vec<(i64, usize)> = grid.rows[row].iter().map(|&slot| (key(slot), slot)).collect();
    keyed.sort_by_key(|&(key, _)| key);
    grid.rows[row] = keyed.into_iter().map(|(_, slot)| slot).collect();
    note(&grid.rows[row], place);
}

/// Swaps neighbours wherever that alone removes crossings.
fn swap_neighbours(grid: &mut Grid, place: &mut [usize]) {
    for row in 0..grid.rows.len() {
        for left in 1..grid.rows[row].len() {
            let (a, b) = (grid.rows[row][left - 1], grid.rows[row][left]);
            let between = |a: usize, b: usize| {
                let (a, b) = (&grid.slots[a], &grid.slots[b]);
                inverted(&a.up, &b.up, place) + inverted(&a.down, &b.down, place)
            };
            if between(b, a) < between(a, b) {
                grid.rows[row].swap(left - 1, left);
                place.swap(a, b);
            }
        }
    }
}

/// Counts the pairs of which the one from the left slot ends right of the one from the right slot.
fn inverted(left: &[usize], right: &[usize], place: &[usize]) -> usize {
    let sorted = |slots: &[usize]| {
        let mut places: Vec<usize> = slots.iter().map(|&slot| place[slot]).collect();
        places.sort_unstable();
        places
    };
    let (left, right) = (sorted(left), sorted(right));
    let mut passed = 0;
    left.iter()
        .map(|&end| {
            while right.get(passed).is_some_and(|&other| other < end) {
                passed += 1;
            }
            passed
        })
        .sum()
}

/// Counts all crossings, row by row, with a tree of partial sums.
fn crossings(grid: &Grid, place: &[usize]) -> usize {
    let mut total = 0;
    for (index, row) in grid.rows.iter().enumerate() {
        let Some(below) = grid.rows.get(index + 1) else { break };
        let mut ends = vec![0_usize; below.len() + 1];
        let mut seen = 0;
        for &slot in row {
            let mut places: Vec<usize> = grid.slots[slot].down.iter().map(|&slot| place[slot]).collect();
            places.sort_unstable();
            for &end in &places {
                let (mut at, mut not_right) = (end + 1, 0);
                while at > 0 {
                    not_right += ends[at];
                    at &= at - 1;
                }
                total += seen - not_right;
            }
            for end in places {
                seen += 1;
                let mut at = end + 1;
                while at < ends.len() {
                    ends[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::super::super::dag::Dag;
    use super::super::super::model::{Edge, EdgeKind};
    use super::*;

    #[test]
    fn a_twisted_ladder_is_untwisted() {
        let edges: Vec<Edge> =
            (0..5).map(|from| Edge { from, to: 9 - from, kind: EdgeKind::Needs }).collect();
        let mut grid = Grid::new(&Dag::new(10, &edges), &[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let places = |grid: &Grid| {
            let mut place = vec![0; 10];
            grid.rows.iter().for_each(|row| note(row, &mut place));
            place
        };
        assert_eq!(crossings(&grid, &places(&grid)), 10);
        reduce_crossings(&mut grid);
        assert_eq!(crossings(&grid, &places(&grid)), 0);
    }
}
