//! `abide-sdk` against the built server, also over a network that loses answers.

use crate::server::Server;
use crate::support::Project;
use abide_sdk::{
    Abide, AgentCapability, AgentDraft, Error, Execute, LogOptions, Options, RunFilter, RunStatus, Until,
};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const RELEASE: &str = "description: Releases\ninputs:\n  version: { type: string, required: true }\nsteps:\n  - id: build\n    run: echo built {{inputs.version}}\n  - id: ask\n    type: approval\n    prompt: Ship it?\n    needs: [build]\n  - id: ship\n    run: sleep 0.3; echo shipped\n    needs: [ask]\n";

fn client(server: &Server, key: Option<&str>) -> Abide {
    reached(&format!("http://{}", server.address), key)
}

pub(crate) fn reached(server: &str, key: Option<&str>) -> Abide {
    let options = Options::new(server);
    Abide::new(&key.map_or(options.clone(), |key| options.key(key))).unwrap()
}

fn stage() -> (Project, String, Server) {
    let project = Project::new();
    project.write(".abide/abilities/team/release.yaml", RELEASE);
    project.write(".abide/abilities/quick.yaml", crate::support::GOOD);
    let key = project.abide(&["key", "create", "ada", "--scope", "run,approve,admin"]).out;
    let server = Server::start(&project, &["--rate", "0"]);
    (project, key, server)
}

fn release() -> Execute {
    Execute::new("team/release").input("version", "v1")
}

/// Stands before a server; of each connection, so many bytes of the answer come through. Returns its address and how many came.
pub(crate) fn losing(
    server: &Server,
    keep: impl Fn(usize) -> Option<usize> + Send + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (behind, count) = (server.address.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let keep = keep(counted.fetch_add(1, Ordering::SeqCst) + 1);
            let Ok(mut server) = TcpStream::connect(&behind) else { return };
            let (mut asks, mut asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut asks, &mut asked);
                let _ = asked.shutdown(Shutdown::Both);
            });
            std::thread::spawn(move || {
                let (mut bytes, mut passed) = ([0; 256], 0);
                while let Ok(read @ 1..) = server.read(&mut bytes) {
                    if keep.is_some_and(|keep| passed >= keep) || client.write_all(&bytes[..read]).is_err() {
                        break;
                    }
                    passed += read;
                }
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    (address, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_starts_follows_and_waits_and_somebody_else_approves() {
    let (_project, key, server) = stage();
    let (ci, ada) = (client(&server, None), client(&server, Some(&key)));
    let listed = ci.abilities().list().await.unwrap();
    assert!(listed.iter().any(|each| each.name == "team/release" && each.status == "usable"), "{listed:?}");
    assert_eq!(ci.abilities().plan(&release()).await.unwrap()["ability"], "team/release");
    let run = ci.abilities().execute(release()).await.unwrap().run;
    let asked = ci.runs().wait_for(&run, Until::Asked).await.unwrap();
    assert_eq!((asked.status, asked.questions[0].prompt.as_str()), (RunStatus::Waiting, "Ship it?"));
    let refused = ci.approvals().answer(&run, Some("ask"), "approved", None).await.unwrap_err();
    assert_eq!(refused.code(), Some("no_scope"), "{refused}");
    let approvals = ada.approvals().list().all(10).await.unwrap();
    assert_eq!((approvals.len(), approvals[0].step.as_deref()), (1, Some("ask")));
    let waiting = tokio::spawn({
        let (ci, run) = (ci.clone(), run.clone());
        async move { ci.abilities().wait_for(&run).await }
    });
    let answered = ada.approvals().answer(&run, Some("ask"), "approved", Some("good")).await.unwrap();
    assert_eq!(answered.by, "ada");
    assert_eq!(waiting.await.unwrap().unwrap().status, RunStatus::Completed);
    let mut logs =
        ci.runs().logs(&run, &LogOptions { step: Some("ship".to_owned()), follow: true }).await.unwrap();
    let mut text = Vec::new();
    while let Some(bytes) = logs.next().await.unwrap() {
        text.extend(bytes);
    }
    assert_eq!(text, b"shipped\n");
    assert_eq!(ci.abilities().get("nothing").await.unwrap_err().code(), Some("not_found"));
    let cancelled = ci.abilities().execute(release()).await.unwrap().run;
    ada.abilities().cancel(&cancelled, Some("no time")).await.unwrap();
    assert_eq!(ci.abilities().wait_for(&cancelled).await.unwrap().status, RunStatus::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_starts_no_second_run_and_repeats_no_decision() {
    let (_project, key, server) = stage();
    let direct = client(&server, Some(&key));
    let (address, count) = losing(&server, |count| (count <= 2).then_some(0));
    let run = reached(&address, None).abilities().execute(Execute::new("quick")).await.unwrap().run;
    assert_eq!(count.load(Ordering::SeqCst), 3);
    let runs = direct.runs().list(&RunFilter::default()).limit(1).all(100).await.unwrap();
    assert_eq!(runs.iter().map(|each| each.run.as_str()).collect::<Vec<_>>(), [run.as_str()]);
    let named = || Execute::new("quick").idempotency_key("release-42");
    let (first, second) = (
        direct.abilities().execute(named()).await.unwrap(),
        direct.abilities().execute(named()).await.unwrap(),
    );
    assert_eq!(first.run, second.run);
    let (address, count) = losing(&server, |_| Some(0));
    let run = direct.abilities().execute(release()).await.unwrap().run;
    let lost = reached(&address, Some(&key)).runs().cancel(&run, None).await.unwrap_err();
    assert!(matches!(lost, Error::Connection { .. }), "{lost}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(direct.abilities().wait_for(&run).await.unwrap().status, RunStatus::Cancelled, "it was done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_goes_on_and_tells_each_event_once() {
    let (_project, key, server) = stage();
    let ada = client(&server, Some(&key));
    let (address, count) = losing(&server, |count| (count < 4).then_some(700));
    let run = ada.abilities().execute(release()).await.unwrap().run;
    let told = tokio::spawn({
        let (through, run) = (reached(&address, None), run.clone());
        async move {
            let (mut events, mut told) = (through.runs().stream(&run, 0), Vec::new());
            while let Some(event) = events.next().await? {
                told.push((event.seq, event.kind));
            }
            Ok::<_, Error>(told)
        }
    });
    ada.runs().wait_for(&run, Until::Asked).await.unwrap();
    ada.approvals().answer(&run, Some("ask"), "approved", None).await.unwrap();
    let told = tokio::time::timeout(Duration::from_secs(30), told).await.unwrap().unwrap().unwrap();
    let listed = ada.runs().events(&run).limit(2).all(1_000).await.unwrap();
    assert_eq!(told, listed.into_iter().map(|event| (event.seq, event.kind)).collect::<Vec<_>>());
    assert!(count.load(Ordering::SeqCst) >= 3, "it broke off");
    let mut rest = ada.runs().stream(&run, told.len() as u64);
    assert!(rest.next().await.unwrap().is_none(), "all is told");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_changed_as_they_were_seen_and_keys_are_revoked() {
    let (_project, key, server) = stage();
    let admin = client(&server, Some(&key));
    let named = |name: &str| AgentDraft { name: Some(name.to_owned()), ..AgentDraft::default() };
    let made = admin.agents().create(&named("Ada")).await.unwrap();
    let changed = admin.agents().update(&made.value.id, &named("Bea"), made.etag.as_deref()).await.unwrap();
    assert_ne!(changed.etag, made.etag);
    let late = admin.agents().update(&made.value.id, &named("Cyd"), made.etag.as_deref()).await.unwrap_err();
    assert_eq!(late.code(), Some("changed"));
    let configured = |file_bytes: u64| {
        let (id, configuration) = ("session_file_system".to_owned(), json!({ "file_bytes": file_bytes }));
        let capabilities = vec!["noop".into(), AgentCapability::Configured { id, configuration }];
        AgentDraft { capabilities: Some(capabilities), ..named("Bea") }
    };
    let limited = admin.agents().update(&made.value.id, &configured(5), None).await.unwrap().value;
    assert_eq!(limited.capabilities, ["noop", "session_file_system"]);
    assert_eq!(limited.configuration.unwrap()["session_file_system"], json!({ "file_bytes": 5 }));
    match admin.agents().create(&configured(0)).await.unwrap_err() {
        Error::Problem(problem) => assert_eq!(problem.all["capability"], "session_file_system"),
        other => panic!("{other}"),
    }
    let unknown = AgentDraft { capabilities: Some(vec!["nothing".into()]), ..named("X") };
    match admin.agents().create(&unknown).await.unwrap_err() {
        Error::Problem(problem) => assert_eq!(problem.all["capability"], "nothing"),
        other => panic!("{other}"),
    }
    assert_eq!(admin.agents().archive(&made.value.id, None).await.unwrap().value.status, "archived");
    assert_eq!(admin.agents().list(Some("archived")).all(10).await.unwrap()[0].name, "Bea");
    assert!(!admin.capabilities().list().await.unwrap().is_empty());
    let made = admin.keys().create("ci", &["read"]).await.unwrap();
    let ci = client(&server, Some(&made.key));
    assert_eq!(ci.version().await.unwrap().name, "abide");
    admin.keys().revoke(&made.id).await.unwrap();
    assert_eq!(ci.version().await.unwrap_err().code(), Some("wrong_key"));
    let nobody = Abide::new(&Options::new("http://127.0.0.1:9").retries(0)).unwrap();
    assert!(matches!(nobody.version().await.unwrap_err(), Error::Connection { .. }));
}
