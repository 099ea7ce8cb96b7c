//! Serialization of searches: shared settings and the strategy's own in one map.

use crate::chain::Chain;
use crate::settings::SearchSettings;
use crate::{Search, registered};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use vaglio_core::MixedSetting;
use vaglio_core::registered::WRITTEN;
use vaglio_core::serde_json::{self, Map, Value};

/// Merges the entries of a search in the order of files: leading shared settings, the strategy's own, the other shared
/// ones.
pub(super) fn merge(shared: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    let leading = &SearchSettings::NAMES[..SearchSettings::LEADING];
    let (first, last): (Vec<_>, Vec<_>) = shared.into_iter().partition(|(name, _)| leading.contains(&name.as_str()));
    first.into_iter().chain(own).chain(last).collect()
}

impl Serialize for Search {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = |written: serde_json::Result<Value>| {
            written.and_then(serde_json::from_value::<Map<String, Value>>).map_err(S::Error::custom)
        };
        let shared = match self.shared_settings() {
            [] => Map::new(),
            _ => object(serde_json::to_value(&self.settings))?,
        };
        let mut own = object(serde_json::to_value(&*self.strategy as &dyn registered::SearchStrategy))?;
        own.retain(|name, _| name != "kind");
        let all = merge(shared, own);
        let mut map = serializer.serialize_map(Some(1 + all.len()))?;
        map.serialize_entry("kind", self.kind())?;
        all.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// Two searches are equal if they serialize equally.
impl PartialEq for Search {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

vaglio_core::mixed_setting!(Search);

/// A map with its `kind`, a word for the `kind` alone, or a list of searches as a chain.
impl MixedSetting for Search {
    const EXPECTED: &'static str = "a search: its word, or keys and values with that as `kind`";
    const NEWTYPE: &'static str = WRITTEN;

    fn from_text<E: de::Error>(word: &str) -> Result<Self, E> {
        Self::from_map(MapDeserializer::new([("kind", word)].into_iter()))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let stages = Vec::<Search>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Search::new(Chain { stages }))
    }

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let (settings, given) = (SearchSettings::default(), Vec::new());
        let mut read = SearchMap { map, is_kind: false, kind: None, settings, given, refused: None };
        let strategy = Box::<dyn registered::SearchStrategy>::deserialize(MapAccessDeserializer::new(&mut read));
        let strategy = strategy.map_err(|error| {
            let refused = read.refused.as_ref().and_then(|key| Some((key, read.fields()?)));
            refused.map_or(error, |(key, fields)| A::Error::unknown_field(key, fields))
        })?;
        let search = Search::from_strategy(strategy.part().into());
        let names = search.shared_settings();
        if let Some(name) = read.given.iter().find(|name| !names.contains(name)) {
            return Err(A::Error::unknown_field(name, names));
        }
        let mut settings = read.settings;
        if !read.given.contains(&"tolerance") {
            settings.tolerance = search.settings.tolerance;
        }
        Ok(Search { settings, ..search })
    }
}

/// View of a map with only the strategy's own settings; shared ones are read in passing.
struct SearchMap<A> {
    map: A,
    /// Whether the value of `kind` comes next.
    is_kind: bool,
    kind: Option<String>,
    /// The shared settings read so far, and their names.
    settings: SearchSettings,
    given: Vec<&'static str>,
    /// A key that the strategy refused.
    refused: Option<String>,
}

impl<A> SearchMap<A> {
    /// The names of all settings of the search, once its `kind` is known.
    fn fields(&self) -> Option<&'static [&'static str]> {
        #[cfg(feature = "schema")]
        return super::schema::FIELDS.get(self.kind.as_deref()?).copied();
        #[cfg(not(feature = "schema"))]
        None
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut SearchMap<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            if let Some(name) = SearchSettings::NAMES.into_iter().find(|name| *name == key) {
                if self.given.contains(&name) {
                    return Err(A::Error::duplicate_field(name));
                }
                self.given.push(name);
                self.settings.read(name, &mut self.map)?;
                continue;
            }
            self.is_kind = key == "kind";
            let own: Result<_, A::Error> = seed.deserialize(key.as_str().into_deserializer());
            self.refused = own.is_err().then_some(key);
            return own.map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match std::mem::take(&mut self.is_kind) {
            true => self.map.next_value_seed(KindSeed { seed, kind: &mut self.kind }),
            false => self.map.next_value_seed(seed),
        }
    }
}

/// Reads the value of `kind` and remembers it.
struct KindSeed<'r, V> {
    seed: V,
    kind: &'r mut Option<String>,
}

impl<'de, V: DeserializeSeed<'de>> DeserializeSeed<'de> for KindSeed<'_, V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, V: DeserializeSeed<'de>> Visitor<'de> for KindSeed<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the word of a search")
    }

    fn visit_str<E: de::Error>(self, kind: &str) -> Result<V::Value, E> {
        *self.kind = Some(kind.to_owned());
        self.seed.deserialize(kind.into_deserializer())
    }
}
