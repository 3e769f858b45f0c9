//! Places for extensions that are proving themselves.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A limited number of places. Every extension that asks for a place gets one: if all are taken, the
/// oldest makes room.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    max: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    /// The oldest comes first. Dropping the sender tells the owner of the place to go.
    by_age: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// One of the places, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    places: Places,
    wanted: oneshot::Receiver<()>,
}

impl Places {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, taken: Arc::default() }
    }

    /// Takes a place, and the oldest one from its owner if all are taken.
    pub(crate) fn take(&self) -> Place {
        let mut taken = self.taken();
        while taken.by_age.len() >= self.max {
            taken.by_age.pop_front();
        }
        let (held, wanted) = oneshot::channel();
        taken.last += 1;
        let number = taken.last;
        taken.by_age.push_back((number, held));
        Place { number, places: self.clone(), wanted }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Completes when another needs the place.
    pub(crate) async fn wanted(&mut self) {
        // Nothing is ever sent.
        drop((&mut self.wanted).await);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().by_age.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_makes_room() {
        let places = Places::new(2);
        let mut first = places.take();
        let second = places.take();
        drop(second);
        let mut third = places.take();
        let mut fourth = places.take();
        first.wanted().await;
        drop(first);
        let _fifth = places.take();
        third.wanted().await;
        assert!(fourth.wanted.try_recv() == Err(oneshot::error::TryRecvError::Empty));
        drop(third);
        drop(fourth);
        assert_eq!(places.taken().by_age.len(), 1);
    }
}
