//! Tests of the examples, the book and the README: programs run, commands print what the page shows, links work.
#![allow(clippy::unwrap_used, clippy::panic)]

mod book;
mod examples;
mod items;
mod links;
mod pages;
mod peers;
mod pipelines;
mod reference;
