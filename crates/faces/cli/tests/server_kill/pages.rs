//! Ten thousand agents, listed page by page.

use crate::server::Server;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How many there are, and how many are on a page.
pub(crate) const MANY: usize = 10_000;
const PAGE: usize = 200;

/// Lists all agents and checks that each is told once, in order, and that the last pages cost what the first ones do.
pub(crate) fn list_all(server: &Server) {
    // On a machine that is busy, the quickest of some rounds tells.
    let mut least = vec![Duration::MAX; MANY / PAGE];
    for _ in 0..3 {
        let (mut ids, mut after, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let began = Instant::now();
            let (status, page) = server.get(&format!("/v1/agents?limit={PAGE}{after}"), None);
            least[pages] = least[pages].min(began.elapsed());
            pages += 1;
            assert_eq!(status, 200, "{page}");
            let items = page["items"].as_array().unwrap();
            assert!(items.iter().all(|agent| agent["capabilities"] == serde_json::json!(["current_time"])));
            ids.extend(items.iter().map(|agent| agent["id"].as_str().unwrap().to_owned()));
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        assert_eq!((ids.len(), pages), (MANY, MANY / PAGE));
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), MANY);
    }
    let sum = |pages: &[Duration]| pages.iter().sum::<Duration>();
    let (begin, end) = (sum(&least[..10]), sum(&least[least.len() - 10..]));
    assert!(end < begin * 2, "the first ten pages took {begin:?}, the last ten {end:?}");
}
