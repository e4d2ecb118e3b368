//! Changes of the board for subscribers: one watcher for all clients of a server, started for the first one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Sender, WeakSender};

use super::caller::open;
use super::resources;
use crate::app::{Event, EventKind, Failure, Options, WatchOptions, follow_board};

/// Resources that have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    pub uris: BTreeSet<String>,
    /// The list of resources has changed.
    pub list: bool,
}

impl News {
    /// The news that everything may have changed.
    fn anything() -> Self {
        Self { uris: [EVERYTHING.to_owned()].into(), list: true }
    }
}

pub type Changes = broadcast::Receiver<Arc<News>>;

/// The number of changes that a slow client can be behind.
const BEHIND: usize = 256;

pub struct Feed {
    options: Options,
    /// The watching thread holds the only strong reference; when it ends, the channel closes.
    line: Arc<Mutex<WeakSender<Arc<News>>>>,
}

impl Feed {
    pub fn new(options: Options) -> Self {
        Self { options, line: Arc::new(Mutex::new(Sender::new(1).downgrade())) }
    }

    /// A channel with all changes from now on. The watcher starts in the background with the first subscriber and ends with the
    /// last one. Once it watches, it reports that everything may have changed, because it may have missed changes before.
    pub fn changes(&self) -> Changes {
        let mut line = open(&self.line);
        if let Some(sender) = line.upgrade() {
            return sender.subscribe();
        }
        let (sender, receiver) = broadcast::channel(BEHIND);
        *line = sender.downgrade();
        let (options, line) = (self.options.clone(), Arc::clone(&self.line));
        // If the board cannot be watched, the channel closes, and the subscription ends.
        std::thread::spawn(move || drop(watch(&options, sender, line)));
        receiver
    }
}

fn watch(options: &Options, sender: Sender<Arc<News>>, line: Arc<Mutex<WeakSender<Arc<News>>>>) -> Result<(), Failure> {
    let wanted = WatchOptions { idle: true, documents: true, ..WatchOptions::default() };
    let out = sender.clone();
    follow_board(options, wanted, move |events, saved| {
        let news = news(&events, saved);
        if news != News::default() {
            let _ = out.send(Arc::new(news));
        }
        if out.receiver_count() > 0 {
            return ControlFlow::Continue(());
        }
        // A new subscriber must wait for this lock, so that it does not get a channel that is about to close.
        let mut line = open(&line);
        if out.receiver_count() > 0 {
            return ControlFlow::Continue(());
        }
        *line = Sender::new(1).downgrade();
        ControlFlow::Break(())
    })?;
    let _ = sender.send(Arc::new(News::anything()));
    Ok(())
}

fn news(events: &[Event], saved: BTreeSet<String>) -> News {
    let mut news = News::default();
    for path in saved {
        match path.starts_with(".ralph/") {
            // A changed setting can change the workflow and what is ready.
            true => news.uris.extend([resources::WORKFLOW.to_owned(), resources::BOARD.to_owned()]),
            false => drop(news.uris.insert(resources::document_uri(&path))),
        }
    }
    for event in events {
        news.uris.insert(resources::BOARD.into());
        news.uris.extend(event.task.as_ref().map(resources::task_uri));
        match event.event {
            EventKind::Created | EventKind::Removed | EventKind::Archived => news.list = true,
            EventKind::Rescanned => {
                news.list = true;
                news.uris.insert(EVERYTHING.into());
            }
            _ => {}
        }
    }
    news
}

/// Notifies a client with the current protocol of its subscriptions, until it ends the request.
pub async fn listen(mut changes: Changes, context: &SubscriptionContext) {
    let sink = context.sink();
    loop {
        let news = tokio::select! {
            news = next(&mut changes) => news,
            () = context.cancelled() => return,
        };
        let Some(news) = news else { return };
        // The list has only the subscriptions that the client was granted.
        let wanted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        for uri in wanted.into_iter().filter(|uri| is_told(&news, uri)) {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
        if news.list && context.accepted().resources_list_changed == Some(true) {
            let _ = sink.notify_resource_list_changed().await;
        }
    }
}

/// The subscriptions of a client with an older protocol.
#[derive(Debug, Default)]
pub struct Followed {
    uris: Mutex<BTreeSet<String>>,
    told: AtomicBool,
}

impl Followed {
    pub fn add(&self, uri: String) {
        open(&self.uris).insert(uri);
    }

    pub fn remove(&self, uri: &str) {
        open(&self.uris).remove(uri);
    }

    /// Whether the notifications must be started.
    pub fn is_first(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

/// The same for a client with an older protocol, until it disconnects.
pub async fn follow(mut changes: Changes, followed: Arc<Followed>, peer: Peer<RoleServer>) {
    while let Some(news) = next(&mut changes).await {
        let uris: Vec<String> = open(&followed.uris).iter().filter(|uri| is_told(&news, uri)).cloned().collect();
        for uri in uris {
            if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                return;
            }
        }
        if news.list && peer.notify_resource_list_changed().await.is_err() {
            return;
        }
        if peer.is_transport_closed() {
            return;
        }
    }
}

/// Stands for all resources, for clients that are too far behind.
const EVERYTHING: &str = "*";

fn is_told(news: &News, uri: &str) -> bool {
    news.uris.contains(uri) || news.uris.contains(EVERYTHING)
}

async fn next(changes: &mut Changes) -> Option<Arc<News>> {
    match changes.recv().await {
        Ok(news) => Some(news),
        Err(RecvError::Lagged(_)) => Some(Arc::new(News::anything())),
        Err(RecvError::Closed) => None,
    }
}
