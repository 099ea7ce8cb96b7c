//! The names that most parts use: traits, their arguments and results.

pub use crate::{
    Action, Answer, Cells, Classes, Coefficients, Column, ColumnFormula, Columns, Criterion, CriterionTraits, Design,
    EngineEvaluator, Error, Estimate, Evaluator, Event, Expression, Feature, FeatureMap, FittedMap, FittedTargetMap,
    Form, HeldOut, Lambda, Learner, LinearForm, Loss, Map, MapFit, MapFormulas, MapTraits, Measure, Model, ModelData,
    ModelParts, Numbers, Observer, PartOutputs, Path, PathEntry, Plan, Predict, Predictor, Problem, Readout,
    ReadoutMap, Refit, Resampling, Result, Round, Score, SearchExtent, Split, Step, StopReason, Table, TargetMap, Task,
    Trained, TrainingRows, Winner, part, saved, setting,
};
