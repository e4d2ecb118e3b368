//! Pushes changes of the board to every page; a page that reconnects gets what it missed.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::Site;
use crate::app::{EventKind, Failure, WatchOptions, follow_board, fresh_token};
use crate::task::TaskId;

/// The tasks that may have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct News {
    pub version: u64,
    pub tasks: BTreeSet<TaskId>,
    /// More than these tasks have changed, such as settings or documents, or it is unknown what has changed.
    pub all: bool,
}

/// The number of changes that are kept for pages that reconnect; after more, everything may have changed.
const REMEMBERED: usize = 256;
/// The interval of the events that show that the server is running.
const TICK: Duration = Duration::from_secs(10);

pub struct Feed {
    /// Distinguishes the versions of this server from those of an earlier one.
    epoch: String,
    recent: Mutex<RecentNews>,
    sender: Sender<Arc<News>>,
}

#[derive(Default)]
struct RecentNews {
    version: u64,
    news: VecDeque<Arc<News>>,
}

impl Feed {
    pub fn new() -> Result<Self, Failure> {
        let epoch = fresh_token()?.chars().take(8).collect();
        Ok(Self { epoch, recent: Mutex::default(), sender: broadcast::channel(REMEMBERED).0 })
    }

    pub fn version(&self) -> u64 {
        self.recent().version
    }

    fn recent(&self) -> MutexGuard<'_, RecentNews> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tell(&self, tasks: BTreeSet<TaskId>, all: bool) {
        let mut recent = self.recent();
        recent.version += 1;
        let news = Arc::new(News { version: recent.version, tasks, all });
        recent.news.push_back(Arc::clone(&news));
        if recent.news.len() > REMEMBERED {
            recent.news.pop_front();
        }
        // Sent under the lock, so that no page that subscribes at this moment gets it twice or never.
        let _ = self.sender.send(news);
    }

    /// The changes since `last`, the id of an event, and a receiver for all changes from now on.
    fn join(&self, last: Option<&str>) -> (News, Receiver<Arc<News>>) {
        let recent = self.recent();
        let mut missed = News { version: recent.version, ..News::default() };
        let oldest = recent.news.front().map_or(recent.version, |news| news.version - 1);
        let seen = last.and_then(|id| id.rsplit_once('-')).filter(|(epoch, _)| *epoch == self.epoch);
        match seen.and_then(|(_, version)| version.parse::<u64>().ok()).filter(|seen| *seen >= oldest) {
            Some(seen) => {
                for news in recent.news.iter().filter(|news| news.version > seen) {
                    missed.tasks.extend(news.tasks.iter().cloned());
                    missed.all |= news.all;
                }
            }
            None => missed.all = true,
        }
        (missed, self.sender.subscribe())
    }

    fn event(&self, kind: &str, news: &News) -> Event {
        let data = serde_json::to_string(news).unwrap_or_default();
        Event::default().event(kind).id(format!("{}-{}", self.epoch, news.version)).data(data)
    }
}

/// Watches the board for all pages.
pub fn watch(site: &Arc<Site>) -> Result<(), Failure> {
    let wanted = WatchOptions { idle: true, documents: true, ..WatchOptions::default() };
    let there = Arc::downgrade(site);
    follow_board(&site.options, wanted, move |events, saved| {
        let Some(site) = there.upgrade() else { return ControlFlow::Break(()) };
        let all = !saved.is_empty() || events.iter().any(|event| event.event == EventKind::Rescanned);
        if all || !events.is_empty() {
            site.feed.tell(events.into_iter().filter_map(|event| event.task).collect(), all);
        }
        ControlFlow::Continue(())
    })
}

pub fn stream_to(site: Arc<Site>, last: Option<&str>) -> Response {
    let (missed, receiver) = site.feed.join(last);
    let first = site.feed.event("hello", &missed);
    let told = stream::unfold((Some(first), receiver, site), |(first, mut receiver, site)| async {
        if let Some(event) = first {
            return Some((Ok::<_, Infallible>(event), (None, receiver, site)));
        }
        let news = match receiver.recv().await {
            Ok(news) => news,
            Err(RecvError::Lagged(_)) => {
                Arc::new(News { version: site.feed.version(), tasks: BTreeSet::new(), all: true })
            }
            Err(RecvError::Closed) => return None,
        };
        let event = site.feed.event("change", &news);
        Some((Ok(event), (None, receiver, site)))
    });
    Sse::new(told)
        .keep_alive(KeepAlive::new().interval(TICK).event(Event::default().event("tick").data("")))
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_away_hears_what_it_missed_and_nothing_twice() {
        let feed = Feed::new().unwrap();
        let task = |text: &str| BTreeSet::from([TaskId::new(text).unwrap()]);
        feed.tell(task("t-a"), false);
        feed.tell(task("t-b"), false);
        let id = |version: u64| format!("{}-{version}", feed.epoch);
        assert_eq!(feed.join(Some(&id(1))).0, News { version: 2, tasks: task("t-b"), all: false });
        assert_eq!(feed.join(Some(&id(2))).0, News { version: 2, ..News::default() });
        assert!(feed.join(None).0.all);
        assert!(feed.join(Some("another-1")).0.all, "versions of another server mean nothing here");
        for _ in 0..=REMEMBERED {
            feed.tell(task("t-c"), false);
        }
        assert!(feed.join(Some(&id(1))).0.all, "too far behind to be told one by one");
    }
}
