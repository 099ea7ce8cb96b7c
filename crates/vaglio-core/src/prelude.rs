//! The names that most parts use: traits, their arguments and results.

pub use crate::{
    Action, Answer, Cells, Classes, Coefficients, Column, Columns, Criterion, CriterionTraits, Design, EngineEvaluator,
    Estimate, Evaluator, Event, Expression, Feature, FeatureMap, FittedMap, FittedTargetMap, Form, HeldOut, Lambda,
    Learner, LinearForm, Loss, MapFit, MapFormulas, MapTraits, Measure, Model, ModelData, ModelParts, Numbers,
    Observer, PartOutputs, PathEntry, Plan, Predict, Predictor, Problem, Readout, ReadoutMap, Refit, Resampling, Round,
    Score, SearchExtent, Split, Step, StopReason, TargetMap, Task, Trained, TrainingRows, Winner, part, saved, setting,
};
