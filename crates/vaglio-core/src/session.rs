//! Caches of a design.
//!
//! A design that is made of another by other columns, targets, weights, rows or fits in folds begins with empty caches.
//! Designs that differ only in λ, or in how far and on whose behalf they are searched, share [`SharedCaches`], which depends on
//! neither: columns in other units, columns that maps are refitted to, and the sessions of criteria. What depends on these
//! too is [`OwnCaches`], which copies of a design have in common and any other design begins anew. What depends on the rows alone is
//! kept for designs of other columns, too.

use crate::power_of_two::PowerOfTwoScaling;
use ndarray::Array2;
use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};
use vaglio_columns::Columns;

/// Columns and targets in other units, with what is computed of them.
type Scaled = (Arc<Columns>, Arc<Array2<f64>>, Arc<SharedCaches>);

/// Caches that designs share if they differ only in λ.
#[derive(Debug, Default)]
pub(crate) struct SharedCaches {
    /// Rescaled columns and targets, by their units.
    pub units: ByKey<PowerOfTwoScaling, Scaled>,
    /// Columns that maps make when they are refitted on some rows, with what is computed of them.
    pub refitted: ByKey<Vec<usize>, (Arc<Columns>, Arc<SharedCaches>)>,
    pub sessions: Sessions,
}

/// Values that criteria keep, one of each type.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Sessions {
    /// The value of a type, empty when it is first asked for.
    pub fn of<S: Any + Default + Send + Sync>(&self) -> Arc<S> {
        let Ok(mut sessions) = self.0.lock() else { return Arc::default() };
        if let Some(known) = sessions.iter().find_map(|session| Arc::clone(session).downcast().ok()) {
            return known;
        }
        let session: Arc<S> = Arc::default();
        sessions.push(Arc::clone(&session) as _);
        session
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sessions")
    }
}

/// Designs `D` that were made of one.
#[derive(Debug)]
pub(crate) struct OwnCaches<D> {
    /// The design in other units; `None` where it stays in its own.
    pub in_units: OnceLock<Option<Box<(PowerOfTwoScaling, D)>>>,
    /// The design of each output.
    pub outputs: OnceLock<Vec<D>>,
    /// The designs of the first lists of training rows that were asked for.
    pub folds: OnceLock<(Vec<Vec<usize>>, Vec<D>)>,
}

impl<D> Default for OwnCaches<D> {
    fn default() -> Self {
        OwnCaches { in_units: OnceLock::new(), outputs: OnceLock::new(), folds: OnceLock::new() }
    }
}

/// Values by their keys; of two that are made of one key at once the first is kept.
#[derive(Debug)]
pub struct ByKey<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for ByKey<K, V> {
    fn default() -> Self {
        ByKey(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> ByKey<K, V> {
    /// The value of a key, if there is one.
    pub fn known<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().ok()?.get(key).cloned()
    }

    /// Keeps a value, and gives that of the key.
    pub fn keep(&self, key: K, value: V) -> V {
        match self.0.lock() {
            Ok(mut values) => values.entry(key).or_insert(value).clone(),
            Err(_) => value,
        }
    }
}

/// The value of a session that was computed last; nothing is computed under its lock.
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
        self.0.lock().ok()?.clone()
    }

    /// Puts a value in the place of the one before.
    pub fn set(&self, value: Arc<T>) {
        if let Ok(mut own) = self.0.lock() {
            *own = Some(value);
        }
    }
}
