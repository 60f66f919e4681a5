//! The network to the provider: calls are lost, delayed, or take effect without a response.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use checkout::provider::{Answer, Call, Carrying, Failure, Transport};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::provider::{ReceivedCall, Reply};
use crate::settings::CALL_TIMEOUT;
use crate::world::{Life, World};

/// The connection of one process to the provider.
pub(crate) struct Wire {
    world: Arc<World>,
    life: Arc<Life>,
}

impl Wire {
    pub(crate) fn new(world: &Arc<World>, life: &Arc<Life>) -> Self {
        Self {
            world: Arc::clone(world),
            life: Arc::clone(life),
        }
    }

    /// The process may die or stall here, but only for minutes: the busy guard prevents longer
    /// leaps of time before the call is sent. The service reads its clock immediately before the
    /// call, so it could not notice a stall of hours here.
    async fn stall(&self) {
        let busy = self.world.busy();
        tokio::select! {
            biased;
            () = self.life.died() => drop(busy),
            () = self.life.seam("before a call to the provider") => return,
        }
        // A dead process never continues.
        std::future::pending::<()>().await;
    }

    async fn exchange(&self, call: ReceivedCall) -> Result<Answer, Failure> {
        self.stall().await;
        self.world.count_call().await;
        let name = format!("{} {}", call.method, call.path);
        let number = self.life.number;
        let world = &self.world;
        let is_down = world.look(|provider| provider.is_down) && world.dice.happens(700);
        if is_down || world.happens(|faults| faults.unreachable) {
            world.note(|| format!("replica {number} -> {name}: no connection"));
            sleep(world.dice.millis(1, 5000)).await;
            return Err(Failure::NotSent(cause("no connection")));
        }
        let (answer, answered) = oneshot::channel();
        tokio::spawn(deliver(Arc::clone(world), number, call, answer));
        let result = timeout(CALL_TIMEOUT, answered).await;
        self.life.seam("after a call to the provider").await;
        match result {
            Ok(Ok(reply)) => {
                world.note_reported(&reply.body);
                Ok(Answer {
                    status: reply.status,
                    retry_after: reply.retry_after,
                    body: Bytes::from(reply.body),
                })
            }
            Ok(Err(_)) => Err(Failure::Unknown(cause("the connection was lost"))),
            Err(elapsed) => {
                world.note(|| format!("replica {number} has given {name} up"));
                Err(Failure::Unknown(elapsed.into()))
            }
        }
    }
}

impl Transport for Wire {
    fn carry<'a>(&'a self, call: Call<'a>) -> Carrying<'a> {
        Box::pin(self.exchange(ReceivedCall {
            method: call.method.to_string(),
            path: call.path.to_owned(),
            body: call.body,
            key: call.key.to_string(),
        }))
    }
}

/// Delivers a call to the provider, even if its caller has timed out, and returns the response.
async fn deliver(
    world: Arc<World>,
    from: usize,
    call: ReceivedCall,
    answer: oneshot::Sender<Reply>,
) {
    let _busy = world.busy();
    let name = format!("{} {}", call.method, call.path);
    let late = world.happens(|faults| faults.late_calls);
    let is_lost =
        world.happens(|faults| faults.lost_calls) || world.look(|provider| provider.is_down);
    sleep(travel(&world, late)).await;
    if is_lost {
        world.note(|| format!("replica {from} -> {name}: lost on its way"));
        return lose_response(&world, answer).await;
    }
    let reply = world.at_provider(|provider, moment| provider.answer(&call, moment));
    world.note(|| format!("replica {from} -> {}: {}", call.summary(), reply.summary()));
    sleep(travel(&world, false)).await;
    if world.happens(|faults| faults.lost_answers) {
        world.note(|| format!("replica {from} <- {name}: the answer is lost"));
        return lose_response(&world, answer).await;
    }
    // The caller may have timed out.
    let _ = answer.send(reply);
}

/// The caller gets an error at once, or nothing until its timeout.
async fn lose_response(world: &World, answer: oneshot::Sender<Reply>) {
    if world.dice.happens(500) {
        sleep(CALL_TIMEOUT + Duration::from_secs(1)).await;
    }
    drop(answer);
}

fn travel(world: &World, is_late: bool) -> Duration {
    if is_late {
        world.dice.seconds(10, 60)
    } else {
        world.dice.millis(5, 200)
    }
}

fn cause(text: &str) -> Box<dyn std::error::Error + Send + Sync> {
    io::Error::other(text).into()
}
