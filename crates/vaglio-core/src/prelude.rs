//! The names that most parts use: traits, their arguments and results.

pub use crate::{
    Action, Cells, Classes, Coefficients, Column, Columns, Criterion, CriterionTraits, Design, Estimate, Evaluator,
    Expression, Feature, FeatureMap, FittedMap, FittedTargetMap, HeldOut, Lambda, Learner, Loss, LossTasks, LossTraits,
    MapFormulas, MapTraits, Measure, Model, ModelData, Numbers, PartOutputs, Plan, Problem, Readout, ReadoutMap,
    Resampling, ResamplingTraits, Round, Score, SearchExtent, Split, StopReason, TargetMap, Task, TrainedReadout,
    TrainingRows, Winner, part, saved, setting,
};
