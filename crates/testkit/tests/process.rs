//! The twin of processes keeps the contract of processes.

use abide_engine::port::{Process as _, Signal};
use abide_testkit::twin::contract::{Act, Subject as _, TwinSubject};
use abide_testkit::twin::{Script, TwinProcess, VirtualClock, World, play};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

abide_testkit::process_contract!(TwinSubject::new());

#[test]
fn what_a_crashed_program_left_goes_on_until_it_is_swept() {
    let clock = VirtualClock::at(0);
    let world =
        World::new(clock.clone(), |_| Script { takes: Some(60_000), deaf: true, ..Script::default() });
    let (time, seen) = (clock.clone(), Arc::clone(&world));
    play(&clock, async move {
        let crashed = Arc::new(AtomicBool::new(false));
        let first = TwinProcess::new(&seen, &crashed);
        let spec = TwinSubject::new().spec(Act::IsDeaf);
        let marks = [spec.mark.clone()];
        let running = tokio::spawn(async move {
            first.run(spec, std::future::pending::<Signal>, |_| std::future::ready(())).await
        });
        time.sleep(100).await;
        crashed.store(true, Ordering::SeqCst);
        running.abort();
        time.sleep(1_000).await;
        assert_eq!(seen.alive(), marks, "nobody was there to end it");
        let second = TwinProcess::new(&seen, &Arc::default());
        assert_eq!(second.sweep(&marks).await, 1);
        assert_eq!(seen.alive(), Vec::<String>::new());
        assert_eq!(second.sweep(&marks).await, 0, "a second sweep finds nothing");
    });
}
