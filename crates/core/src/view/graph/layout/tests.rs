//! What holds for the layout of any graph, however odd.

use super::super::model::{Edge, EdgeKind};
use super::*;
use proptest::prelude::*;

const WIDTH: i64 = 200;

fn edge((from, to): (usize, usize)) -> Edge {
    Edge { from, to, kind: EdgeKind::Needs }
}

fn of(nodes: usize, edges: &[Edge]) -> (Dag, Layout) {
    let dag = Dag::new(nodes, edges);
    let layout = layout(&dag, WIDTH, &vec![50; nodes]);
    (dag, layout)
}

/// Whether no two rectangles touch; cards of one row only have to be compared with their neighbours.
fn apart(cards: &[Card]) -> bool {
    let mut sorted: Vec<Card> = cards.to_vec();
    sorted.sort_unstable_by_key(|card| (card.top, card.left));
    sorted.windows(2).all(|pair| {
        let (a, b) = (pair[0], pair[1]);
        if a.top == b.top { a.left + a.width < b.left } else { a.top + a.height < b.top }
    })
}

proptest! {
    #[test]
    fn cards_stand_apart_and_edges_lead_down_between_them(
        nodes in 1_usize..40,
        pairs in proptest::collection::vec((0_usize..42, 0_usize..42), 0..120),
    ) {
        let edges: Vec<Edge> = pairs.into_iter().map(edge).collect();
        let (dag, layout) = of(nodes, &edges);
        prop_assert_eq!(layout.cards.len(), nodes);
        prop_assert!(apart(&layout.cards), "{:?}", layout.cards);
        prop_assert!(layout.cards.iter().all(|card| card.left >= 0 && card.left + card.width <= layout.width));
        for (edge, route) in dag.edges.iter().zip(&layout.routes) {
            let (from, to) = (layout.cards[edge.from], layout.cards[edge.to]);
            prop_assert_eq!(route.start.1, from.top + from.height);
            prop_assert_eq!(route.end.1, to.top);
            let mut y = route.start.1;
            for &(x, top, bottom) in &route.passes {
                prop_assert!(y < top && top <= bottom);
                y = bottom;
                let through = |card: &Card| card.top == top && card.left <= x && x <= card.left + card.width;
                prop_assert!(!layout.cards.iter().any(through));
            }
            prop_assert!(y < route.end.1);
        }
    }
}

#[test]
fn a_chain_is_one_straight_line() {
    let edges: Vec<Edge> = (1..30).map(|to| edge((to - 1, to))).collect();
    let (_, layout) = of(30, &edges);
    assert!(layout.cards.iter().all(|card| card.left == 0));
}

#[test]
fn a_parent_stands_over_the_middle_of_its_children() {
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)].map(edge);
    let (_, layout) = of(5, &edges);
    let left: Vec<i64> = layout.cards.iter().map(|card| card.left).collect();
    assert_eq!(left, [232, 0, 232, 464, 232]);
}

#[test]
fn a_shortcut_passes_beside_a_straight_chain() {
    let edges = [(0, 1), (1, 2), (0, 2)].map(edge);
    let (_, layout) = of(3, &edges);
    assert!(layout.cards.iter().all(|card| card.left == 0));
    assert!(layout.routes[1].passes[0].0 > WIDTH);
}

#[test]
fn a_wide_wave_is_wrapped() {
    let edges: Vec<Edge> = (1..=12).map(|to| edge((0, to))).collect();
    let (_, layout) = of(13, &edges);
    let tops = |top: i64| layout.cards.iter().filter(|card| card.top == top).count();
    assert_eq!((tops(layout.cards[1].top), tops(layout.cards[12].top)), (6, 6));
}

#[test]
fn a_large_graph_still_gets_a_correct_layout() {
    let edges: Vec<Edge> = (1..10_000).flat_map(|to| [edge((to / 3, to)), edge((to / 7, to))]).collect();
    let (_, layout) = of(10_000, &edges);
    assert!(apart(&layout.cards));
}
