//! The worker that sends due mails. A mail that the server does not accept is retried for some 20
//! hours.

use std::time::Duration;

use db::{Error, Timestamp};

use crate::{
    Outbox, backoff,
    mail::{self, Mail, MailMessage, domain},
    store::mails::{self, DueMail},
};

/// Mails of one batch.
const BATCH: i64 = 20;
/// The attempts until a mail is given up. They take some 20 hours, with waits that double from a
/// minute to six hours.
const TRIES: i64 = 12;
const FIRST_WAIT: Duration = Duration::from_secs(60);
const WAIT_MAX: Duration = Duration::from_secs(6 * 60 * 60);
/// The longest sleep. Mails queued by other processes are found after it.
const SLEEP_MAX: Duration = Duration::from_secs(30);
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// Sends mail until the service stops. `prepare` runs before each read of the queue, at least twice
/// a minute, and queues scheduled mails.
pub async fn run<P>(outbox: Outbox, prepare: impl Fn() -> P + Send)
where
    P: Future<Output = Result<(), Error>> + Send,
{
    while !outbox.shutdown.has_begun() {
        let sleep = match work(&outbox, prepare()).await {
            Ok(next) => next.map_or(SLEEP_MAX, |next| {
                next.since(outbox.clock.now()).clamp(SLEEP_MIN, SLEEP_MAX)
            }),
            Err(error) => {
                tracing::warn!(%error, "mail worker: reading the queue failed, retrying in 30 s");
                SLEEP_MAX
            }
        };
        tokio::select! {
            biased;
            () = outbox.shutdown.begun() => {}
            () = outbox.0.mailed.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

async fn work(
    outbox: &Outbox,
    prepare: impl Future<Output = Result<(), Error>>,
) -> Result<Option<Timestamp>, Error> {
    prepare.await?;
    pass(outbox).await?;
    let service = outbox.service.name;
    outbox
        .db
        .read(async move |conn| mails::next_due(conn, service).await)
        .await
}

/// Sends due mails without sleeping. Returns how many the server accepted.
pub async fn pass(outbox: &Outbox) -> Result<usize, Error> {
    let Some(mail) = &outbox.mail else {
        return Ok(0);
    };
    let (now, service) = (outbox.clock.now(), outbox.service.name);
    let mut sent = 0;
    loop {
        let due = outbox
            .db
            .read(async move |conn| mails::due(conn, service, now, BATCH).await)
            .await?;
        if due.is_empty() || outbox.shutdown.has_begun() {
            return Ok(sent);
        }
        for one in due {
            sent += usize::from(send(outbox, mail, one).await?);
        }
    }
}

/// Sends one mail, unless another process has claimed it. The time of the retry is stored before
/// the exchange begins, so that a crash loses no mail.
async fn send(outbox: &Outbox, mail: &Mail, due: DueMail) -> Result<bool, Error> {
    let wait = backoff(FIRST_WAIT, due.attempts, WAIT_MAX);
    let (claimed, next_try) = (due.clone(), outbox.clock.now() + wait);
    let claim = async move |tx: &mut db::Tx| mails::claim(tx, &claimed, next_try).await;
    if !outbox.db.write::<_, Error, _>(claim).await? {
        return Ok(false);
    }
    let id = format!("balcao-{}-{}", due.id, due.created_at.micros());
    let message = MailMessage {
        from: &mail.from,
        to: &due.recipient,
        subject: &due.subject,
        plain: &due.plain,
        html: &due.html,
        date: due.created_at,
        id: &id,
    };
    let (id, now) = (due.id, outbox.clock.now());
    match mail::send(&mail.server, message).await {
        Ok(()) => {
            outbox.0.metrics.mail("sent");
            let end = async move |tx: &mut db::Tx| mails::end_sent(tx, id, now).await;
            outbox.db.write::<_, Error, _>(end).await?;
            Ok(true)
        }
        Err(failure) => {
            let given_up = failure.is_final || due.attempts + 1 >= TRIES;
            let outcome = if given_up { "given_up" } else { "failed" };
            outbox.0.metrics.mail(outcome);
            tracing::warn!(mail = id, kind = due.kind, domain = domain(&due.recipient), given_up, %failure, "mail worker: sending a mail failed; it is retried unless given_up is true");
            let text = failure.text;
            let note =
                async move |tx: &mut db::Tx| mails::record_failure(tx, id, &text, given_up).await;
            outbox.db.write::<_, Error, _>(note).await?;
            Ok(false)
        }
    }
}
