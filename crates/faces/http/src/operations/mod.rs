//! What is done for a request that was let in: one file per kind of thing.

mod keys;
mod meta;

pub use keys::random;

use crate::ask::Ask;
use crate::door::{Answered, Door};
use crate::house::House;
use crate::routes::Operation;

/// Does what a request asks for.
pub(crate) async fn done<H: House>(door: &Door<H>, operation: Operation, ask: Ask) -> Answered {
    match operation {
        Operation::Health => Ok(meta::health()),
        Operation::Ready => meta::ready(&*door.house).await,
        Operation::Version => Ok(meta::version()),
        Operation::OpenApi => Ok(meta::openapi()),
        Operation::ListKeys => keys::list(&*door.house, &ask).await,
        Operation::CreateKey => keys::create(&*door.house, &ask).await,
        Operation::RevokeKey => keys::revoke(&*door.house, &ask).await,
    }
}
