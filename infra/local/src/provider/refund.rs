//! Payments and the refunds made of them.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use countersign::clock::Timestamp;
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};

/// A payment that can be refunded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The payment intent, `pi_…`.
    pub id: String,
    /// The account that took it, `acct_…`. A request with another `Stripe-Account` does not find it.
    pub account: String,
    /// Three lower-case letters.
    pub currency: String,
    /// What was captured, in the provider's units of the currency.
    pub captured: i64,
}

impl Payment {
    /// The id of its charge: the payment's, under another prefix.
    pub(super) fn charge(&self) -> String {
        format!("ch_{}", self.id.strip_prefix("pi_").unwrap_or(&self.id))
    }
}

/// Where a refund stands (<https://docs.stripe.com/api/refunds/object#refund_object-status>).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefundStatus {
    /// Accepted, not final.
    Pending,
    /// Waits for the customer.
    RequiresAction,
    /// The money moved.
    Succeeded,
    /// The money came back to the merchant.
    Failed,
    /// Withdrawn before it was final.
    Canceled,
}

/// A refund that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// `re_…`.
    pub id: String,
    /// The payment, `pi_…`.
    pub payment: String,
    /// The payment's charge, `ch_…`.
    pub charge: String,
    /// The account of the payment.
    pub account: String,
    /// In the provider's units of the currency.
    pub amount: i64,
    /// Three lower-case letters.
    pub currency: String,
    /// Where it stands.
    pub status: RefundStatus,
    /// What the request gave as a reason.
    pub reason: Option<String>,
    /// What the request gave as metadata.
    pub metadata: BTreeMap<String, String>,
    /// Seconds since 1970.
    pub created: u64,
    /// What it becomes by being looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<Turn>,
}

/// What a refund becomes once it was looked up so often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The lookups that still see it as it is; `u32::MAX` are all.
    pub(super) lookups: u32,
    pub(super) to: RefundStatus,
}

impl Refund {
    /// Whether it still takes something off what can be refunded.
    pub(super) fn counts(&self) -> bool {
        match self.status {
            RefundStatus::Pending | RefundStatus::RequiresAction | RefundStatus::Succeeded => true,
            RefundStatus::Failed | RefundStatus::Canceled => false,
        }
    }
}

/// An id that is used once: random, or without randomness counted.
pub(super) fn new_id(prefix: &str) -> String {
    static COUNTED: AtomicU64 = AtomicU64::new(0);
    let mut random = [0_u8; 15];
    if getrandom::fill(&mut random).is_ok() {
        return format!("{prefix}_{}", BASE32_NOPAD.encode(&random));
    }
    format!("{prefix}_{}_{}", now(), COUNTED.fetch_add(1, Ordering::Relaxed))
}

/// Seconds since 1970, as Stripe writes moments.
pub(super) fn now() -> u64 {
    u64::try_from(Timestamp::now().seconds()).unwrap_or(0)
}
