//! Where everything stands: a layered drawing in the manner of Sugiyama, in whole pixels.
//!
//! Steps get rows ([`rows`]), long edges get a place in every row that they pass ([`grid`]), rows are sorted so
//! that few edges cross ([`order`]), and columns are found that keep long edges straight and parents over
//! their children ([`place`]). All of it is bounded: past [`grid::MOST_CARDS`] the same steps run with less
//! effort, and nothing is recursive. Integers keep the result the same on every machine.

mod grid;
mod order;
mod place;
mod rows;

#[cfg(test)]
mod tests;

use super::dag::Dag;
use grid::Grid;

/// The least and most space between two rows; edges that travel far sideways get more of it.
const ROW_GAP: (i64, i64) = (44, 112);

/// A finished layout; all coordinates are pixels from its top left corner.
pub(super) struct Layout {
    /// Where each node's card stands.
    pub(super) cards: Vec<Card>,
    /// How each edge of the [`Dag`] runs, in the same order.
    pub(super) routes: Vec<Route>,
    /// The width of it all.
    pub(super) width: i64,
    /// The height of it all.
    pub(super) height: i64,
}

/// A rectangle for one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Card {
    pub(super) left: i64,
    pub(super) top: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// An edge's way from the bottom of one card, between the cards of other rows, to the top of another.
pub(super) struct Route {
    /// Where it starts.
    pub(super) start: (i64, i64),
    /// The rows that it passes: the column, and where the row begins and ends.
    pub(super) passes: Vec<(i64, i64, i64)>,
    /// Where it ends.
    pub(super) end: (i64, i64),
}

/// Lays out cards of one width; every row is as high as its highest card.
pub(super) fn layout(dag: &Dag, card_width: i64, heights: &[i64]) -> Layout {
    let rows = rows::rows(dag);
    let mut grid = Grid::new(dag, &rows);
    order::reduce_crossings(&mut grid);
    let columns = place::columns(&grid, card_width);
    let ports = card_width * 3 / 8;
    let bands = bands(&grid, &columns, heights, ports);

    let cards: Vec<Card> = (0..heights.len())
        .map(|node| {
            let (top, bottom) = bands[grid.slots[node].row];
            Card { left: columns[node] - card_width / 2, top, width: card_width, height: bottom - top }
        })
        .collect();
    let routes = grid.chains.iter().map(|chain| route(chain, &grid, &columns, &bands, ports)).collect();
    let right_of = |slot: usize| columns[slot] + grid.width(slot, card_width) / 2;
    Layout {
        cards,
        routes,
        width: (0..columns.len()).map(right_of).max().unwrap_or(0),
        height: bands.last().map_or(0, |&(_, bottom)| bottom),
    }
}

/// Returns how many cards the fullest row will hold.
pub(super) fn widest_row(dag: &Dag) -> usize {
    let rows = rows::rows(dag);
    let mut count = vec![0; rows.iter().max().map_or(0, |last| last + 1)];
    for row in rows {
        count[row] += 1;
    }
    count.into_iter().max().unwrap_or(0)
}

/// Returns where each row begins and ends.
fn bands(grid: &Grid, columns: &[i64], heights: &[i64], ports: i64) -> Vec<(i64, i64)> {
    let mut bands = Vec::with_capacity(grid.rows.len());
    let mut top = 0;
    for row in &grid.rows {
        let height = row.iter().filter_map(|&slot| heights.get(slot)).max().copied().unwrap_or(0);
        bands.push((top, top + height));
        let sideways = |&slot: &usize| {
            let far = |&below: &usize| {
                let light = grid.slots[slot].light || grid.slots[below].light;
                (columns[slot] - columns[below]).abs() - if light { ports } else { 0 }
            };
            grid.slots[slot].down.iter().map(far).max()
        };
        let farthest = row.iter().filter_map(sideways).max().unwrap_or(0).max(0);
        top += height + (ROW_GAP.0 + farthest / 12).min(ROW_GAP.1);
    }
    bands
}

/// Follows an edge; a light one leaves and enters a card on the side on which it passes, at most `ports` off
/// the middle, so that it does not look like a part of the others.
fn route(chain: &[usize], grid: &Grid, columns: &[i64], bands: &[(i64, i64)], ports: i64) -> Route {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    let band = |slot: usize| bands[grid.slots[slot].row];
    let port = |card: usize, beside: usize| {
        let off = if grid.slots[beside].light { columns[beside] - columns[card] } else { 0 };
        columns[card] + off.clamp(-ports, ports)
    };
    Route {
        start: (port(first, chain[1]), band(first).1),
        passes: chain[1..chain.len() - 1]
            .iter()
            .map(|&slot| (columns[slot], band(slot).0, band(slot).1))
            .collect(),
        end: (port(last, chain[chain.len() - 2]), band(last).0),
    }
}

/// Returns a count as a coordinate.
fn int(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
