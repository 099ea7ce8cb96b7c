//! Caches of a design.
//!
//! A design derived from another by other columns, targets, weights, rows or fits in folds begins with empty caches.
//! Designs that differ only in λ, or in the extent and owner of their search, share [`SharedCaches`]. These do not
//! depend on λ: units of rows, rescaled columns, columns of refitted maps, and the sessions of criteria. Values that
//! depend on λ are in `OwnCaches`. Copies of a design share these; any other design begins anew.

use crate::Result;
use crate::power_of_two::PowerOfTwoScaling;
use crate::prediction_units::PredictionUnits;
use ndarray::Array2;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};
use vaglio_columns::{Columns, lock};

/// Rescaled columns and targets with their caches.
type Scaled = (Arc<Columns>, Arc<Array2<f64>>, Arc<SharedCaches>);

/// Caches that designs share if they differ only in λ.
#[derive(Debug, Default)]
pub(crate) struct SharedCaches {
    /// The units of the rows.
    pub prediction_units: OnceLock<PredictionUnits>,
    /// Rescaled columns and targets, by their exponents.
    pub units: ByKey<PowerOfTwoScaling, Scaled>,
    /// Columns of maps refitted on some rows, with their caches, by those rows.
    pub refitted: ByKey<Vec<usize>, (Arc<Columns>, Arc<SharedCaches>)>,
    /// Cached values of criteria, one of each type.
    pub sessions: ByKey<TypeId, Arc<dyn Any + Send + Sync>>,
}

/// Values by key. If two threads compute one key at once, the first value is kept.
#[derive(Debug)]
pub struct ByKey<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for ByKey<K, V> {
    fn default() -> Self {
        ByKey(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> ByKey<K, V> {
    /// The value of a key, which `make` computes without a lock on first use.
    pub fn get_or_try_make<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(known) = lock(&self.0).get(&key).cloned() {
            return Ok(known);
        }
        let value = make()?;
        Ok(lock(&self.0).entry(key).or_insert(value).clone())
    }
}

/// The last computed value of a session. Nothing is computed under its lock.
#[derive(Debug)]
pub struct Cache<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<T> Cache<T> {
    /// The value, if there is one.
    pub fn get(&self) -> Option<Arc<T>> {
        lock(&self.0).clone()
    }

    /// Replaces the value.
    pub fn set(&self, value: Arc<T>) {
        *lock(&self.0) = Some(value);
    }

    /// The value if it `is_known`, else the one that `make` computes, which replaces it.
    pub fn get_or_try_make(
        &self,
        is_known: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if let Some(known) = self.get().filter(|known| is_known(known)) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        self.set(Arc::clone(&made));
        Ok(made)
    }
}
