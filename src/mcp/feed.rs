//! What changes on the board, for those who subscribe: one watcher for all clients of a server, started by the first.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::caller::open;
use super::resources;
use crate::app::{Failure, Options, WatchOptions, follow_board};
use crate::board::{Event, EventKind};

/// Resources that have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    pub uris: BTreeSet<String>,
    /// Some came or went.
    pub list: bool,
}

pub type Changes = broadcast::Receiver<Arc<News>>;

/// News that a slow client may be behind with.
const BEHIND: usize = 256;

pub struct Feed {
    options: Options,
    sender: Mutex<Option<broadcast::Sender<Arc<News>>>>,
}

impl Feed {
    pub fn new(options: Options) -> Self {
        Self { options, sender: Mutex::default() }
    }

    /// What changes from now on. The watcher ends when nobody listens any more.
    pub fn changes(&self) -> Result<Changes, Failure> {
        let mut slot = open(&self.sender);
        if let Some(sender) = slot.as_ref().filter(|sender| sender.receiver_count() > 0) {
            return Ok(sender.subscribe());
        }
        let (sender, receiver) = broadcast::channel(BEHIND);
        let out = sender.clone();
        let wanted = WatchOptions { idle: true, documents: true, ..WatchOptions::default() };
        follow_board(&self.options, wanted, move |events, saved| {
            let news = news(&events, saved);
            if news != News::default() {
                let _ = out.send(Arc::new(news));
            }
            if out.receiver_count() > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        *slot = Some(sender);
        Ok(receiver)
    }
}

fn news(events: &[Event], saved: BTreeSet<String>) -> News {
    let mut news = News::default();
    for path in saved {
        match path.starts_with(".ralph/") {
            // Settings decide who may do what.
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

/// Tells a client of today's protocol what it listens for, until it has heard enough.
pub async fn listen(mut changes: Changes, context: &SubscriptionContext) {
    let sink = context.sink();
    loop {
        let news = tokio::select! {
            news = next(&mut changes) => news,
            () = context.cancelled() => return,
        };
        let Some(news) = news else { return };
        // What was not asked for, the sink leaves out.
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

/// What a client of an older protocol has subscribed to.
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

    /// Whether somebody has to begin telling.
    pub fn is_first(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

/// The same for a client of an older one, until it is gone.
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

/// Everything may have changed for those who are too far behind.
const EVERYTHING: &str = "*";

fn is_told(news: &News, uri: &str) -> bool {
    news.uris.contains(uri) || news.uris.contains(EVERYTHING)
}

async fn next(changes: &mut Changes) -> Option<Arc<News>> {
    match changes.recv().await {
        Ok(news) => Some(news),
        Err(RecvError::Lagged(_)) => Some(Arc::new(News { uris: [EVERYTHING.to_owned()].into(), list: true })),
        Err(RecvError::Closed) => None,
    }
}
