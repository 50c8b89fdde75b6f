//! Real processes keep the part of the contract that the twin of the port keeps too.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests look at processes")]

mod support;

use abide_engine::port::Spec;
use abide_process::LocalProcess;
use abide_testkit::twin::contract::{Act, Subject};
use std::sync::Arc;
use std::time::Duration;
use support::{block_on, carriers, script};

/// Processes of this machine, with less patience than users have.
struct Local(Arc<LocalProcess>);

impl Subject for Local {
    type Process = LocalProcess;

    fn process(&self) -> Arc<LocalProcess> {
        Arc::clone(&self.0)
    }

    fn spec(&self, act: Act) -> Spec {
        match act {
            Act::Exits(code) => script(&format!("exit {code}")),
            Act::Writes => script("echo out1; echo err1 >&2; echo out2; echo out3"),
            Act::Waits => script("echo up; sleep 60 & wait"),
            Act::IsDeaf => script("trap '' TERM; echo up; while :; do sleep 0.05; done"),
            Act::IsMissing => Spec { program: "/nowhere/program".to_owned(), ..script("") },
        }
    }

    fn carriers(&self, mark: &str) -> usize {
        carriers(mark)
    }

    async fn wait(&self, milliseconds: u64) {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }

    fn play(self: Arc<Self>, rule: impl Future<Output = ()> + Send + 'static) {
        block_on(rule);
    }
}

abide_testkit::process_contract!(Local(Arc::new(
    LocalProcess::new().with_patience(Duration::from_millis(300))
)));
