//! Connections that have shown nothing yet: there are few of them, and none stays for long.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::peer::Standing;

/// The time in which a connection must show something.
pub(crate) const ADMISSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The one who opened a connection, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    Anybody,
    User(u32),
    Address(IpAddr),
}

/// All connections of one kind, and which of them have shown nothing yet.
#[derive(Debug)]
pub(crate) struct Strangers {
    /// The largest number of connections; the oldest makes room for another.
    max: usize,
    /// The time for which a connection is kept before it may have to make room.
    grace: Duration,
    serving: JoinSet<()>,
    /// The oldest first.
    here: VecDeque<Stranger>,
}

#[derive(Debug)]
struct Stranger {
    who: Who,
    since: Instant,
    shown: Standing,
    task: AbortHandle,
}

impl Strangers {
    /// Starts without any connection.
    pub(crate) fn new(max: usize, grace: Duration) -> Self {
        Self { max, grace, serving: JoinSet::new(), here: VecDeque::new() }
    }

    /// Completes when another may come.
    pub(crate) async fn make_room(&mut self) {
        loop {
            while self.serving.try_join_next().is_some() {}
            self.here.retain(|stranger| !stranger.task.is_finished() && !stranger.shown.is_set());
            if self.here.len() < self.max {
                return;
            }
            let Some((place, since)) = self.first_to_go() else { return };
            tokio::select! {
                biased;
                () = sleep_until(since + self.grace) => {
                    if let Some(stranger) = self.here.remove(place) {
                        stranger.task.abort();
                    }
                }
                _ = self.serving.join_next() => {}
            }
        }
    }

    /// Serves one. It is a stranger until it has shown something.
    pub(crate) fn admit(
        &mut self,
        who: Who,
        shown: Standing,
        served: impl Future<Output = ()> + Send + 'static,
    ) {
        let task = self.serving.spawn(served);
        self.here.push_back(Stranger { who, since: Instant::now(), shown, task });
    }

    /// Completes when all have gone.
    pub(crate) async fn all_gone(&mut self) {
        while self.serving.join_next().await.is_some() {}
    }

    /// Returns the oldest connection of the peer with most connections, so that a peer that opens
    /// many takes only its own places.
    fn first_to_go(&self) -> Option<(usize, Instant)> {
        let mut places = BTreeMap::<Who, (usize, usize, Instant)>::new();
        for (place, stranger) in self.here.iter().enumerate() {
            let of_theirs = places.entry(stranger.who).or_insert((0, place, stranger.since));
            of_theirs.0 += 1;
        }
        let most =
            places.into_values().max_by_key(|(count, place, _)| (*count, usize::MAX - place));
        most.map(|(_, place, since)| (place, since))
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::oneshot;

    use super::*;

    const MAX: usize = 8;
    const MINIMUM_LIFETIME: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn no_connection_is_let_go_for_another_before_it_could_show_something() {
        let mut strangers = Strangers::new(MAX, MINIMUM_LIFETIME);
        let start = Instant::now();
        let (leave, left) = oneshot::channel::<()>();
        admit(&mut strangers, Who::Anybody);
        strangers.admit(Who::Anybody, Standing::default(), async move { drop(left.await) });
        for _ in 2..MAX {
            strangers.make_room().await;
            admit(&mut strangers, Who::Anybody);
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        leave.send(()).unwrap();
        strangers.make_room().await;
        assert_eq!(start.elapsed(), Duration::ZERO, "one that leaves makes room at once");
        admit(&mut strangers, Who::Anybody);
        strangers.make_room().await;
        assert!(start.elapsed() >= MINIMUM_LIFETIME, "{:?}", start.elapsed());
        assert_eq!(strangers.here.len(), MAX - 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_opens_many_takes_the_places_of_nobody_else() {
        let mut strangers = Strangers::new(MAX, Duration::ZERO);
        admit(&mut strangers, Who::User(1));
        for _ in 0..10 * MAX {
            strangers.make_room().await;
            admit(&mut strangers, Who::User(2));
        }
        let first = strangers.here.front().unwrap();
        assert!(first.who == Who::User(1) && !first.task.is_finished());
        assert_eq!(strangers.here.len(), MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_has_shown_something_takes_no_place() {
        let mut strangers = Strangers::new(1, Duration::ZERO);
        let shown = admit(&mut strangers, Who::Anybody);
        shown.set();
        strangers.make_room().await;
        admit(&mut strangers, Who::Anybody);
        strangers.make_room().await;
        assert_eq!((strangers.here.len(), strangers.serving.len()), (0, 2));
        tokio::task::yield_now().await;
        while strangers.serving.try_join_next().is_some() {}
        assert_eq!(strangers.serving.len(), 1, "the other one had to go");
    }

    fn admit(strangers: &mut Strangers, who: Who) -> Standing {
        let shown = Standing::default();
        strangers.admit(who, shown.clone(), pending());
        shown
    }
}
