//! Reading the contract by hand: every fault names its place, and the module in the proxy stays small.
//!
//! serde's derived readers are generated for each type and added some 80 kB to a module that each worker of each proxy
//! loads. They report lines and columns; a user needs the path, `releases.shop/web.weight`. Here each type lists its
//! fields; [`Fields`] does the rest, once for all types. Readers do not fail: they record a fault and continue with a
//! placeholder value. The placeholder is never used, because a document with a fault is refused. This also keeps every
//! `?` and its clean-up code out of the module.

use super::ContractError;
use crate::Weight;
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::fmt;

/// The faults of a document: the first one, from which the later ones mostly follow.
pub(crate) struct Faults {
    first: Cell<Option<ContractError>>,
    /// Whether unknown fields are faults.
    strict: bool,
}

impl Faults {
    pub(crate) const fn new(strict: bool) -> Self {
        Self { first: Cell::new(None), strict }
    }

    /// Never in the module, which always reads tolerantly: so what strictness needs is not in it either.
    const fn is_strict(&self) -> bool {
        cfg!(not(target_arch = "wasm32")) && self.strict
    }

    pub(crate) fn note(&self, fault: ContractError) {
        let first = self.first.take().unwrap_or(fault);
        self.first.set(Some(first));
    }

    /// The result of reading, or its first fault.
    pub(crate) fn unless_any<T>(self, read: T) -> Result<T, ContractError> {
        self.first.into_inner().map_or(Ok(read), Err)
    }
}

/// The place of a value in the document. It becomes text only for a fault.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    faults: &'p Faults,
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Item(usize),
}

impl<'p> Place<'p> {
    /// The whole document.
    pub(crate) const fn root(faults: &'p Faults) -> Self {
        Self { faults, parent: None, step: Step::Root }
    }

    /// A field of the object here.
    pub(crate) const fn field(&'p self, name: &'p str) -> Self {
        Self { faults: self.faults, parent: Some(self), step: Step::Field(name) }
    }

    const fn item(&'p self, index: usize) -> Self {
        Self { faults: self.faults, parent: Some(self), step: Step::Item(index) }
    }

    /// Notes a fault here.
    pub(crate) fn fault(&self, reason: impl Into<String>) {
        self.faults.note(ContractError::invalid(self.to_string(), reason));
    }

    /// Records a fault: the value here is of another type.
    #[inline(never)]
    fn expected(&self, what: &str, found: &Value) {
        self.fault(format!("expected {what}, found {}", short(found)));
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

/// A wrong value, short enough for a message. (Not by `Value`'s own `Display`: the tables for printing
/// fractions are larger than everything else here.)
fn short(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
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
    /// Reads the value; where it is none of this type, notes the fault and gives any value at all.
    fn read(value: &Value, at: &Place<'_>) -> Self;
}

/// The fields of one object, as its type reads them. In strict reading a field that was never read is a fault.
pub(crate) struct Fields<'v> {
    object: Option<&'v Map<String, Value>>,
    at: &'v Place<'v>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'v> Fields<'v> {
    pub(crate) fn of(value: &'v Value, at: &'v Place<'v>) -> Self {
        let object = value.as_object();
        if object.is_none() {
            at.expected("an object", value);
        }
        Self { object, at, asked: RefCell::default() }
    }

    /// A field that must be there.
    pub(crate) fn required<T: Read>(&self, name: &'static str) -> T {
        T::read(self.value(name).unwrap_or(&Value::Null), &self.at.field(name))
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T: Read>(&self, name: &'static str) -> Option<T> {
        self.value(name).map(|value| T::read(value, &self.at.field(name)))
    }

    /// A field; its type's default if it is absent.
    pub(crate) fn or_default<T: Read + Default>(&self, name: &'static str) -> T {
        self.optional(name).unwrap_or_default()
    }

    #[inline(never)]
    fn value(&self, name: &'static str) -> Option<&'v Value> {
        if self.at.faults.is_strict() {
            self.asked.borrow_mut().push(name);
        }
        self.object?.get(name).filter(|value| !value.is_null())
    }
}

impl Drop for Fields<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        if let (Some(object), true) = (self.object, self.at.faults.is_strict()) {
            let asked = self.asked.borrow();
            if let Some(key) = object.keys().find(|key| !asked.contains(&key.as_str())) {
                self.at.faults.note(ContractError::UnknownField { place: self.at.field(key).to_string() });
            }
        }
    }
}

/// A type that is one of a few words.
pub(crate) trait Word: Copy + 'static {
    /// The words and what they mean; the same spelling as the type's `Serialize`.
    const WORDS: &'static [(&'static str, Self)];
    /// The placeholder for a value that is none of the words.
    const ANY: Self;
}

impl<T: Word> Read for T {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let text = value.as_str().unwrap_or_default();
        if let Some((_, meaning)) = T::WORDS.iter().find(|(word, _)| *word == text) {
            return *meaning;
        }
        let mut words = String::new();
        for (word, _) in T::WORDS {
            let or = if words.is_empty() { "" } else { " or " };
            words.push_str(or);
            words.push_str(word);
        }
        at.expected(&words, value);
        T::ANY
    }
}

/// The words of types that are one of a few.
macro_rules! words {
    ($($type:ty { $first:literal => $any:ident $(, $word:literal => $variant:ident)* $(,)? })+) => {$(
        impl $crate::read::Word for $type {
            const WORDS: &'static [(&'static str, Self)] = &[($first, Self::$any), $(($word, Self::$variant)),*];
            const ANY: Self = Self::$any;
        }
    )+};
}
pub(crate) use words;

impl Read for String {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let text = value.as_str();
        if text.is_none() {
            at.expected("a text", value);
        }
        text.unwrap_or_default().to_owned()
    }
}

impl Read for bool {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let response = value.as_bool();
        if response.is_none() {
            at.expected("true or false", value);
        }
        response.unwrap_or_default()
    }
}

impl Read for u64 {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let number = value.as_u64();
        if number.is_none() {
            at.expected("a whole number from 0 on", value);
        }
        number.unwrap_or_default()
    }
}

impl Read for u32 {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let number = value.as_u64().and_then(|number| Self::try_from(number).ok());
        if number.is_none() {
            at.expected("a whole number from 0 to 4294967295", value);
        }
        number.unwrap_or_default()
    }
}

impl Read for Weight {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let weight = value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .and_then(|number| Self::new(number).ok());
        if weight.is_none() {
            at.expected("0 to 10000 basis points", value);
        }
        weight.unwrap_or_default()
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: &Value, at: &Place<'_>) -> Self {
        let mut read = Self::new();
        match value.as_array() {
            Some(items) => {
                read.extend(items.iter().enumerate().map(|(index, item)| T::read(item, &at.item(index))));
            }
            None => at.expected("a list", value),
        }
        read
    }
}

/// Lets serde read a type of the contract by its one reader, for files of the CLI that hold parts of it.
macro_rules! deserialize_by_reading {
    ($($type:ty),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::read::{Faults, Place, Read};
                let value = serde_json::Value::deserialize(deserializer)?;
                let faults = Faults::new(true);
                let read = <Self as Read>::read(&value, &Place::root(&faults));
                faults.unless_any(read).map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use deserialize_by_reading;
