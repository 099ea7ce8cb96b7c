//! The command line, pipelines, messages, and the rules of the source tree.

mod bad_data;
mod bad_settings;
mod bias;
mod browser;
mod cells;
mod chain;
mod common;
mod compare;
mod contract;
mod data_settings;
mod dependence;
mod describe;
mod empty;
mod folds_and_searches;
mod honest;
mod information;
mod later;
mod models;
mod predict;
mod predict_beside;
mod report;
mod series;
mod splits;
mod tables;
mod tidy;
mod tune;
