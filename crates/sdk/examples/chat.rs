//! Talks with an agent: its words are printed as they come, and a call that needs a human's yes is answered with the key of somebody else.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "an example talks and reads its environment"
)]

use abide_sdk::{Abide, Error, Options, Told};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let server = std::env::var("ABIDE_SERVER").unwrap_or_else(|_| "http://127.0.0.1:7070".to_owned());
    let me = Abide::new(&Options::new(&server).key(variable("CI_KEY")))?;
    let ada = Abide::new(&Options::new(&server).key(variable("ADA_KEY")))?;

    let mut words = std::env::args().skip(1);
    let agent = words.next().unwrap_or_default();
    let session = me.agents().create_session(&agent, Some("a chat")).await?.id;
    for text in words {
        println!("> {text}");
        let mut talk = me.sessions().talk(&session, text).await?;
        while let Some(told) = talk.next().await? {
            match told {
                Told::Delta(text) => print!("{text}"),
                Told::Again(_) => println!("\n(once more)"),
                Told::Event(event) if event.kind == "model.answered" => println!(),
                Told::Event(event) if event.data["decision"] == "asked" => decide(&ada, &session).await?,
                Told::Event(_) => {}
            }
        }
        println!("({})", talk.message().await?.turn.status);
    }
    Ok(())
}

/// A call waits for its answer for a minute; it is in the inbox a moment after its event.
async fn decide(ada: &Abide, session: &str) -> Result<(), Error> {
    for _ in 0..100 {
        let mut asked = ada.approvals().list();
        while let Some(approval) = asked.next().await? {
            if approval.session.as_deref() == Some(session) {
                println!("(ada is asked: {} {})", approval.tool.unwrap_or_default(), approval.arguments);
                ada.approvals().answer(&approval.id, None, "approved", None).await?;
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
