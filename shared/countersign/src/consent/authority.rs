//! Authority: what a person may approve. An administrator writes these records; nobody else can.

use crate::bounded::{Principal, Tenant};
use crate::change::{Guard, Step};
use crate::effect::Demand;
use crate::item::{Attr, Item};
use crate::key::{Key, Kind};

const AUTHORITY: Kind = Kind::consents("authority");

/// Whether an authority record covers a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// It does.
    Covers,
    /// The amount is over the limit.
    OverLimit,
    /// There is no active record.
    None,
}

impl Authority {
    /// Where a person's authority lies.
    #[must_use]
    pub fn key(tenant: &Tenant, principal: &Principal) -> Key {
        AUTHORITY.key(tenant, &[principal])
    }

    /// A record: active, with a limit for each attribute.
    #[must_use]
    pub fn record(limits: &[(Attr, i64)]) -> Item {
        limits
            .iter()
            .fold(Item::new().with("active", true).with("version", 1), |item, (attr, limit)| item.with(attr, *limit))
    }

    /// Whether what was seen covers the demand. A unit without a limit is not covered.
    #[must_use]
    pub fn of(item: Option<&Item>, demand: Demand) -> Self {
        match item {
            Some(item) if item.flag("active") => match item.integer(demand.limit) {
                Ok(limit) if limit >= demand.amount => Self::Covers,
                Ok(_) | Err(_) => Self::OverLimit,
            },
            Some(_) | None => Self::None,
        }
    }

    /// The step that holds the authority to covering the demand when the change is committed.
    pub(crate) fn guard(tenant: &Tenant, principal: &Principal, demand: Demand) -> Step {
        Step::check(Self::key(tenant, principal))
            .when_is("active", true)
            .when(Guard::AtLeast(demand.limit, demand.amount))
    }
}
