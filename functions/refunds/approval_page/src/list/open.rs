//! Open proposals: those that wait for a decision, and those that are approved and not submitted yet.

use countersign::bounded::{IntentId, Tenant};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{self, Consent, Outlook};
use countersign::failure::{Code, Failure};
use countersign::intent::Intent;
use countersign::item::Item;
use countersign::ledger::Ledger as _;
use refunds::{Blocked, Refund};

use crate::approval_page::ApprovalPage;
use crate::refusal::Refusal;
use crate::text::ahead;
use crate::view::Row;

/// A proposal that can still be submitted, once it is approved.
pub(crate) struct Open {
    pub(crate) intent: Intent<Refund>,
    pub(crate) standing: Standing,
    /// Why submitting it would be refused now, although it is approved.
    pub(crate) hindered: Option<Refusal>,
}

/// Where an open proposal stands.
pub(crate) enum Standing {
    /// Nobody has decided.
    Waits,
    /// It was approved, and that lapsed before it was submitted: it waits again.
    WaitsAgain,
    /// Approved.
    Approved(Consent),
}

/// Those of an index's records that are open indeed, as the tables have them now, and whether an operator has stopped all
/// refunds. One request, and where something is approved one more and at most four for what it names; at most 49 records,
/// which makes 99 of the 100 that a request may name.
pub(crate) async fn open(page: &ApprovalPage, tenant: &Tenant, indexed: &[Item]) -> Result<(Vec<Open>, bool), Failure> {
    // One that cannot be read must not keep the others from being shown.
    let parked = |intent_id: &str, failure: &Failure| {
        let (tenant, cause) = (tenant.as_str(), failure.causes());
        tracing::error!(alarm = "parked", tenant, intent_id, cause, "cannot be shown");
    };
    let mut ids = Vec::new();
    for item in indexed {
        match item.parse("intent_id", IntentId::parse) {
            Ok(id) => ids.push(id),
            Err(corrupt) => parked(item.text("intent_id").unwrap_or_default(), &corrupt.into()),
        }
    }
    let mut keys = vec![Blocked::key()?];
    for id in &ids {
        keys.extend([Intent::<Refund>::key(tenant, id), consent::key(tenant, id)]);
    }
    let (seen, now) = (page.ledger.load(&keys).await?, Timestamp::now());
    let mut open = Vec::new();
    for id in &ids {
        let read = seen.item(&Intent::<Refund>::key(tenant, id)).map(Intent::<Refund>::read).transpose();
        let intent = read.unwrap_or_else(|failure| {
            parked(id.as_str(), &failure);
            None
        });
        let intent = intent.flatten().filter(|intent| intent.consumed_by.is_none() && !intent.expired(now));
        let standing =
            intent.as_ref().and_then(|intent| standing(page, intent, seen.item(&consent::key(tenant, id)), now));
        open.extend(intent.zip(standing).map(|(intent, standing)| Open { intent, standing, hindered: None }));
    }
    foresee(page, &mut open).await?;
    Ok((open, Blocked::all(&seen)))
}

/// Notes of each that is approved what submitting it would meet.
async fn foresee(page: &ApprovalPage, open: &mut [Open]) -> Result<(), Failure> {
    let approved = open.iter().filter_map(|open| match &open.standing {
        Standing::Approved(consent) => Some((&open.intent, consent)),
        Standing::Waits | Standing::WaitsAgain => None,
    });
    let told = execute(&page.ledger, &Timestamp::now, &Outlook(approved.collect())).await?;
    for (open, told) in open.iter_mut().filter(|open| open.approved()).zip(told) {
        open.hindered = told.err().and_then(Refusal::hindering);
    }
    Ok(())
}

/// Where a proposal stands by the consent found; `None` where a person has said no, or the record is none of a person's.
fn standing(page: &ApprovalPage, intent: &Intent<Refund>, consent: Option<&Item>, now: Timestamp) -> Option<Standing> {
    let Some(consent) = consent else { return Some(Standing::Waits) };
    let consent = Consent::read(consent, &page.keys).ok()?;
    match consent.permits(intent, now) {
        Ok(()) => Some(Standing::Approved(consent)),
        Err(failure) => (failure.code() == Code::APPROVAL_EXPIRED).then_some(Standing::WaitsAgain),
    }
}

impl Open {
    pub(crate) const fn approved(&self) -> bool {
        matches!(self.standing, Standing::Approved(_))
    }

    /// A proposal as a row.
    pub(crate) fn row(&self) -> Row {
        let Self { intent, standing, hindered } = self;
        let (refund, now) = (&intent.effect, Timestamp::now());
        let agent = intent.requester.actor.as_ref().map_or_else(String::new, |agent| format!(" through {agent}"));
        let asked = format!("asked for by {}{agent}", intent.requester.principal);
        let lapses = ahead(intent.expires_at, now);
        Row {
            id: intent.id.to_string(),
            what: format!("Refund {} of order {}", refund.currency.format(refund.amount_minor.get()), refund.order_id),
            where_it_stands: match standing {
                Standing::Waits => format!("{asked}; lapses {lapses}"),
                Standing::WaitsAgain => format!("{asked}; an approval of it lapsed unused; lapses {lapses}"),
                Standing::Approved(consent) => {
                    let until = Timestamp::from_seconds(consent.statement().expires_at);
                    let approved = format!("{asked}; approved by {}, not submitted", consent.approver());
                    match hindered {
                        None => format!("{approved} yet; lapses {}", ahead(until, now)),
                        Some(refusal) => format!("{approved}. {}", refusal.title),
                    }
                }
            },
        }
    }
}
