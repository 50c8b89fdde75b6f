//! Sessions of `abide-sdk` against the built server and a model that answers by a script, also over a network that breaks off.

use crate::sdk::{losing, reached};
use crate::server::Server;
use crate::support::Project;
use abide_model_mock::{Fault, ModelServer, Request, Script, ToolCall, Turn};
use abide_sdk::{Abide, AgentDraft, Error, Event, Expect, Say, Talk, Told, WhenBusy};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

const LONG: &str =
    "Once upon a time there was a plan — and it had steps, each with its evidence: über alles.";
const DEPLOY: &str = "description: Deploys\ntools:\n  - name: deploy\n    description: Deploy a version\n    arguments: { type: object, properties: { version: { type: string } }, required: [version] }\n    command: [echo, \"deployed {{arguments.version}}\"]\n";

/// A model that deploys when it is told to, says something long when it is told to, and `heard` otherwise.
fn model() -> ModelServer {
    let answer = |request: &Request| {
        let last = request.messages.last();
        match last {
            Some(message) if !message.results.is_empty() => Turn::text("it was called"),
            Some(message) if message.text.starts_with("deploy") => {
                Turn::call(ToolCall::new("deploy", json!({ "version": "v1" })))
            }
            Some(message) if message.text.starts_with("tell") => {
                Turn::text(LONG).with(Fault::Slow(Duration::from_millis(60)))
            }
            _ => Turn::text("heard"),
        }
    };
    ModelServer::start(Script::function(answer)).unwrap()
}

struct Stage {
    _project: Project,
    _model: ModelServer,
    server: Server,
    ada: String,
    agent: String,
    session: String,
}

impl Stage {
    async fn new() -> Self {
        let (project, model) = (Project::new(), model());
        project.write(".abide/capabilities/ship.yaml", DEPLOY);
        let trusted = project.abide(&["capability", "trust", "ship", "--yes"]);
        assert_eq!(trusted.code, Some(0), "{trusted:?}");
        let admin = project.abide(&["key", "create", "root", "--scope", "admin"]).out;
        let ada = project.abide(&["key", "create", "ada", "--scope", "read,approve"]).out;
        let url = model.url();
        let variables = [
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", "x"),
            ("ABIDE_MODEL", "anthropic/scripted"),
        ];
        let server = Server::start_with(&project, &["--rate", "0"], &variables);
        let admin = reached(&format!("http://{}", server.address), Some(&admin));
        let capabilities = Some(vec!["ship".into(), "session_file_system".into()]);
        let draft = AgentDraft { name: Some("Ada".to_owned()), capabilities, ..AgentDraft::default() };
        let agent = admin.agents().create(&draft).await.unwrap().value.id;
        let session = admin.sessions().create(&agent, Some("a talk")).await.unwrap().id;
        assert!(!admin.audit().list().limit(1).all(10).await.unwrap().is_empty());
        let document = admin.agents().export(&agent).await.unwrap();
        let copy = admin.agents().import(&document.replace("Ada", "Bea")).await.unwrap().value;
        assert_eq!((copy.name.as_str(), copy.capabilities.len()), ("Bea", 2));
        Self { _project: project, _model: model, server, ada, agent, session }
    }

    fn client(&self) -> Abide {
        reached(&format!("http://{}", self.server.address), None)
    }
}

/// Hears a turn to its end: its words, and its events.
async fn heard(talk: &mut Talk<'_>) -> (String, Vec<Event>) {
    let (mut text, mut events) = (String::new(), Vec::new());
    while let Some(told) = talk.next().await.unwrap() {
        match told {
            Told::Delta(piece) => text.push_str(&piece),
            Told::Again(said) => panic!("nothing was begun again: {said}"),
            Told::Event(event) => events.push(event),
        }
    }
    (text, events)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_asked_and_heard_and_a_message_is_one_although_its_answer_is_lost() {
    let stage = Stage::new().await;
    let (abide, session) = (stage.client(), stage.session.as_str());
    assert_eq!(abide.sessions().ask(session, "hello").await.unwrap().turn.answer.as_deref(), Some("heard"));
    let mut talk = abide.sessions().talk(session, "tell").await.unwrap();
    let (text, events) = heard(&mut talk).await;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        (text.as_str(), kinds.as_slice()),
        (LONG, &["message.told", "model.asked", "model.answered", "turn.ended"][..])
    );
    assert_eq!(talk.message().await.unwrap().turn.answer.as_deref(), Some(LONG));

    let (address, count) = losing(&stage.server, |count| (count <= 2).then_some(0));
    let through = reached(&address, None);
    let sent = through.sessions().send(session, "lost").await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 3);
    let over = abide.sessions().wait_for(session, &sent.id).await.unwrap();
    assert_eq!((over.turn.status.as_str(), over.number), ("finished", 3), "it is one message");
    let all = abide.sessions().messages(session).limit(2).all(100).await.unwrap();
    assert_eq!(all.iter().map(|each| each.text.as_str()).collect::<Vec<_>>(), ["hello", "tell", "lost"]);

    let long = abide.sessions().send(session, "tell").await.unwrap();
    let refused = Say::new("no").when_busy(WhenBusy::Refuse);
    assert_eq!(abide.sessions().send(session, refused).await.unwrap_err().code(), Some("refused"));
    let cancelled = abide.sessions().cancel(session, true).await.unwrap();
    assert_eq!(cancelled.iter().map(|each| &each.id).collect::<Vec<_>>(), [&long.id]);
    assert_eq!(abide.sessions().wait_for(session, &long.id).await.unwrap().turn.status, "cancelled");

    let other = abide.agents().create_session(&stage.agent, None).await.unwrap();
    assert_eq!(abide.agents().sessions(&stage.agent).all(10).await.unwrap().len(), 2);
    assert_eq!(
        abide.sessions().rename(&other.id, Some("else")).await.unwrap().title.as_deref(),
        Some("else")
    );
    abide.sessions().remove(&other.id).await.unwrap();
    assert_eq!(abide.sessions().get(&other.id).await.unwrap_err().code(), Some("not_found"));
    assert_eq!(abide.sessions().list(None).all(10).await.unwrap().len(), 1);
    assert!(abide.models().list().await.unwrap().models.iter().any(|model| model.usable));
    assert!(abide.skills().list().await.unwrap().is_empty());
    assert_eq!(
        (abide.health().await.unwrap().status, abide.ready().await.unwrap().status),
        ("ok".into(), "ok".into())
    );
    assert!(abide.metrics().await.unwrap().contains("abide_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_breaks_off_is_heard_on_without_a_lost_or_doubled_event_or_word() {
    let stage = Stage::new().await;
    let (abide, session) = (stage.client(), stage.session.as_str());
    // The first connection breaks off in the middle of the answer, and so does the one after it.
    let (address, count) = losing(&stage.server, |count| (count <= 2).then_some(1_500));
    let through = reached(&address, None);
    let mut stream = through.sessions().stream(session, 0);
    let sent = abide.sessions().send(session, "tell").await.unwrap();
    let (mut text, mut told) = (String::new(), Vec::new());
    let listening = async {
        while let Some(next) = stream.next().await? {
            match next {
                Told::Delta(piece) => text.push_str(&piece),
                Told::Again(said) => panic!("nothing was begun again: {said}"),
                Told::Event(event) => told.push((event.seq, event.kind)),
            }
            if told.last().is_some_and(|(_, kind)| kind == "turn.ended") {
                break;
            }
        }
        Ok::<_, Error>(())
    };
    tokio::time::timeout(Duration::from_secs(30), listening).await.unwrap().unwrap();
    let listed = abide.sessions().events(session).limit(2).all(100).await.unwrap();
    assert_eq!(told, listed.into_iter().map(|event| (event.seq, event.kind)).collect::<Vec<_>>());
    assert_eq!(text, LONG);
    assert!(count.load(Ordering::SeqCst) >= 2, "it broke off");
    assert_eq!(
        abide.sessions().wait_for(session, &sent.id).await.unwrap().turn.answer.as_deref(),
        Some(LONG)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_agreed_to_with_another_key_and_files_are_changed_as_they_were_seen() {
    let stage = Stage::new().await;
    let (abide, session) = (stage.client(), stage.session.as_str());
    let ada = reached(&format!("http://{}", stage.server.address), Some(&stage.ada));
    let deciding = tokio::spawn({
        let (abide, ada, session) = (abide.clone(), ada, session.to_owned());
        async move {
            loop {
                let asked = ada.approvals().list().all(10).await.unwrap();
                if let Some(asked) = asked.iter().find(|asked| asked.session.as_deref() == Some(&*session)) {
                    assert_eq!((asked.kind.as_str(), asked.tool.as_deref()), ("tool", Some("deploy")));
                    let no = abide.approvals().answer(&asked.id, None, "approved", None).await.unwrap_err();
                    assert_eq!(no.code(), Some("no_scope"));
                    return ada.approvals().answer(&asked.id, None, "approved", None).await.unwrap();
                }
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        }
    });
    let mut talk = abide.sessions().talk(session, "deploy it").await.unwrap();
    let (text, events) = heard(&mut talk).await;
    let answered = tokio::time::timeout(Duration::from_secs(10), deciding).await.unwrap().unwrap();
    assert_eq!((answered.by.as_str(), answered.run, text.as_str()), ("ada", None, "it was called"));
    assert!(events.iter().any(|event| event.data["decision"] == "confirmed" && event.data["by"] == "ada"));

    let files = abide.files();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let made = files.write(session, "/data/raw", bytes.clone(), Expect::Nothing).await.unwrap();
    let again = files.write(session, "/data/raw", "x", Expect::Nothing).await.unwrap_err();
    assert_eq!((made.value.size_bytes, again.code()), (100_000, Some("changed")));
    let read = files.read(session, "/data/raw").await.unwrap();
    assert_eq!((read.value, &read.etag), (bytes, &made.etag));
    let etag = made.etag.unwrap();
    files.write(session, "/data/raw", "one\ntwo", Expect::Seen(&etag)).await.unwrap();
    let late = files.write(session, "/data/raw", "late", Expect::Seen(&etag)).await.unwrap_err();
    assert_eq!(late.code(), Some("changed"));
    files.copy(session, "/data/raw", "/copy.txt").await.unwrap();
    files.r#move(session, "/copy.txt", "/moved.txt").await.unwrap();
    let root = files.list(session, "/").await.unwrap();
    assert_eq!(
        root.entries.iter().map(|each| each.path.as_str()).collect::<Vec<_>>(),
        ["/data", "/moved.txt"]
    );
    assert_eq!(files.grep(session, "^two", None).await.unwrap().match_count, 2);
    assert_eq!(files.grep(session, "^two", Some("*.txt")).await.unwrap().match_count, 1);
    assert!(matches!(files.read(session, "/data").await, Err(Error::Unsendable(_))));
    assert!(matches!(files.list(session, "/moved.txt").await, Err(Error::Unsendable(_))));
    let moved = files.stat(session, "/moved.txt").await.unwrap().etag.unwrap();
    files.write(session, "/moved.txt", "by somebody else", Expect::Anything).await.unwrap();
    let late = files.delete(session, "/moved.txt", false, Some(&moved)).await.unwrap_err();
    assert_eq!(late.code(), Some("changed"));
    let moved = files.stat(session, "/moved.txt").await.unwrap().etag;
    assert_eq!(files.delete(session, "/moved.txt", false, moved.as_deref()).await.unwrap().deleted, 1);
    assert_eq!(files.delete(session, "/data", true, None).await.unwrap().deleted, 2);
    assert_eq!(files.stat(session, "/data").await.unwrap_err().code(), Some("not_found"));
}
