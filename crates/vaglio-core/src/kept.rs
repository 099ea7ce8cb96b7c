//! What was computed of a design and does not depend on λ.

use std::any::{Any, TypeId};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// One value of each type, shared by the designs of all λ.
///
/// Nothing is computed under its lock: of two threads that need a value at once both compute it.
#[derive(Default)]
pub(crate) struct Kept(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Kept {
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let values = self.0.lock().ok()?;
        Arc::clone(values.get(&TypeId::of::<T>())?).downcast().ok()
    }

    pub fn get_or_default<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let made = || Arc::new(T::default());
        let Ok(mut values) = self.0.lock() else { return made() };
        let value = Arc::clone(values.entry(TypeId::of::<T>()).or_insert_with(|| made()));
        value.downcast().unwrap_or_else(|_| made())
    }

    pub fn set<T: Any + Send + Sync>(&self, value: Arc<T>) {
        if let Ok(mut values) = self.0.lock() {
            values.insert(TypeId::of::<T>(), value);
        }
    }
}

/// Values by their keys; of two that are made of one key at once the first is kept.
#[derive(Debug)]
pub(crate) struct ByKey<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for ByKey<K, V> {
    fn default() -> Self {
        ByKey(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> ByKey<K, V> {
    pub fn known<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().ok()?.get(key).cloned()
    }

    pub fn keep(&self, key: K, value: V) -> V {
        match self.0.lock() {
            Ok(mut values) => values.entry(key).or_insert(value).clone(),
            Err(_) => value,
        }
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}
