//! All that most parts name: the traits, what they are given and what they return.

pub use crate::{
    Action, Answer, Cells, Choose, Coefficients, Column, Columns, Criterion, Design, Error, Estimate, Evaluator,
    Feature, FeatureMap, FittedMap, Form, HeldOut, Lambda, Learner, LinearForm, Map, Model, ModelData, Numbers,
    Observer, Outline, Parts, Path, PathEntry, Predict, Predictor, Problem, Readout, ReadoutMap, Refit, Result, Score,
    SearchContext, SearchStrategy, Shortcut, Step, StopReason, Subset, Table, Task, Trained, TrainingRows, Winner,
    part, saved, setting,
};
