//! Mistakes that a driver once made, each in its smallest form and on the twins of its ports.

use abide_core::event::{Event, HookKey, HookPhase, LossDecision, RunId};
use abide_core::run::{Command, Run, RunStatus};
use abide_core::value::Value;
use abide_engine::driver::{DriveError, Driver, Nobody, Observer};
use abide_engine::port::{Ending, Holder, Line, Signal, Spec, StoreError, Stream};
use abide_engine::service::{self, Start};
use abide_testkit::store::{Fault, MemoryStore};
use abide_testkit::twin::{MemoryWorkspace, Script, TwinProcess, VirtualClock, World, play};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::JoinHandle;

type TwinDriver = Driver<MemoryStore, TwinProcess, MemoryWorkspace, VirtualClock>;

/// A project, its log and its processes.
#[derive(Clone)]
struct Place {
    clock: VirtualClock,
    store: MemoryStore,
    world: Arc<World>,
    workspace: Arc<MemoryWorkspace>,
    /// Whether every program but the newest is known to be gone.
    others_are_gone: bool,
}

/// A program that drives; its driver is known to be dead once it has crashed.
struct Program {
    driver: TwinDriver,
    crashed: Arc<AtomicBool>,
}

/// A run that is being driven.
struct Drive {
    stop: watch::Sender<Option<Signal>>,
    task: JoinHandle<Result<RunStatus, DriveError>>,
}

/// Every command takes as long as its text says: `9s`, or `0` for at once.
fn by_text(spec: &Spec) -> Script {
    let text = spec.arguments.last().map_or("", String::as_str);
    let takes =
        text.strip_suffix('s').and_then(|seconds| seconds.parse::<u64>().ok()).map(|time| time * 1_000);
    Script { takes: Some(takes.unwrap_or(0)), ..Script::default() }
}

impl Place {
    fn new(workspace: MemoryWorkspace) -> Self {
        Self::with_scripts(workspace, by_text)
    }

    fn with_scripts(
        workspace: MemoryWorkspace,
        scripts: impl Fn(&Spec) -> Script + Send + Sync + 'static,
    ) -> Self {
        let clock = VirtualClock::at(1_000_000);
        let world = World::new(clock.clone(), scripts);
        let store = MemoryStore::new(clock.shown());
        Self { store, world, workspace: Arc::new(workspace), clock, others_are_gone: true }
    }

    fn program(&self, name: &str) -> Program {
        self.watched(name, Arc::new(Nobody))
    }

    fn watched(&self, name: &str, observer: Arc<dyn Observer>) -> Program {
        let crashed = Arc::new(AtomicBool::new(false));
        let process = Arc::new(TwinProcess::new(&self.world, &crashed));
        let ports = (
            Arc::new(self.store.clone()),
            process,
            Arc::clone(&self.workspace),
            Arc::new(self.clock.clone()),
        );
        let holder = Holder { name: name.to_owned(), process: 1 };
        let gone = self.others_are_gone;
        let driver = Driver::new(ports, holder, observer, Arc::new(move |_| gone));
        Program { driver, crashed }
    }

    async fn start(&self, program: &Program, inputs: Vec<(String, Value)>) -> RunId {
        let start = Start {
            ability: "own".to_owned(),
            inputs,
            input: String::new(),
            by: "ada".into(),
            session: None,
            parent: None,
            depth: 0,
            id: None,
            trace: None,
        };
        service::start(&program.driver, start).await.unwrap()
    }

    async fn run(&self, id: &RunId) -> Run {
        abide_engine::load(&self.store, id).await.unwrap().run
    }

    fn marks(&self) -> Vec<String> {
        self.world.all().into_iter().map(|one| one.mark).collect()
    }
}

impl Program {
    fn drive(&self, id: &RunId) -> Drive {
        let (stop, stopped) = watch::channel(None);
        let (driver, id) = (self.driver.clone(), id.clone());
        Drive { stop, task: tokio::spawn(async move { driver.drive(id, stopped).await }) }
    }

    fn crash(&self, drive: &Drive) {
        self.crashed.store(true, Ordering::SeqCst);
        drive.task.abort();
    }
}

impl Drive {
    async fn leave(self) -> Result<RunStatus, DriveError> {
        self.stop.send_replace(Some(Signal::Ask));
        self.task.await.unwrap()
    }

    async fn end(self) -> Result<RunStatus, DriveError> {
        self.task.await.unwrap()
    }
}

fn own(steps: &str) -> MemoryWorkspace {
    MemoryWorkspace::default().with("own", format!("description: x\nsteps:\n{steps}"), Vec::new())
}

fn with_child(child: &str) -> MemoryWorkspace {
    let child = format!("description: x\nsteps:\n{child}");
    own("  - { id: call, workflow: child }\n").with("child", child, Vec::new())
}

fn played<F: Future<Output = ()> + Send + 'static>(place: &Place, work: impl FnOnce(Place) -> F) {
    play(&place.clock, work(place.clone()));
}

#[test]
fn a_run_that_is_left_and_what_it_calls_go_on_when_it_is_driven_again() {
    let child = "  - { id: one, run: 1s }\n  - { id: two, run: 9s, idempotent: true }\n";
    played(&Place::new(with_child(child)), |place| async move {
        let first = place.program("first");
        let id = place.start(&first, Vec::new()).await;
        let drive = first.drive(&id);
        place.clock.sleep(3_000).await;
        assert_eq!(drive.leave().await.unwrap(), RunStatus::Running);
        assert_eq!(place.world.alive(), Vec::<String>::new());
        assert_eq!(place.program("second").drive(&id).end().await.unwrap(), RunStatus::Completed);
        let steps: Vec<String> =
            place.marks().iter().map(|mark| mark.rsplit('/').next().unwrap().to_owned()).collect();
        assert_eq!(steps, ["one#1", "two#1", "two#2"], "what was done is not done again");
    });
}

#[test]
fn a_full_disk_while_a_child_is_driven_is_no_failure_of_the_step() {
    let child = "  - { id: one, run: 1s }\n  - { id: two, run: 1s }\n";
    played(&Place::new(with_child(child)), |place| async move {
        let program = place.program("first");
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        place.clock.sleep(500).await;
        place.store.fail_append(0, Fault::FullDisk);
        let error = drive.end().await.unwrap_err();
        assert!(matches!(error, DriveError::Store(StoreError::Unwritable { .. })), "{error}");
        assert_eq!(place.run(&id).await.in_flight().len(), 1, "nobody knows that the step failed");

        // The step of the child was lost with its result, and somebody decides.
        assert_eq!(program.drive(&id).end().await.unwrap(), RunStatus::Interrupted);
        let lost = service::lost(&program.driver, &id).await.unwrap();
        let [(whose, key)] = &lost[..] else { panic!("{lost:?}") };
        let rerun = Command::Resolve { key: key.clone(), by: "eve".into(), decision: LossDecision::Rerun };
        service::command(&program.driver, whose, rerun).await.unwrap();
        assert_eq!(program.drive(&id).end().await.unwrap(), RunStatus::Completed);
    });
}

#[test]
fn commands_of_the_evidence_are_swept_after_a_crash() {
    let steps =
        "  - { id: a, run: 1s, idempotent: true, validation: { check: [\"0\", 600s] }, timeout: 20s }\n";
    played(&Place::new(own(steps)), |place| async move {
        let first = place.program("first");
        let id = place.start(&first, Vec::new()).await;
        let drive = first.drive(&id);
        place.clock.sleep(3_000).await;
        first.crash(&drive);
        place.clock.sleep(1_000).await;
        assert_eq!(place.world.alive(), [format!("{id}/a#1/check1")], "nobody has ended it");
        let drive = place.program("second").drive(&id);
        place.clock.sleep(500).await;
        assert_eq!(place.world.alive(), [format!("{id}/a#2")]);
        drive.leave().await.unwrap();
    });
}

#[test]
fn leaving_in_the_middle_of_the_evidence_is_no_failure() {
    let steps = "  - { id: a, run: 1s, validation: { check: [60s] } }\n";
    played(&Place::new(own(steps)), |place| async move {
        let program = place.program("first");
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        place.clock.sleep(3_000).await;
        drive.leave().await.unwrap();
        assert_eq!(place.run(&id).await.in_flight().len(), 1);
        assert_eq!(program.drive(&id).end().await.unwrap(), RunStatus::Interrupted);
    });
}

#[test]
fn a_hook_that_was_under_way_is_not_run_again_and_the_run_does_not_start() {
    let hook = HookKey { phase: HookPhase::Before, file: "9s".into() };
    let source = "description: x\nsteps:\n  - { id: a, run: \"0\" }\n".to_owned();
    let workspace = MemoryWorkspace::default().with("own", source, vec![hook]);
    let nine = |_: &Spec| Script { takes: Some(9_000), ..Script::default() };
    played(&Place::with_scripts(workspace, nine), |place| async move {
        let program = place.program("first");
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        place.clock.sleep(3_000).await;
        drive.leave().await.unwrap();
        assert!(place.run(&id).await.hook_in_flight().is_some(), "leaving is no outcome of it");
        assert_eq!(program.drive(&id).end().await.unwrap(), RunStatus::Failed);
        assert_eq!(place.marks().len(), 1, "neither the hook again, nor a step");
    });
}

#[test]
fn a_second_drive_of_a_run_in_one_program_is_refused() {
    played(&Place::new(own("  - { id: a, run: 9s }\n")), |place| async move {
        let program = place.program("first");
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        place.clock.sleep(1_000).await;
        let error = program.drive(&id).end().await.unwrap_err();
        assert!(matches!(error, DriveError::Store(StoreError::Held { .. })), "{error}");
        assert_eq!(drive.end().await.unwrap(), RunStatus::Completed);
    });
}

#[derive(Default)]
struct Seen(Mutex<Vec<&'static str>>);

impl Observer for Seen {
    fn event(&self, _: &Run, event: &Event) {
        self.0.lock().unwrap().push(event.kind());
    }
}

#[test]
fn whoever_watches_is_told_what_somebody_else_wrote_first() {
    let steps = "  - { id: a, run: 1s }\n  - { id: may, type: approval, prompt: May it?, needs: [a] }\n";
    let place = Place::with_scripts(own(steps), |_: &Spec| {
        let line = Line { stream: Stream::Stdout, bytes: b"x".to_vec() };
        Script { takes: Some(1_000), output: vec![(900, line)], ..Script::default() }
    });
    played(&place, |place| async move {
        let seen = Arc::new(Seen::default());
        let program = place.watched("first", Arc::clone(&seen) as Arc<dyn Observer>);
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        place.clock.sleep(500).await;
        // Both happen between two looks of the driver: the end of the step, and this.
        let other = place.program("other");
        place.clock.sleep(500).await;
        let cancel = Command::Cancel { by: "eve".into(), reason: None };
        service::command(&other.driver, &id, cancel).await.unwrap();
        drive.end().await.unwrap();
        let told = seen.0.lock().unwrap().clone();
        let log = abide_engine::load(&place.store, &id).await.unwrap();
        assert_eq!(told.len() as u64 + 1, log.seq, "all but its creation: {told:?}");
        assert!(told.contains(&"run.cancel_requested"), "{told:?}");
    });
}

const SECRET_CHILD: &str = "description: x
inputs: { token: { type: string, secret: true } }
steps:
  - { id: a, run: \"use {{inputs.token}}\", idempotent: true }
";

/// Returns a project with a run that hands its secret to a child, and what the child's processes were given.
fn with_secret() -> (Place, Arc<Mutex<Vec<String>>>) {
    let own = "description: x
inputs: { token: { type: string, secret: true } }
steps:
  - { id: call, workflow: child, inputs: { token: \"{{inputs.token}}\" } }
";
    let workspace = MemoryWorkspace::default().with("own", own.to_owned(), Vec::new()).with(
        "child",
        SECRET_CHILD.to_owned(),
        Vec::new(),
    );
    let given = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&given);
    let place = Place::with_scripts(workspace, move |spec| {
        let value = spec.variables.iter().find(|variable| variable.name.starts_with("ABIDE_VALUE"));
        seen.lock().unwrap().extend(value.map(|variable| variable.value.clone()));
        Script { takes: Some(4_000), ending: Ending::Exited(0), ..Script::default() }
    });
    (place, given)
}

#[test]
fn a_child_gets_its_secrets_from_its_parent_again_after_a_crash() {
    let (place, given) = with_secret();
    played(&place, |place| async move {
        let first = place.program("first");
        let token = || Value::Text("hunter22-hunter22".to_owned());
        let id = place.start(&first, vec![("token".to_owned(), token())]).await;
        let drive = first.drive(&id);
        place.clock.sleep(1_000).await;
        first.crash(&drive);

        let second = place.program("second");
        let error = second.drive(&id).end().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("run {id} needs its secret input `token` again, which the log does not hold")
        );
        let run = place.run(&id).await;
        let again = service::secrets_again(&run, &[("token".to_owned(), token())]).unwrap();
        second.driver.give_secrets(&id, again);
        assert_eq!(second.drive(&id).end().await.unwrap(), RunStatus::Completed);
        assert_eq!(*given.lock().unwrap(), ["hunter22-hunter22", "hunter22-hunter22"]);
    });
}

#[test]
fn a_run_that_only_has_to_end_needs_no_secrets() {
    let (place, _) = with_secret();
    played(&place, |place| async move {
        let first = place.program("first");
        let id = place
            .start(&first, vec![("token".to_owned(), Value::Text("hunter22-hunter22".to_owned()))])
            .await;
        let drive = first.drive(&id);
        place.clock.sleep(1_000).await;
        first.crash(&drive);
        let second = place.program("second");
        let cancel = Command::Cancel { by: "eve".into(), reason: None };
        service::command(&second.driver, &id, cancel).await.unwrap();
        assert_eq!(second.drive(&id).end().await.unwrap(), RunStatus::Cancelled);
        assert_eq!(place.world.alive(), Vec::<String>::new());
    });
}

#[test]
fn a_driver_whose_lease_ran_out_starts_nothing_before_it_has_it_again() {
    let steps = "  - { id: a, run: 1s, idempotent: true, validation: { check: [5s, 2s] } }\n";
    let place = Place { others_are_gone: false, ..Place::new(own(steps)) };
    played(&place, |place| async move {
        let first = place.program("first");
        let id = place.start(&first, Vec::new()).await;
        let slept = first.drive(&id);
        place.clock.sleep(2_000).await;
        // The machine slept for an hour, and somebody else took over the moment it woke.
        place.clock.jump(3_600_000);
        let other = place.program("second").drive(&id);
        place.clock.sleep(10).await;
        let error = slept.end().await.unwrap_err();
        assert!(
            matches!(error, DriveError::Store(StoreError::LeaseLost(_) | StoreError::Held { .. })),
            "{error}"
        );
        assert_eq!(other.end().await.unwrap(), RunStatus::Completed);
        // The other one swept the first check; the one after it would have run beside the second attempt.
        let marks = ["a#1", "a#1/check0", "a#2", "a#2/check0", "a#2/check1"];
        assert_eq!(place.marks(), marks.map(|mark| format!("{id}/{mark}")));
    });
}

#[test]
fn a_run_whose_lease_ran_out_can_be_left() {
    let steps = "  - { id: a, run: 1s, validation: { check: [5s, 2s] } }\n";
    played(&Place::new(own(steps)), |place| async move {
        let program = place.program("first");
        let id = place.start(&program, Vec::new()).await;
        let drive = program.drive(&id);
        // Between two heartbeats the machine sleeps, and the second check waits for the next of them.
        place.clock.sleep(5_500).await;
        place.clock.jump(3_600_000);
        place.clock.sleep(1_500).await;
        tokio::select! {
            left = drive.leave() => drop(left.unwrap()),
            () = place.clock.sleep(60_000) => panic!("it is still there"),
        }
        assert_eq!(place.marks(), [format!("{id}/a#1"), format!("{id}/a#1/check0")]);
    });
}
