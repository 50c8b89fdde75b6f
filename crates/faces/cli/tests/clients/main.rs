//! The gate inside the real clients: `abide install` puts it in, a scripted model behind the client tries everything.
//!
//! Every scenario is written once and runs in each client. What came of it is told by what the model was told and by
//! what lies on the disk, never by one of them alone. `./test clients` runs these; CONTRIBUTING.md says how to by hand.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that clients work with"
)]

mod attempt;
mod broken;
mod codex_only;
mod condensed;
mod delegate;
mod doors;
mod levels;
mod live;
mod opencode_only;
mod outside;
mod play;
mod runner;
mod runs;
mod sdk;
mod sdk_server;
mod seat;
mod stage;
mod user;

use abide_testkit::client::{ClaudeCode, Codex, Installed, OpenCode};

fn claude() -> ClaudeCode {
    ClaudeCode::new(&Installed::find().unwrap()).unwrap()
}

fn codex() -> Codex {
    Codex::new(&Installed::find().unwrap()).unwrap()
}

fn opencode() -> OpenCode {
    OpenCode::new(&Installed::find().unwrap()).unwrap()
}

/// Makes a test of each scenario for each client; a scenario is a function that is given the client.
macro_rules! in_each_client {
    ($($scenario:ident)*) => {
        mod real_clients {
            mod claude { $crate::scenarios!(claude: $($scenario)*); }
            mod codex { $crate::scenarios!(codex: $($scenario)*); }
            mod opencode { $crate::scenarios!(opencode: $($scenario)*); }
        }
    };
}

macro_rules! scenarios {
    ($client:ident: $($scenario:ident)*) => { $(
        #[tokio::test]
        async fn $scenario() {
            super::super::$scenario($crate::$client()).await;
        }
    )* };
}

pub(crate) use {in_each_client, scenarios};
