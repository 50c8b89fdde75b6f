//! The columns: long edges straight, parents over the middle of their children, no two cards touching.
//!
//! This is the method of Brandes and Köpf (2001). Slots are chained to the middle one of their neighbours in
//! four ways (from above or below, leaning left or right); each chain becomes one straight line, lines are
//! pushed together, and the middle of the four results is taken. Each of them keeps the order and the
//! distances within a row, and so does the middle.

use super::grid::{Grid, Slot};
use std::collections::HashSet;

/// Returns the middle of each slot; the leftmost edge of it all is at zero.
pub(super) fn columns(grid: &Grid, card_width: i64) -> Vec<i64> {
    let twisted = twisted_pairs(grid);
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    let mut results: Vec<(bool, Vec<i64>)> = Vec::with_capacity(ways.len());
    for (from_below, mirrored) in ways {
        let view = View::new(grid, from_below, mirrored);
        let root = view.straight_lines(&twisted);
        let mut columns = view.pushed_together(&root, card_width);
        if mirrored {
            for column in &mut columns {
                *column = -*column;
            }
        }
        results.push((mirrored, columns));
    }

    let extent = |columns: &[i64]| {
        let half = |slot: usize| grid.width(slot, card_width) / 2;
        let left = columns.iter().enumerate().map(|(slot, x)| x - half(slot)).min().unwrap_or(0);
        let right = columns.iter().enumerate().map(|(slot, x)| x + half(slot)).max().unwrap_or(0);
        (left, right)
    };
    // All four are laid over the narrowest: those that lean left at its left side, the others at its right.
    let narrowest =
        results.iter().map(|(_, columns)| extent(columns)).min_by_key(|(left, right)| right - left);
    let (left, right) = narrowest.unwrap_or((0, 0));
    for (mirrored, columns) in &mut results {
        let own = extent(columns);
        let shift = if *mirrored { right - own.1 } else { left - own.0 };
        for column in columns {
            *column += shift;
        }
    }
    let mut middle: Vec<i64> = (0..grid.slots.len())
        .map(|slot| {
            let mut four: Vec<i64> = results.iter().map(|(_, columns)| columns[slot]).collect();
            four.sort_unstable();
            (four[1] + four[2]).div_euclid(2)
        })
        .collect();
    let (left, _) = extent(&middle);
    for column in &mut middle {
        *column -= left;
    }
    middle
}

/// Finds the edges that cross the inside of a long edge, which must give way so that the long one is straight.
fn twisted_pairs(grid: &Grid) -> HashSet<(usize, usize)> {
    let mut twisted = HashSet::new();
    let place = places(&grid.rows, grid.slots.len());
    for pair in grid.rows.windows(2) {
        let (above, row) = (&pair[0], &pair[1]);
        let (mut low, mut next) = (0, 0);
        for (index, &slot) in row.iter().enumerate() {
            let inner = grid.slots[slot].up.iter().find(|&&up| !grid.is_card(up) && !grid.is_card(slot));
            if inner.is_none() && index + 1 != row.len() {
                continue;
            }
            let high = inner.map_or(above.len(), |&up| place[up]);
            for &between in &row[next..=index] {
                for &up in &grid.slots[between].up {
                    let outside = place[up] < low || high < place[up];
                    if outside && (grid.is_card(up) || grid.is_card(between)) {
                        twisted.insert((up, between));
                    }
                }
            }
            (low, next) = (high, index + 1);
        }
    }
    twisted
}

fn places(rows: &[Vec<usize>], slots: usize) -> Vec<usize> {
    let mut place = vec![0; slots];
    for row in rows {
        for (index, &slot) in row.iter().enumerate() {
            place[slot] = index;
        }
    }
    place
}

/// The grid as one of the four ways sees it: perhaps upside down, perhaps in a mirror.
struct View<'a> {
    grid: &'a Grid,
    rows: Vec<Vec<usize>>,
    place: Vec<usize>,
    from_below: bool,
}

impl<'a> View<'a> {
    fn new(grid: &'a Grid, from_below: bool, mirrored: bool) -> Self {
        let mut rows = grid.rows.clone();
        if from_below {
            rows.reverse();
        }
        if mirrored {
            for row in &mut rows {
                row.reverse();
            }
        }
        let place = places(&rows, grid.slots.len());
        Self { grid, rows, place, from_below }
    }

    /// Chains slots that shall stand in one straight line; returns the first of each slot's line.
    fn straight_lines(&self, twisted: &HashSet<(usize, usize)>) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.grid.slots.len()).collect();
        for row in &self.rows {
            let mut free_from = 0;
            for &slot in row {
                let neighbours = self.anchors(slot);
                let count = neighbours.len();
                if count == 0 {
                    continue;
                }
                for &other in &neighbours[(count - 1) / 2..=count / 2] {
                    let pair = if self.from_below { (slot, other) } else { (other, slot) };
                    let free = self.place[other] >= free_from && !twisted.contains(&pair);
                    if free {
                        root[slot] = root[other];
                        free_from = self.place[other] + 1;
                        break;
                    }
                }
            }
        }
        root
    }

    /// Lists the neighbours that a slot may stand in line with, by their places.
    fn anchors(&self, slot: usize) -> Vec<usize> {
        let Slot { up, down, light, .. } = &self.grid.slots[slot];
        let all = if self.from_below { down } else { up };
        let is_light = |other: usize| self.grid.slots[other].light;
        // Light edges are straight in themselves, but leave the cards at their ends to others.
        let mut anchors: Vec<usize> =
            all.iter().copied().filter(|&other| is_light(other) == *light).collect();
        anchors.sort_unstable_by_key(|&other| self.place[other]);
        anchors
    }

    /// Pushes the lines to the left as far as their rows allow, then back to the right where there is room.
    fn pushed_together(&self, root: &[usize], card_width: i64) -> Vec<i64> {
        let mut right_of: Vec<Vec<(usize, i64)>> = vec![Vec::new(); root.len()];
        let mut waiting = vec![0_usize; root.len()];
        for row in &self.rows {
            for pair in row.windows(2) {
                let space = self.grid.distance(pair[0], pair[1], card_width);
                right_of[root[pair[0]]].push((root[pair[1]], space));
                waiting[root[pair[1]]] += 1;
            }
        }
        let is_line = |slot: &usize| root[*slot] == *slot;
        let mut ready: Vec<usize> =
            (0..root.len()).filter(is_line).filter(|&line| waiting[line] == 0).collect();
        let mut column = vec![0; root.len()];
        let mut done = Vec::with_capacity(root.len());
        while let Some(line) = ready.pop() {
            done.push(line);
            for &(other, space) in &right_of[line] {
                column[other] = column[other].max(column[line] + space);
                waiting[other] -= 1;
                if waiting[other] == 0 {
                    ready.push(other);
                }
            }
        }
        for &line in done.iter().rev() {
            if let Some(limit) = right_of[line].iter().map(|&(other, space)| column[other] - space).min() {
                column[line] = column[line].max(limit);
            }
        }
        debug_assert_eq!(done.len(), (0..root.len()).filter(is_line).count(), "lines never circle");
        root.iter().map(|&line| column[line]).collect()
    }
}
