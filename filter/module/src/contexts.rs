//! The contexts of a VM by the ids that the proxy gives them: looked up two or three times a request, so the lookup is
//! cheap.

use crate::clock;
use crate::root::Root;
use crate::stream::Stream;
use canary_filter::ContextMap;

/// All contexts of one VM. Roots are few: one for each configuration in force, and during an update the one before it.
#[derive(Default)]
pub(crate) struct Contexts {
    roots: Vec<(u32, Root)>,
    streams: ContextMap<Stream>,
}

impl Contexts {
    /// Adds a context that the proxy has created: a stream if its root is known, else a root.
    pub(crate) fn create(&mut self, context: u32, root: u32) {
        match self.root(root) {
            Some(root) => {
                let stream = root.stream();
                self.streams.insert(context, stream);
            }
            None => self.roots.push((context, Root::default())),
        }
    }

    pub(crate) fn root(&self, context: u32) -> Option<&Root> {
        self.roots.iter().find(|(id, _)| *id == context).map(|(_, root)| root)
    }

    pub(crate) fn root_mut(&mut self, context: u32) -> Option<&mut Root> {
        self.roots.iter_mut().find(|(id, _)| *id == context).map(|(_, root)| root)
    }

    pub(crate) fn stream_mut(&mut self, context: u32) -> Option<&mut Stream> {
        self.streams.get_mut(context)
    }

    /// Reads the clock, counts the requests that have no response, of whatever configuration, and lets a root flush what was counted.
    pub(crate) fn tick(&mut self, root: u32) {
        let now_milliseconds = clock::update();
        self.streams.values_mut().for_each(|stream| stream.tick(now_milliseconds));
        self.root(root).inspect(|root| root.tick());
    }

    /// Removes a context; an unknown id is ignored.
    pub(crate) fn delete(&mut self, context: u32) {
        if let Some(mut stream) = self.streams.remove(context) {
            stream.end();
        } else {
            // It gets no more ticks.
            self.root(context).inspect(|root| root.flush());
            self.roots.retain(|(id, _)| *id != context);
        }
    }
}
