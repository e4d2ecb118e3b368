//! The names of the arguments that a tool takes, with their aliases, so that an answer can tell which others were ignored.

use std::cell::Cell;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The fields that a type is read from; `None` if it is no struct.
pub fn fields<A: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let seen = Cell::new(None);
    // It fails as soon as the names are known.
    let _ = A::deserialize(Probe(&seen));
    seen.get()
}

/// Input that is only asked which fields are wanted.
struct Probe<'a>(&'a Cell<Option<&'static [&'static str]>>);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.set(Some(fields));
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only its names are used")]
    struct Named {
        #[serde(alias = "issueNumber")]
        number: u32,
        #[serde(default)]
        dry_run: bool,
        #[serde(skip)]
        hidden: bool,
    }

    #[derive(Deserialize)]
    #[serde(transparent)]
    #[allow(dead_code, reason = "only its names are used")]
    struct Inside {
        named: Named,
    }

    #[test]
    fn names_and_aliases_are_found_also_below_a_transparent_type() {
        for found in [fields::<Named>(), fields::<Inside>()] {
            let mut found = found.unwrap().to_vec();
            found.sort_unstable();
            assert_eq!(found, ["dryRun", "issueNumber", "number"]);
        }
        assert_eq!(fields::<Vec<u32>>(), None);
    }
}
