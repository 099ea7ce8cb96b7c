//! Every example runs; every command in the book and the README prints what the page shows; links lead somewhere.
#![allow(clippy::unwrap_used, clippy::panic)]

mod book;
mod examples;
mod items;
mod links;
mod pages;
mod peers;
mod pipelines;
mod reference;
