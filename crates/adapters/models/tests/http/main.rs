//! Models over HTTP, against a scripted server and against bytes that no server should send.

mod contract;
mod served;
mod talking;
