//! `reconcile_refunds`: asks the payment provider what became of refunds that are unknown or not final.
//!
//! A schedule's tick sweeps up what is due. `{"tenant": …, "order_id": …}` looks at the last hundred refunds of one order
//! instead, whatever their state: after the ledger was restored from a backup, before the hold is released.

use std::time::Duration;

use countersign::bounded::Tenant;
use countersign::clock::{Timestamp, wall_clock};
use countersign::deadline::Deadline;
use countersign::delivery::{Outcome, Target, attempt, reconcile, sweep};
use countersign::failure::Failure;
use countersign::ledger::Dynamo;
use countersign::operation::Worker;
use futures::stream::{self, StreamExt as _};
use lambda_runtime::{Error, LambdaEvent};
use refunds::{Order, OrderId, RecentRefund, Refund};
use serde::Deserialize;
use stripe::Stripe;

/// With less than this left, no lookup is begun: it may take twenty seconds, and recording as long.
const LEAST: Duration = Duration::from_secs(35);
/// How long Lambda lets this function run, as its manifest says.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How many refunds of one order are looked at.
const OF_AN_ORDER: u16 = 100;
/// How many of them at once.
const AT_ONCE: usize = 10;

/// The worker.
pub(crate) struct ReconcileRefunds {
    /// Where operations lie.
    pub(crate) ledger: Dynamo,
    /// Who knows what became of the money.
    pub(crate) provider: Stripe,
}

/// A schedule's tick, or one order.
#[derive(Debug, Deserialize)]
pub(crate) struct Trigger {
    tenant: Option<String>,
    order_id: Option<String>,
}

impl ReconcileRefunds {
    /// Handles one event.
    pub(crate) async fn take(&self, event: LambdaEvent<Trigger>) -> Result<(), Error> {
        let deadline = Deadline::from_lambda(event.context.deadline, wall_clock(), TIMEOUT);
        let handled = match event.payload {
            Trigger { tenant: None, order_id: None } => self.sweep(deadline).await,
            Trigger { tenant: Some(tenant), order_id: Some(order) } => self.order(&tenant, &order, deadline).await,
            Trigger { .. } => Err(Failure::invalid_input("order_id", "name a tenant and an order_id, or neither")),
        };
        handled.map_err(Into::into)
    }

    async fn sweep(&self, deadline: Deadline) -> Result<(), Failure> {
        sweep::<Refund, _>(&self.ledger, Worker::Reconcile, deadline, LEAST, async |target| {
            self.reconcile(&target).await
        })
        .await
    }

    /// Looks at the refunds of one order. One that cannot be looked at, or for which no time is left, fails the call, once
    /// the others were: call it again.
    async fn order(&self, tenant: &str, order: &str, deadline: Deadline) -> Result<(), Failure> {
        let invalid =
            |field| move |error: countersign::bounded::Refused| Failure::invalid_input(field, error.to_string());
        let tenant = Tenant::parse(tenant).map_err(invalid("tenant"))?;
        let order = OrderId::parse(order).map_err(invalid("order_id"))?;
        let refunds = self.ledger.recent(&Order::key(&tenant, &order), OF_AN_ORDER).await?;
        let refunds = refunds.iter().map(RecentRefund::read).collect::<Result<Vec<_>, _>>()?;
        let looked_at = stream::iter(refunds).map(async |refund| {
            if deadline.left() < LEAST {
                return Err(Failure::deadline_too_close());
            }
            let target = Target { tenant: tenant.clone(), operation: refund.operation_id };
            attempt(Worker::Reconcile, &target, self.reconcile(&target)).await
        });
        looked_at.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await.into_iter().collect()
    }

    async fn reconcile(&self, target: &Target) -> Result<Outcome, Failure> {
        reconcile::<Refund, _>(&self.ledger, &Timestamp::now, &self.provider, target).await
    }
}
