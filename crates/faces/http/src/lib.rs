//! abide over HTTP: REST and server-sent events under `/v1`.
//!
//! [`routes::ROUTES`] is the one table of everything that can be asked, with who may: the door looks requests up in it, the `OpenAPI`
//! document is made from it, and a test walks it. [`Server::bind`] listens; `door` lets requests in or not; `operations` does
//! what they ask, through the engine's service and the [`House`] that the cli puts together.
#![warn(missing_docs)]

mod ask;
mod bounds;
mod docs;
mod door;
mod fleet;
mod house;
mod hub;
mod line;
mod meter;
mod notices;
mod openapi;
mod operations;
mod problem;
mod rates;
mod reply;
mod room;
pub mod routes;
mod schemas;
mod server;
mod standing;
mod steady;
pub mod view;
mod who;

pub use fleet::Fleet;
pub use house::{Drawn, House, HouseDriver, Look};
pub use hub::Hub;
pub use line::{Line, Log};
pub use meter::Meter;
pub use notices::Notices;
pub use openapi::document as openapi;
pub use operations::{audit_row, random};
pub use problem::{Code, Problem};
pub use server::{Options, ServeError, Server, Times};
