//! The contexts of a VM by the numbers that the proxy gives them: found twice or three times a request, so found cheaply.

use super::root::Root;
use super::stream::Stream;

/// Streams to begin with; doubled as needed, never given back: a proxy that had as many once will again.
const FIRST_SLOTS: usize = 64;

/// All contexts of one VM. Roots are few: one for each configuration in force, and during an update the one before it.
#[derive(Default)]
pub(super) struct Contexts {
    roots: Vec<(u32, Root)>,
    streams: Streams,
}

impl Contexts {
    /// A context that the proxy has made: a stream of a root that is here, else a root.
    pub(super) fn create(&mut self, context: u32, root: u32) {
        match self.root(root) {
            Some(root) => {
                let stream = root.stream();
                self.streams.insert(context, stream);
            }
            None => self.roots.push((context, Root::default())),
        }
    }

    pub(super) fn root(&self, context: u32) -> Option<&Root> {
        self.roots.iter().find(|(id, _)| *id == context).map(|(_, root)| root)
    }

    pub(super) fn root_mut(&mut self, context: u32) -> Option<&mut Root> {
        self.roots.iter_mut().find(|(id, _)| *id == context).map(|(_, root)| root)
    }

    pub(super) fn stream_mut(&mut self, context: u32) -> Option<&mut Stream> {
        self.streams.get_mut(context)
    }

    /// Forgets a context; one that is not here is no fault.
    pub(super) fn delete(&mut self, context: u32) {
        if self.streams.remove(context).is_none() {
            self.roots.retain(|(id, _)| *id != context);
        }
    }
}

/// Streams by number, in an open table with a power of two of slots.
///
/// The proxy counts its contexts up, so a number's low bits are as good as a hash: neighbours fall beside each other, and
/// one that lives long (a WebSocket) is passed over. A general hash map took five times the instructions and 2 kB.
#[derive(Default)]
struct Streams {
    slots: Vec<Option<(u32, Stream)>>,
    count: usize,
}

impl Streams {
    /// Where the search for a number begins.
    fn home(&self, context: u32) -> usize {
        context as usize & self.mask()
    }

    fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// The slot that holds a number, or the empty one at which the search for it ends. There always is one: the table is
    /// at most half full.
    fn slot_of(&self, context: u32) -> usize {
        let mut slot = self.home(context);
        while let Some(Some((id, _))) = self.slots.get(slot) {
            if *id == context {
                break;
            }
            slot = (slot + 1) & self.mask();
        }
        slot
    }

    fn get_mut(&mut self, context: u32) -> Option<&mut Stream> {
        let slot = self.slot_of(context);
        self.slots.get_mut(slot)?.as_mut().map(|(_, stream)| stream)
    }

    fn insert(&mut self, context: u32, stream: Stream) {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(context);
        if let Some(slot) = self.slots.get_mut(slot) {
            let before = slot.replace((context, stream));
            self.count += usize::from(before.is_none());
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let held = std::mem::take(&mut self.slots);
        self.slots.resize_with(slots, || None);
        self.count = 0;
        for (context, stream) in held.into_iter().flatten() {
            self.insert(context, stream);
        }
    }

    /// Removes a number. Those behind it that had to move on because of it move back, so that no search ends too early.
    fn remove(&mut self, context: u32) -> Option<Stream> {
        let mut hole = self.slot_of(context);
        let (_, stream) = self.slots.get_mut(hole)?.take()?;
        self.count -= 1;
        let mut next = (hole + 1) & self.mask();
        while let Some(Some((id, _))) = self.slots.get(next) {
            let from_home = next.wrapping_sub(self.home(*id)) & self.mask();
            let from_hole = next.wrapping_sub(hole) & self.mask();
            if from_home >= from_hole {
                self.slots.swap(hole, next);
                hole = next;
            }
            next = (next + 1) & self.mask();
        }
        Some(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn stream() -> Stream {
        Root::default().stream()
    }

    #[test]
    fn what_is_in_it_is_what_was_put_in_and_not_taken_out() {
        let mut random = 1_u32;
        let mut draw = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16
        };
        let (mut streams, mut expected) = (Streams::default(), BTreeSet::new());
        for _ in 0..200_000 {
            // Few numbers, so that they collide at the table's first sizes; some far apart that share their low bits.
            let context = (draw() % 300) * if draw() % 2 == 0 { 1 } else { 64 };
            if draw() % 2 == 0 {
                streams.insert(context, stream());
                expected.insert(context);
            } else {
                assert_eq!(streams.remove(context).is_some(), expected.remove(&context), "{context}");
            }
            assert_eq!(streams.count, expected.len());
        }
        for context in 0..300 * 64 {
            assert_eq!(streams.get_mut(context).is_some(), expected.contains(&context), "{context}");
        }
    }

    #[test]
    fn it_grows_with_the_streams_that_are_open_and_not_with_those_that_were() {
        let mut streams = Streams::default();
        for context in 1..1_000_000 {
            streams.insert(context, stream());
            if context > 20 {
                streams.remove(context - 20);
            }
        }
        assert_eq!(streams.slots.len(), FIRST_SLOTS);
    }

    #[test]
    fn a_stream_belongs_to_a_root_and_ends_without_it() {
        let mut contexts = Contexts::default();
        contexts.create(1, 0);
        contexts.create(2, 1);
        assert!(contexts.root(1).is_some() && contexts.stream_mut(2).is_some());
        contexts.delete(2);
        contexts.delete(2);
        assert!(contexts.root(1).is_some() && contexts.stream_mut(2).is_none());
        contexts.delete(1);
        assert!(contexts.root(1).is_none());
    }
}
