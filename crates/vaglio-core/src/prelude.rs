//! The names that most parts use: traits, their arguments and results.

pub use crate::{
    Action, Cells, Classes, Coefficients, Column, Columns, Criterion, CriterionTraits, Design, Estimate, Evaluator,
    Expression, Feature, FeatureMap, FittedMap, FittedTargetMap, Form, HeldOut, Lambda, Learner, LinearForm, Loss,
    MapFormulas, MapTraits, Measure, Model, ModelData, Numbers, PartOutputs, Plan, Problem, Readout, ReadoutMap, Refit,
    Resampling, ResamplingTraits, Round, Score, SearchExtent, Split, StopReason, TargetMap, Task, TrainedReadout,
    TrainingRows, Winner, part, saved, setting,
};
