//! Every example runs; every command in the book and the README prints what the page shows.
#![allow(clippy::unwrap_used, clippy::panic)]

mod book;
mod examples;
mod matrix;
