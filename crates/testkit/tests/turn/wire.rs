//! The loop over the wire: the scripted server behind the real adapter, with the faults that networks have.

use crate::stage::{again, agent, echo, results, session, store, turn};
use abide_core::capability::Risk;
use abide_core::definition::Config;
use abide_core::model::{Part, Provider};
use abide_core::turn::TurnEnd;
use abide_engine::port::Stopper;
use abide_models::{HttpModel, Proxies};
use abide_testkit::model::{Fault, ModelServer, ToolCall, Turn};
use serde_json::json;
use std::time::Duration;

fn model(server: &ModelServer, provider: &str) -> HttpModel {
    let name = abide_core::definition::ProviderName::parse(provider).unwrap();
    let mut provider = Provider::find(&Config::default(), &name, |_| None).unwrap();
    provider.url =
        if provider.name.as_str() == "anthropic" { server.url() } else { format!("{}/v1", server.url()) };
    let key = Some(abide_core::value::Secret::new("key"));
    HttpModel::new(provider, key, &Proxies::of(|_| None)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_in_both_formats_comes_through_every_fault() {
    for provider in ["anthropic", "openai"] {
        let server = ModelServer::start(vec![
            Turn::fault(Fault::TooManyRequests(Some(0))),
            Turn::calls([ToolCall::new("look", json!({"n": 1})), ToolCall::new("look", json!({"n": 2}))]),
            Turn::text("half of what").with(Fault::CutOff),
            Turn::text("half of what").with(Fault::Malformed),
            Turn::call(ToolCall::new("look", json!({"n": 3}))).with(Fault::Slow(Duration::from_millis(5))),
            Turn::fault(Fault::Overloaded),
            Turn::text("all three are there"),
        ])
        .unwrap();
        let store = store();
        let (look, calls) = echo("look", Risk::None);
        let agent = agent(model(&server, provider), vec![look]);
        let mut session = session(&store).await;
        let report = turn(&agent, &mut session, "look").await.unwrap();
        assert_eq!(
            (report.end, report.text.as_str()),
            (TurnEnd::Finished, "all three are there"),
            "{provider}"
        );
        assert_eq!(results(session.conversation()).len(), 3);
        assert_eq!(calls.lock().unwrap().len(), 3);
        assert_eq!(server.turns().len(), 7);
        assert_eq!(again(&store).await.conversation(), session.conversation());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_closes_the_stream_within_a_second() {
    for fault in [Fault::Stalled, Fault::Silent] {
        let server = ModelServer::start(vec![Turn::text("half of what it says").with(fault)]).unwrap();
        let store = store();
        let agent = agent(model(&server, "openai"), Vec::new());
        let mut session = session(&store).await;
        let (stopper, stop) = Stopper::pair();
        let talking = agent.turn(&mut session, vec![Part::Text("go".into())], None, &stop);
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stopper.stop();
            tokio::time::Instant::now()
        };
        let (report, since) = tokio::join!(talking, stopping);
        assert_eq!(report.unwrap().end, TurnEnd::Cancelled);
        assert!(since.elapsed() < Duration::from_secs(1));
    }
}
