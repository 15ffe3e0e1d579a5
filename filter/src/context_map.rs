//! A map from Proxy-Wasm context ids to values. Each request looks its context up two or three times.
//!
//! The proxy counts up, so an id's low bits are as good as a hash: neighbours fall beside each other, and one that lives
//! long (a WebSocket) is passed over. A general hash map took five times the instructions and 2 kB of the module.

/// Slots to begin with; doubled as needed, never freed: a proxy that had as many streams once will have them again.
const FIRST_SLOTS: usize = 64;

/// An open table with a power of two of slots.
#[derive(Debug)]
pub struct ContextMap<T> {
    slots: Vec<Option<(u32, T)>>,
    count: usize,
}

impl<T> Default for ContextMap<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), count: 0 }
    }
}

impl<T> ContextMap<T> {
    /// The place at which the search for an id begins.
    fn home(&self, id: u32) -> usize {
        id as usize & self.mask()
    }

    fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// The slot that holds an id, or the empty one at which the search for it ends. There always is one: the table is
    /// at most half full.
    fn slot_of(&self, id: u32) -> usize {
        let mut slot = self.home(id);
        while let Some(Some((found, _))) = self.slots.get(slot) {
            if *found == id {
                break;
            }
            slot = (slot + 1) & self.mask();
        }
        slot
    }

    /// The value of this id.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let slot = self.slot_of(id);
        self.slots.get_mut(slot)?.as_mut().map(|(_, value)| value)
    }

    /// Sets the value of an id and drops the previous one.
    pub fn insert(&mut self, id: u32, value: T) {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(id);
        if let Some(slot) = self.slots.get_mut(slot) {
            self.count += usize::from(slot.is_none());
            *slot = Some((id, value));
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let held = std::mem::take(&mut self.slots);
        self.slots.resize_with(slots, || None);
        self.count = 0;
        for (id, value) in held.into_iter().flatten() {
            self.insert(id, value);
        }
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten().map(|(_, value)| value)
    }

    /// Removes an id and returns its value. Entries that it displaced move back, so that no probe sequence ends
    /// too early.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let mut hole = self.slot_of(id);
        let (_, removed) = self.slots.get_mut(hole)?.take()?;
        self.count -= 1;
        let mut next = (hole + 1) & self.mask();
        while let Some(Some((found, _))) = self.slots.get(next) {
            let displacement = next.wrapping_sub(self.home(*found)) & self.mask();
            let beyond_hole = next.wrapping_sub(hole) & self.mask();
            if displacement >= beyond_hole {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = (next + 1) & self.mask();
        }
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_in_it_is_what_was_put_in_and_not_taken_out() {
        let mut random = 1_u32;
        let mut draw = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16
        };
        let (mut things, mut expected) = (ContextMap::<String>::default(), BTreeSet::new());
        for _ in 0..200_000 {
            // Few numbers, so that they collide at the table's first sizes; some far apart that share their low bits.
            let id = (draw() % 300) * if draw() % 2 == 0 { 1 } else { 64 };
            if draw() % 2 == 0 {
                things.insert(id, id.to_string());
                expected.insert(id);
            } else {
                assert_eq!(things.remove(id), expected.remove(&id).then(|| id.to_string()), "{id}");
            }
            assert_eq!(things.count, expected.len());
        }
        let held: BTreeSet<String> = things.values_mut().map(|value| value.clone()).collect();
        assert_eq!(held, expected.iter().map(u32::to_string).collect());
        for id in 0..300 * 64 {
            let found = things.get_mut(id).cloned();
            assert_eq!(found, expected.contains(&id).then(|| id.to_string()));
        }
    }

    #[test]
    fn it_grows_with_what_is_in_it_and_not_with_what_was() {
        let mut things = ContextMap::default();
        for id in 1..1_000_000 {
            things.insert(id, ());
            if id > 20 {
                things.remove(id - 20);
            }
        }
        assert_eq!(things.slots.len(), FIRST_SLOTS);
    }
}
