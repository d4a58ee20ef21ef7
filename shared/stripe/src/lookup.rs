//! What a payment's list of refunds proves about one intent.
//!
//! Stripe has no search by metadata for refunds, so the list of the payment is read to its end:
//! <https://docs.stripe.com/api/refunds/list>, <https://docs.stripe.com/api/pagination>.

use std::collections::HashSet;

use countersign::bounded::IntentId;
use countersign::delivery::Found;
use serde::Deserialize;

use crate::object::{RefundObject, Standing};
use crate::request::Request;

/// How many refunds are asked for at once: the most that Stripe gives.
pub(crate) const PAGE: &str = "100";
/// The largest page that is read: a hundred refunds of some two kilobytes, with room for long metadata.
pub(crate) const LARGEST: usize = 4 * 1024 * 1024;
/// How many pages are read. A payment has a handful of refunds; a list without end is none.
const PAGES: usize = 20;

#[derive(Deserialize)]
struct Page {
    data: Vec<RefundObject>,
    has_more: bool,
}

/// What comes after a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The page after the refund of this id.
    Page(String),
    /// The answer.
    Done(Found),
}

/// A list that is being read.
pub(crate) struct Search<'a> {
    intent: &'a IntentId,
    request: &'a Request,
    pages: usize,
    seen: HashSet<String>,
    ours: Option<Found>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(intent: &'a IntentId, request: &'a Request) -> Self {
        Self { intent, request, pages: 0, seen: HashSet::new(), ours: None }
    }

    /// Reads the answer to a request for a page. Only a list that was read to its end proves anything, the presence of
    /// a refund included: a second one may follow.
    pub(crate) fn read(&mut self, status: u16, body: &[u8]) -> Next {
        match self.page(status, body) {
            Ok(Some(after)) => Next::Page(after),
            Ok(None) => Next::Done(self.ours.take().unwrap_or(Found::Absent)),
            Err(found) => Next::Done(found),
        }
    }

    /// The refund after which the list goes on, if it does.
    fn page(&mut self, status: u16, body: &[u8]) -> Result<Option<String>, Found> {
        if status != 200 {
            // 404 as well: the payment is there, so whoever says that it is not has not looked where it is.
            return Err(nothing(format!("the provider answered {status} to a lookup")));
        }
        let page: Page =
            serde_json::from_slice(body).map_err(|_| nothing("the provider's list of refunds cannot be read"))?;
        let mut last = None;
        for refund in &page.data {
            let id = refund.reference().ok_or_else(|| nothing("the provider listed a refund without a proper name"))?;
            if !self.seen.insert(id.clone()) {
                return Err(nothing("the provider's list of refunds repeats itself"));
            }
            self.weigh(refund, &id)?;
            last = Some(id);
        }
        self.pages += 1;
        match (page.has_more, last) {
            (false, _) => Ok(None),
            (true, None) => Err(nothing("the provider's list of refunds does not go on, and does not end")),
            (true, Some(_)) if self.pages >= PAGES => Err(nothing("the provider's list of refunds does not end")),
            (true, after) => Ok(after),
        }
    }

    fn weigh(&mut self, refund: &RefundObject, id: &str) -> Result<(), Found> {
        if refund.intent() != Some(self.intent.as_str()) {
            // A list of something else than was asked for, whose end would be the end of nothing.
            let strange = refund.payment_intent.as_deref() != Some(self.request.payment.as_str());
            return if strange { Err(nothing("the provider listed refunds of another payment")) } else { Ok(()) };
        }
        if let Some(what) = refund.differs(self.request) {
            return Err(Found::Contradiction(format!("the provider has refund {id} with another {what}")));
        }
        let found = match refund.standing() {
            Standing::Succeeded => Found::Happened(id.to_owned()),
            Standing::Undone(reason) => Found::Undone { reference: id.to_owned(), reason },
            Standing::Open => Found::Accepted(id.to_owned()),
        };
        match self.ours.replace(found) {
            None => Ok(()),
            Some(_) => Err(Found::Contradiction("the provider has two refunds of this one intent".to_owned())),
        }
    }
}

fn nothing(why: impl Into<String>) -> Found {
    Found::Nothing(why.into())
}

#[cfg(test)]
mod tests;
