//! Keys: two lists of parts are one key only if they are one list, and what is read back is what was put in.
//!
//! A NUL separates two lists; in each a line is a part, the first the tenant, and the first byte chooses the kind.
#![no_main]

use countersign::bounded::{Domain, IdempotencyKey, IntentId, Issuer, OperationId, Principal, Tenant};
use countersign::delivery::Target;
use countersign::key::{Key, Kind, Part};
use countersign::operation::{self, OPERATION};
use libfuzzer_sys::fuzz_target;
use refunds::{OrderId, ProposalId};

const KINDS: [Kind; 6] = [
    OPERATION,
    Kind::ledger("intent"),
    Kind::consents("intent"),
    Kind::ledger("order"),
    Kind::ledger("orde"),
    Kind::consents("authority"),
];

/// A list, and the key that it makes.
#[derive(Debug)]
struct Made {
    kind: usize,
    tenant: String,
    parts: Vec<String>,
    key: Key,
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (one, other) = text.split_once('\0').unwrap_or((&text, ""));
    any_text(one);
    if let Some(one) = made(one) {
        one.check();
        if let Some(other) = made(other) {
            let same = (one.kind, &one.tenant, &one.parts) == (other.kind, &other.tenant, &other.parts);
            assert_eq!(one.key == other.key, same, "{one:?} {other:?}");
        }
    }
});

fn made(list: &str) -> Option<Made> {
    let kind = usize::from(*list.as_bytes().first()?) % KINDS.len();
    let mut lines = list.get(1..)?.split('\n');
    let tenant = Tenant::parse(lines.next()?).ok()?;
    let parts: Vec<_> = lines.map(part).collect::<Option<_>>()?;
    let ids: Vec<&dyn Part> = parts.iter().map(|part| &**part).collect();
    let key = KINDS[kind].key(&tenant, &ids);
    let parts: Vec<_> = ids.iter().map(|part| part.part().into_owned()).collect();
    (!parts.is_empty()).then_some(Made { kind, tenant: tenant.to_string(), parts, key })
}

/// The text as whatever kind of part it is.
fn part(text: &str) -> Option<Box<dyn Part>> {
    fn boxed<T: Part + 'static, E>(parsed: Result<T, E>) -> Option<Box<dyn Part>> {
        parsed.ok().map(|part| Box::new(part) as Box<dyn Part>)
    }
    let part = boxed(OrderId::parse(text))
        .or_else(|| boxed(ProposalId::parse(text)))
        .or_else(|| boxed(OperationId::parse(text)))
        .or_else(|| boxed(IntentId::parse(text)))
        .or_else(|| boxed(IdempotencyKey::parse(text)))
        .or_else(|| boxed(Domain::parse(text)))
        .or_else(|| boxed(Principal::parse(text)))
        .or_else(|| boxed(Issuer::parse(text)))?;
    assert_eq!(part.part(), text);
    assert!(text.is_ascii() && !text.contains('#') && !text.is_empty(), "{text}");
    Some(part)
}

impl Made {
    fn check(&self) {
        let Self { tenant, parts, key, .. } = self;
        let kind = KINDS[self.kind];
        let (read, id) = kind.split(key.pk()).unwrap();
        assert_eq!((read.as_str(), id), (tenant.as_str(), parts.join("#").as_str()));
        assert!(key.pk().starts_with(&kind.prefix()));
        for other in KINDS.iter().filter(|other| other.prefix() != kind.prefix()) {
            assert_eq!(other.split(key.pk()), None, "{key}");
        }
    }
}

/// Whatever reads as a key is one: put together again it is the same text.
fn any_text(pk: &str) {
    for kind in KINDS {
        if let Some((tenant, id)) = kind.split(pk) {
            assert_eq!(format!("{}{tenant}#{id}", kind.prefix()), pk);
            if let Some(part) = part(id) {
                assert_eq!(kind.key(&tenant, &[&*part]).pk(), pk);
            }
        }
    }
    if let Some(Target { tenant, operation }) = Target::parse(pk) {
        assert_eq!(operation::key(&tenant, &operation).pk(), pk);
    }
}
