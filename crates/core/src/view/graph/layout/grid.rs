//! The rows as a grid of slots: one per card, and one wherever a long edge passes a row.

use super::super::dag::Dag;
use super::super::model::EdgeKind;
use super::super::shortcut::shortcuts;

/// Above this many cards, long edges are drawn straight behind the cards and rows are sorted only roughly.
pub(super) const MOST_CARDS: usize = 2_000;
/// The same, above this many places where a long edge passes a row.
const MOST_PASSES: usize = 20_000;
/// The room that a passing edge takes.
const PASS_WIDTH: i64 = 12;
/// The space between two cards of a row; passing edges keep less.
const COLUMN_GAP: i64 = 32;

/// Slots in rows, joined from each row to the next.
pub(super) struct Grid {
    /// The cards by node, then the places where edges pass.
    pub(super) slots: Vec<Slot>,
    /// The slots of each row, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// The slots along each edge.
    pub(super) chains: Vec<Vec<usize>>,
    /// How many of the slots are cards.
    pub(super) cards: usize,
}

/// One place in a row.
#[derive(Clone)]
pub(super) struct Slot {
    /// Which row it is in.
    pub(super) row: usize,
    /// Whether it is part of an edge that nobody has to follow to understand the rest: a shortcut, or data.
    pub(super) light: bool,
    /// The slots of the row above that lead here.
    pub(super) up: Vec<usize>,
    /// The slots of the row below that this leads to.
    pub(super) down: Vec<usize>,
}

impl Grid {
    /// Puts nodes into their rows, and edges into every row that they pass.
    pub(super) fn new(dag: &Dag, row_of: &[usize]) -> Self {
        let slot = |row, light| Slot { row, light, up: Vec::new(), down: Vec::new() };
        let mut slots: Vec<Slot> = row_of.iter().map(|&row| slot(row, false)).collect();
        let passes: usize = dag.edges.iter().map(|edge| row_of[edge.to] - row_of[edge.from] - 1).sum();
        let careful = row_of.len() <= MOST_CARDS && passes <= MOST_PASSES;

        let mut members: Vec<Vec<usize>> = vec![Vec::new(); row_of.iter().max().map_or(0, |last| last + 1)];
        for (node, &row) in row_of.iter().enumerate() {
            members[row].push(node);
        }
        let share = shares(&members, row_of.len());
        let mut keyed: Vec<Vec<(Share, usize)>> =
            members.iter().map(|row| row.iter().map(|&node| (share[node], node)).collect()).collect();

        let mut chains = Vec::with_capacity(dag.edges.len());
        let shortcut = shortcuts(dag);
        for (edge, shortcut) in dag.edges.iter().zip(shortcut) {
            let light = shortcut || edge.kind == EdgeKind::Data;
            let (first, last) = (row_of[edge.from], row_of[edge.to]);
            let mut chain = vec![edge.from];
            if careful {
                // A passing edge keeps to the side of whichever end stands in more of a crowd.
                let crowded = if members[first].len() >= members[last].len() { edge.from } else { edge.to };
                let (along, card) = share[crowded];
                // A light one passes on the right, out of the way of what is read first.
                let key = (along, if light { usize::MAX } else { card });
                for (row, passed) in (first + 1..last).zip(&mut keyed[first + 1..last]) {
                    passed.push((key, slots.len()));
                    chain.push(slots.len());
                    slots.push(slot(row, light));
                }
            }
            chain.push(edge.to);
            if careful || first + 1 == last {
                for pair in chain.windows(2) {
                    slots[pair[0]].down.push(pair[1]);
                    slots[pair[1]].up.push(pair[0]);
                }
            }
            chains.push(chain);
        }
        let sorted = |mut row: Vec<(Share, usize)>| {
            row.sort_unstable();
            row.into_iter().map(|(_, slot)| slot).collect()
        };
        Self { slots, rows: keyed.into_iter().map(sorted).collect(), chains, cards: row_of.len() }
    }

    /// Whether a slot holds a card, and not a passing edge.
    pub(super) fn is_card(&self, slot: usize) -> bool {
        slot < self.cards
    }

    /// Returns the room that a slot takes.
    pub(super) fn width(&self, slot: usize, card_width: i64) -> i64 {
        if self.is_card(slot) { card_width } else { PASS_WIDTH }
    }

    /// Returns how far the middles of two neighbours are at least apart.
    pub(super) fn distance(&self, left: usize, right: usize, card_width: i64) -> i64 {
        let gap = match (self.is_card(left), self.is_card(right)) {
            (true, true) => COLUMN_GAP,
            (false, false) => COLUMN_GAP / 4,
            _ => COLUMN_GAP / 2,
        };
        i64::midpoint(self.width(left, card_width), self.width(right, card_width)) + gap
    }

    /// Whether the drawing is small enough for every effort.
    pub(super) fn is_small(&self) -> bool {
        self.slots.len() <= MOST_CARDS
    }
}

/// How far right a card stands in its row before sorting, and which card it is, to tell equals apart.
type Share = (usize, usize);

fn shares(members: &[Vec<usize>], nodes: usize) -> Vec<Share> {
    const WHOLE: usize = 1_000_000;
    let mut share = vec![(0, 0); nodes];
    for row in members {
        for (index, &node) in row.iter().enumerate() {
            share[node] = ((2 * index + 1) * WHOLE / (2 * row.len()), node);
        }
    }
    share
}
