//! Servers that share a database share what they tell webhooks: each thing is told once while none of them dies, and at least once otherwise.

use crate::database::Database;
use crate::receiver::{Receiver, SECRET};
use crate::stage::Stage;
use std::collections::BTreeSet;

#[test]
fn what_several_servers_tell_is_told_once_and_a_dead_one_has_forgotten_nothing() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let receiver = Receiver::start("127.0.0.1:0", &[]);
    stage.project.write(
        "../config/abide/config.yaml",
        format!(
            "webhooks:\n  pager:\n    url: http://{}/hook?token=s3cret\n    secret: {{ env: HOOK }}\n",
            receiver.address
        ),
    );
    let (first, second) = (stage.signing_server(SECRET), stage.signing_server(SECRET));
    let start = |server, count: usize, what: &str| -> Vec<String> {
        (0..count).map(|number| stage.start(server, "ask", &format!("{what}{number}"))).collect()
    };
    let runs = [start(&first, 6, "first"), start(&second, 6, "second")].concat();
    receiver.until(|letters| letters.len() >= 12);
    for run in &runs {
        stage.until(&second, run, "waiting");
        assert_eq!(stage.answer(&second, run, "approved").0, 200);
    }
    receiver.until(|letters| letters.len() >= 24);
    // Whatever would come twice would come now.
    std::thread::sleep(std::time::Duration::from_secs(6));
    let taken = receiver.taken();
    assert_eq!((taken.len(), taken.values().max()), (24, Some(&1)), "{taken:?}");
    // One is killed while nobody takes what it has to tell: the other one takes its runs up, and tells what they ask.
    let address = receiver.address.to_string();
    drop(receiver);
    let more: BTreeSet<String> = start(&first, 6, "killed").into_iter().collect();
    for run in &more {
        stage.until(&second, run, "waiting");
    }
    first.kill();
    let receiver = Receiver::start(&address, &[]);
    let letters = receiver.until(|letters| {
        let told = letters.iter().filter_map(|letter| letter.body["data"]["run"].as_str());
        told.collect::<BTreeSet<_>>().len() >= more.len()
    });
    let told: BTreeSet<String> =
        letters.iter().map(|letter| letter.body["data"]["run"].as_str().unwrap().to_owned()).collect();
    let ids: BTreeSet<&String> = letters.iter().map(|letter| &letter.id).collect();
    assert_eq!((told, ids.len()), (more, 6));
    assert_eq!(second.end(), Some(0));
}
