//! Keys: the kind, then the tenant, then the id, joined by `#`, which no part can hold.
//!
//! A key begins with its kind, so that a role can be limited by leading key. A foreign id is physically another key: it
//! misses, and a miss looks like an absence.

use std::borrow::Cow;
use std::fmt;

use crate::bounded::Tenant;

/// The two tables. Only the approval page and an administrator write to [`Table::Consents`]; tools read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Intents, operations, a domain's records and everything else that tools and workers write.
    Ledger,
    /// What people decided, and what they may decide.
    Consents,
}

/// A kind of record: its table and the first part of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    table: Table,
    name: &'static str,
}

impl Kind {
    /// A kind of the ledger table. `name` is lower-case ASCII letters.
    #[must_use]
    pub const fn ledger(name: &'static str) -> Self {
        Self { table: Table::Ledger, name }
    }

    /// A kind of the consents table. `name` is lower-case ASCII letters.
    #[must_use]
    pub const fn consents(name: &'static str) -> Self {
        Self { table: Table::Consents, name }
    }

    /// The key of one record of this kind.
    #[must_use]
    pub fn key(self, tenant: &Tenant, id: &[&dyn Part]) -> Key {
        let parts: Vec<&dyn Part> = [tenant as &dyn Part].into_iter().chain(id.iter().copied()).collect();
        self.shared_key(&parts)
    }

    /// The key of a record that belongs to no tenant, such as a hold.
    #[must_use]
    pub fn shared_key(self, id: &[&dyn Part]) -> Key {
        let mut pk = self.name.to_owned();
        for part in id {
            pk.push('#');
            pk.push_str(&part.part());
        }
        Key { table: self.table, pk }
    }

    /// Reads a key of this kind back into its tenant and one id, as a stream record brings it.
    #[must_use]
    pub fn split(self, pk: &str) -> Option<(Tenant, &str)> {
        let rest = pk.strip_prefix(self.name)?.strip_prefix('#')?;
        let (tenant, id) = rest.split_once('#')?;
        Some((Tenant::parse(tenant).ok()?, id))
    }

    /// The leading text of every key of this kind.
    #[must_use]
    pub fn prefix(self) -> String {
        format!("{}#", self.name)
    }
}

/// What may stand between two `#`: implemented by the newtypes of [`crate::text!`] and by digests, none of which can hold one.
pub trait Part {
    /// The part as text.
    fn part(&self) -> Cow<'_, str>;
}

/// Where one record lies.
// INVARIANT: `pk` was joined by `Kind::key` from parts without `#`, so two different lists of parts are two keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    table: Table,
    pk: String,
}

impl Key {
    /// The table it lies in.
    #[must_use]
    pub const fn table(&self) -> Table {
        self.table
    }

    /// The partition key.
    #[must_use]
    pub fn pk(&self) -> &str {
        &self.pk
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pk)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bounded::{OperationId, Principal};

    const KIND: Kind = Kind::ledger("operation");

    proptest! {
        #[test]
        fn two_different_lists_of_parts_are_two_different_keys(
            a in ("[A-Za-z0-9_-]{1,64}", r"[!$-;=?-\[\]-~]{1,128}", r"[!$-;=?-\[\]-~]{1,128}"),
            b in ("[A-Za-z0-9_-]{1,64}", r"[!$-;=?-\[\]-~]{1,128}", r"[!$-;=?-\[\]-~]{1,128}"),
        ) {
            let key = |(tenant, x, y): &(String, String, String)| {
                KIND.key(
                    &Tenant::parse(tenant.as_str()).unwrap(),
                    &[&Principal::parse(x.as_str()).unwrap(), &Principal::parse(y.as_str()).unwrap()],
                )
            };
            prop_assert_eq!(a == b, key(&a) == key(&b));
        }

        #[test]
        fn text_with_a_separator_is_no_part(text in ".*#.*") {
            prop_assert!(Principal::parse(text.as_str()).is_err());
            prop_assert!(Tenant::parse(&text).is_err());
        }
    }

    #[test]
    fn a_key_reads_back_into_its_tenant_and_id() {
        let tenant = Tenant::parse("acme").unwrap();
        let id = OperationId::parse(&format!("op_{}", "a".repeat(26))).unwrap();
        let key = KIND.key(&tenant, &[&id]);
        assert_eq!(KIND.split(key.pk()), Some((tenant, id.as_str())));
        assert_eq!(Kind::ledger("intent").split(key.pk()), None);
    }
}
