//! Responses generated from the schema alone, to test that a client decodes everything it permits.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::Schema;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::schema::{ExtendedType, Type};
use serde_json::{Map, Value, json};

use super::schema::{Level, schema};

/// How many of the optional values exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Nothing is null, lists have elements of every type the document asks about.
    Fullest,
    /// All that may be null is null, lists are empty.
    Emptiest,
    /// Nulls, list lengths, union members and enum values by chance.
    Random,
}

/// The `data` of a response to the named operation; each seed gives other enum values and types.
///
/// # Panics
/// If the document is not valid or has no such operation.
#[must_use]
pub fn sample(document: &str, operation: &str, mode: Sample, seed: u64) -> Value {
    let schema = schema(Level::Dotcom);
    let parsed = ExecutableDocument::parse_and_validate(schema, document, "document.graphql")
        .unwrap_or_else(|e| panic!("the document is not valid: {}", e.errors));
    let found = parsed.operations.get(Some(operation)).unwrap_or_else(|e| panic!("{}", e.message()));
    let mut maker =
        Maker { schema, document: &parsed, mode, turn: seed, chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 };
    maker.object(found.object_type().as_str(), &[&found.selection_set])
}

struct Maker<'a> {
    schema: &'a Schema,
    document: &'a ExecutableDocument,
    mode: Sample,
    turn: u64,
    chance: u64,
}

impl<'a> Maker<'a> {
    fn next_turn(&mut self, among: usize) -> usize {
        self.turn = self.turn.wrapping_add(1);
        usize::try_from(self.turn % u64::try_from(among.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn roll(&mut self, among: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 16) % among
    }

    fn value(&mut self, ty: &Type, sets: &[&'a SelectionSet]) -> Value {
        let absent = match self.mode {
            Sample::Fullest => false,
            Sample::Emptiest => true,
            Sample::Random => self.roll(4) == 0,
        };
        if !ty.is_non_null() && absent {
            return Value::Null;
        }
        match ty {
            Type::List(inner) | Type::NonNullList(inner) => self.list(inner, sets),
            Type::Named(name) | Type::NonNullNamed(name) => self.named(name.as_str(), sets),
        }
    }

    fn list(&mut self, inner: &Type, sets: &[&'a SelectionSet]) -> Value {
        let length = match self.mode {
            Sample::Fullest => self.concrete(inner.inner_named_type().as_str(), sets).len().max(2),
            Sample::Emptiest => 0,
            Sample::Random => usize::try_from(self.roll(4)).unwrap_or(0),
        };
        (0..length).map(|_| self.value(inner, sets)).collect()
    }

    fn named(&mut self, name: &str, sets: &[&'a SelectionSet]) -> Value {
        match self.schema.types.get(name) {
            Some(ExtendedType::Enum(def)) => {
                let at = self.next_turn(def.values.len());
                def.values.keys().nth(at).map_or(Value::Null, |v| v.as_str().into())
            }
            Some(ExtendedType::Scalar(_)) | None => self.scalar(name),
            Some(_) => {
                let types = self.concrete(name, sets);
                let at = self.next_turn(types.len());
                self.object(&types[at], sets)
            }
        }
    }

    /// The object types that a field can have; the fullest sample uses those that the document names.
    fn concrete(&self, name: &str, sets: &[&'a SelectionSet]) -> Vec<String> {
        let all: Vec<String> = match self.schema.types.get(name) {
            Some(ExtendedType::Union(def)) => def.members.iter().map(ToString::to_string).collect(),
            Some(ExtendedType::Interface(_)) => self.implementers(name),
            _ => return vec![name.into()],
        };
        let asked: Vec<String> = all.iter().filter(|t| sets.iter().any(|s| self.mentions(s, t))).cloned().collect();
        if self.mode == Sample::Random || asked.is_empty() { all } else { asked }
    }

    fn implementers(&self, interface: &str) -> Vec<String> {
        let object = |(name, ty): (&apollo_compiler::Name, &ExtendedType)| match ty {
            ExtendedType::Object(def)
                if def.implements_interfaces.iter().any(|i| i.name == interface) && name != "Query" =>
            {
                Some(name.to_string())
            }
            _ => None,
        };
        self.schema.types.iter().filter_map(object).collect()
    }

    fn mentions(&self, set: &SelectionSet, ty: &str) -> bool {
        set.selections.iter().any(|s| match s {
            Selection::Field(_) => false,
            Selection::InlineFragment(inline) => {
                inline.type_condition.as_ref().is_some_and(|c| self.applies(c.as_str(), ty))
                    || self.mentions(&inline.selection_set, ty)
            }
            Selection::FragmentSpread(spread) => self
                .document
                .fragments
                .get(&spread.fragment_name)
                .is_some_and(|f| self.applies(f.type_condition().as_str(), ty)),
        })
    }

    fn applies(&self, condition: &str, ty: &str) -> bool {
        match self.schema.types.get(condition) {
            Some(ExtendedType::Union(def)) => def.members.iter().any(|m| m.name == ty),
            Some(ExtendedType::Interface(_)) => {
                self.schema.get_object(ty).is_some_and(|o| o.implements_interfaces.iter().any(|i| i.name == condition))
            }
            _ => condition == ty,
        }
    }

    fn object(&mut self, ty: &str, sets: &[&'a SelectionSet]) -> Value {
        let mut fields: IndexMap<String, Vec<&'a Field>> = IndexMap::default();
        for set in sets {
            self.collect(ty, set, &mut fields);
        }
        let mut object = Map::new();
        for (key, merged) in fields {
            let below: Vec<&SelectionSet> = merged.iter().map(|f| &f.selection_set).collect();
            let value = match merged[0].name.as_str() {
                "__typename" => ty.into(),
                _ => self.value(merged[0].ty(), &below),
            };
            object.insert(key, value);
        }
        object.into()
    }

    fn collect(&self, ty: &str, set: &'a SelectionSet, into: &mut IndexMap<String, Vec<&'a Field>>) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => into.entry(field.response_key().to_string()).or_default().push(field),
                Selection::InlineFragment(inline) => {
                    if inline.type_condition.as_ref().is_none_or(|c| self.applies(c.as_str(), ty)) {
                        self.collect(ty, &inline.selection_set, into);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                        && self.applies(fragment.type_condition().as_str(), ty)
                    {
                        self.collect(ty, &fragment.selection_set, into);
                    }
                }
            }
        }
    }

    fn scalar(&mut self, name: &str) -> Value {
        let turn = self.next_turn(1_000);
        match name {
            "Int" => json!(turn),
            "Float" => json!(0.5 + f64::from(u16::try_from(turn).unwrap_or(0))),
            "Boolean" => json!(turn.is_multiple_of(2)),
            "ID" => json!(format!("ID_{turn}")),
            "DateTime" => json!(format!("2026-11-16T12:{:02}:{:02}Z", turn / 60 % 60, turn % 60)),
            "Date" => json!(format!("2026-11-{:02}", 1 + turn % 28)),
            "URI" => json!(format!("https://github.com/acme/app/issues/{turn}")),
            "GitObjectID" => json!(format!("{turn:040x}")),
            _ => json!(format!("text {turn} \u{e4}")),
        }
    }
}
