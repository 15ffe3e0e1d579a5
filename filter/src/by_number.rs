//! Things by the numbers that the proxy gives its contexts: found two or three times a request, so found cheaply.
//!
//! The proxy counts up, so a number's low bits are as good as a hash: neighbours fall beside each other, and one that lives
//! long (a WebSocket) is passed over. A general hash map took five times the instructions and 2 kB of the module.

/// Slots to begin with; doubled as needed, never given back: a proxy that had as many once will again.
const FIRST_SLOTS: usize = 64;

/// An open table with a power of two of slots.
#[derive(Debug)]
pub struct ByNumber<T> {
    slots: Vec<Option<(u32, T)>>,
    count: usize,
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), count: 0 }
    }
}

impl<T> ByNumber<T> {
    /// Where the search for a number begins.
    fn home(&self, number: u32) -> usize {
        number as usize & self.mask()
    }

    fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// The slot that holds a number, or the empty one at which the search for it ends. There always is one: the table is
    /// at most half full.
    fn slot_of(&self, number: u32) -> usize {
        let mut slot = self.home(number);
        while let Some(Some((id, _))) = self.slots.get(slot) {
            if *id == number {
                break;
            }
            slot = (slot + 1) & self.mask();
        }
        slot
    }

    /// What has this number.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        let slot = self.slot_of(number);
        self.slots.get_mut(slot)?.as_mut().map(|(_, value)| value)
    }

    /// Gives a number to something; what had it before is forgotten.
    pub fn insert(&mut self, number: u32, value: T) {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(number);
        if let Some(slot) = self.slots.get_mut(slot) {
            self.count += usize::from(slot.is_none());
            *slot = Some((number, value));
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let held = std::mem::take(&mut self.slots);
        self.slots.resize_with(slots, || None);
        self.count = 0;
        for (number, value) in held.into_iter().flatten() {
            self.insert(number, value);
        }
    }

    /// Forgets what has this number; says whether anything had. Those behind it that had to move on because of it move back,
    /// so that no search ends too early.
    pub fn remove(&mut self, number: u32) -> bool {
        let mut hole = self.slot_of(number);
        match self.slots.get_mut(hole) {
            Some(slot @ Some(_)) => *slot = None,
            _ => return false,
        }
        self.count -= 1;
        let mut next = (hole + 1) & self.mask();
        while let Some(Some((id, _))) = self.slots.get(next) {
            let strayed = next.wrapping_sub(self.home(*id)) & self.mask();
            let beyond_hole = next.wrapping_sub(hole) & self.mask();
            if strayed >= beyond_hole {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = (next + 1) & self.mask();
        }
        true
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
        let (mut things, mut expected) = (ByNumber::<String>::default(), BTreeSet::new());
        for _ in 0..200_000 {
            // Few numbers, so that they collide at the table's first sizes; some far apart that share their low bits.
            let number = (draw() % 300) * if draw() % 2 == 0 { 1 } else { 64 };
            if draw() % 2 == 0 {
                things.insert(number, number.to_string());
                expected.insert(number);
            } else {
                assert_eq!(things.remove(number), expected.remove(&number), "{number}");
            }
            assert_eq!(things.count, expected.len());
        }
        for number in 0..300 * 64 {
            let found = things.get_mut(number).cloned();
            assert_eq!(found, expected.contains(&number).then(|| number.to_string()));
        }
    }

    #[test]
    fn it_grows_with_what_is_in_it_and_not_with_what_was() {
        let mut things = ByNumber::default();
        for number in 1..1_000_000 {
            things.insert(number, ());
            if number > 20 {
                things.remove(number - 20);
            }
        }
        assert_eq!(things.slots.len(), FIRST_SLOTS);
    }
}
