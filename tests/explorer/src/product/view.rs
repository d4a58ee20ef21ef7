//! What the records say, read attribute by attribute and not by the product's own reading.

use countersign::bounded::IntentId;
use countersign::item::Item;
use countersign::operation::State;

/// What an operation's record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub state: State,
    pub intent: u8,
    pub fence: i64,
    pub attempts: i64,
    pub conflict: bool,
    /// Whether the operators of its tenant are shown it.
    pub listed: bool,
    pub lease_until: Option<i64>,
    pub absent_since: Option<i64>,
    pub due_at: Option<i64>,
    pub due_shard: Option<String>,
    pub request: Option<String>,
    pub approval: String,
    pub accepted_at: i64,
    /// The earlier operation of the same amount that it names.
    pub names: Option<String>,
    /// All that must never change.
    pub receipt: String,
}

/// What an order's record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Books {
    pub captured: i64,
    pub refundable: i64,
    pub reserved: i64,
    pub refunded: i64,
    pub conflicts: i64,
    pub terms: i64,
}

impl View {
    pub(super) fn read(item: &Item, intents: &[IntentId]) -> Option<Self> {
        let state = State::parse(item.text("state").ok()?).ok()?;
        let intent = IntentId::parse(item.text("intent_id").ok()?).ok()?;
        let text = |name| item.text(name).unwrap_or_default();
        Some(Self {
            state,
            intent: intents.iter().position(|known| *known == intent)? as u8,
            fence: item.integer("fence").ok()?,
            attempts: item.integer("attempts").ok()?,
            conflict: item.flag("conflict"),
            listed: item.text("attention").is_ok() && item.integer("attention_at").is_ok(),
            lease_until: item.integer("lease_until").ok(),
            absent_since: item.integer("absent_since").ok(),
            due_at: item.integer("due_at").ok(),
            due_shard: item.text("due_shard").ok().map(str::to_owned),
            request: item.text("request").ok().map(str::to_owned),
            approval: text("approval").to_owned(),
            accepted_at: item.integer("accepted_at").ok()?,
            names: names(text("effect")),
            receipt: format!(
                "{} {} {} {:?} {}",
                text("operation_id"),
                text("intent_id"),
                text("effect"),
                item.integer("accepted_at").ok(),
                text("principal"),
            ),
        })
    }
}

fn names(effect: &str) -> Option<String> {
    let effect: serde_json::Value = serde_json::from_str(effect).ok()?;
    effect["similar_operation_id"].as_str().map(str::to_owned)
}

impl Books {
    pub(super) fn read(item: &Item) -> Option<Self> {
        Some(Self {
            captured: item.integer("captured_minor").ok()?,
            refundable: item.integer("refundable_minor").ok()?,
            reserved: item.integer("reserved_minor").ok()?,
            refunded: item.integer("refunded_minor").ok()?,
            conflicts: item.integer("conflicts").ok()?,
            terms: item.integer("terms_version").ok()?,
        })
    }
}
