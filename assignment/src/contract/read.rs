//! Reading the contract by hand: every error names its place, and the module in the proxy stays small.
//!
//! Generated readers (serde's derive) are made anew for each type and brought some 80 kB into a module of which each
//! worker of each proxy holds a copy; and they know lines and columns, where a person needs `releases.shop/web.weight`.
//! Here each type says in one list which fields it has; [`Fields`] does the rest, once for all types.

use super::ContractError;
use crate::Weight;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;

/// Where in the document a value stands. Becomes text only when something is wrong there.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
    /// Whether unknown fields are errors.
    strict: bool,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Item(usize),
}

impl<'p> Place<'p> {
    /// The whole document.
    pub(crate) const fn root(strict: bool) -> Self {
        Self { parent: None, step: Step::Root, strict }
    }

    /// A field of the object here.
    pub(crate) const fn field(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Field(name), strict: self.strict }
    }

    const fn item(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Item(index), strict: self.strict }
    }

    /// An error here.
    pub(crate) fn error(&self, reason: impl Into<String>) -> ContractError {
        ContractError::invalid(self.to_string(), reason)
    }

    /// The error that something else stands here.
    fn expected(&self, what: &str, found: &Value) -> ContractError {
        self.error(format!("expected {what}, found {}", short(found)))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nested = self.parent.filter(|parent| !matches!(parent.step, Step::Root));
        if let Some(parent) = nested {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => f.write_str("the configuration"),
            Step::Field(name) if nested.is_some() => write!(f, ".{name}"),
            Step::Field(name) => f.write_str(name),
            Step::Item(index) => write!(f, "[{index}]"),
        }
    }
}

/// What stands in a wrong place, short enough for a message. (Not by `Value`'s own `Display`: the tables for printing
/// fractions are larger than everything else here.)
fn short(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(true) => "`true`".to_owned(),
        Value::Bool(false) => "`false`".to_owned(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => format!("`{number}`"),
            (None, Some(number)) => format!("`{number}`"),
            (None, None) => "a fraction".to_owned(),
        },
        Value::String(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A type of the contract that can be read.
pub(crate) trait Read: Sized {
    /// Reads the value, or says what is wrong with it and where.
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError>;
}

/// The fields of one object, as its type asks for them.
pub(crate) struct Fields<'v> {
    object: &'v Map<String, Value>,
    at: &'v Place<'v>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'v> Fields<'v> {
    /// Reads an object by `fields`, then refuses what was not asked for, where reading is strict.
    pub(crate) fn of<T>(
        value: &Value,
        at: &Place<'_>,
        read: impl FnOnce(&Fields<'_>) -> Result<T, ContractError>,
    ) -> Result<T, ContractError> {
        let Value::Object(object) = value else {
            return Err(at.expected("an object", value));
        };
        let fields = Fields { object, at, asked: RefCell::default() };
        let read = read(&fields)?;
        fields.refuse_unknown()?;
        Ok(read)
    }

    /// A field that must be there.
    pub(crate) fn required<T: Read>(&self, name: &'static str) -> Result<T, ContractError> {
        self.optional(name)?.ok_or_else(|| self.at.field(name).error("missing"))
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T: Read>(&self, name: &'static str) -> Result<Option<T>, ContractError> {
        self.value(name).map(|value| T::read(value, &self.at.field(name))).transpose()
    }

    /// A field that is empty, zero, or whatever its type says, where it is absent.
    pub(crate) fn or_default<T: Read + Default>(&self, name: &'static str) -> Result<T, ContractError> {
        Ok(self.optional(name)?.unwrap_or_default())
    }

    fn value(&self, name: &'static str) -> Option<&'v Value> {
        self.asked.borrow_mut().push(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn refuse_unknown(&self) -> Result<(), ContractError> {
        let asked = self.asked.borrow();
        match self.object.keys().find(|key| !asked.contains(&key.as_str())) {
            Some(key) if self.at.strict => {
                Err(ContractError::UnknownField { place: self.at.field(key).to_string() })
            }
            _ => Ok(()),
        }
    }
}

/// A type that is one of a few words.
pub(crate) trait Word: Copy + 'static {
    /// The words and what they mean; the same spelling as the type's `Serialize`.
    const WORDS: &'static [(&'static str, Self)];
}

impl<T: Word> Read for T {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        let text = value.as_str().unwrap_or_default();
        let found = T::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
            at.expected(&format!("one of `{}`", words.join("`, `")), value)
        })
    }
}

impl Read for String {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        value.as_str().map(Self::from).ok_or_else(|| at.expected("a text", value))
    }
}

impl Read for bool {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        value.as_bool().ok_or_else(|| at.expected("true or false", value))
    }
}

impl Read for u64 {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        value.as_u64().ok_or_else(|| at.expected("a whole number from 0 on", value))
    }
}

impl Read for u32 {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        let number = u64::read(value, at)?;
        Self::try_from(number).map_err(|_| at.expected("a whole number below 4294967296", value))
    }
}

impl Read for Weight {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        Self::new(u32::read(value, at)?).map_err(|_| at.expected("0 to 10000 basis points", value))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: &Value, at: &Place<'_>) -> Result<Self, ContractError> {
        let items = value.as_array().ok_or_else(|| at.expected("a list", value))?;
        items.iter().enumerate().map(|(index, item)| T::read(item, &at.item(index))).collect()
    }
}

/// Lets serde read a type of the contract by its one reader, for files that hold parts of it.
macro_rules! deserialize_by_reading {
    ($($type:ty),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let read = <Self as $crate::contract::read::Read>::read(&value, &$crate::contract::read::Place::root(true));
                read.map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use deserialize_by_reading;
