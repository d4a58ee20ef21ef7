//! A tool's event: whatever its bytes are, they become an input that the contract allows, or a refusal that names a field.
#![no_main]

use std::fmt::Debug;
use std::sync::LazyLock;

use countersign::contract::Contract;
use countersign::failure::Code;
use countersign::host::Arguments;
use countersign::json::Members;
use countersign::tool::Tool;
use jsonschema::Validator;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

#[allow(dead_code, reason = "only its types are needed")]
#[path = "../../../../functions/refunds/get_order_summary/src/get_order_summary.rs"]
mod get_order_summary;
#[allow(dead_code, reason = "only its types are needed")]
#[path = "../../../../functions/refunds/get_refund_status/src/get_refund_status.rs"]
mod get_refund_status;
#[allow(dead_code, reason = "only its types are needed")]
#[path = "../../../../functions/refunds/prepare_refund/src/prepare_refund.rs"]
mod prepare_refund;
#[allow(dead_code, reason = "only its types are needed")]
#[path = "../../../../functions/refunds/submit_refund/src/submit_refund.rs"]
mod submit_refund;

/// One tool's arguments, as the host reads them and as the contract describes them.
struct Subject {
    arguments: Arguments,
    schema: Validator,
}

static SUBJECTS: LazyLock<[Subject; 4]> = LazyLock::new(|| {
    [
        Subject::of::<prepare_refund::PrepareRefund>(),
        Subject::of::<submit_refund::SubmitRefund>(),
        Subject::of::<get_order_summary::GetOrderSummary>(),
        Subject::of::<get_refund_status::GetRefundStatus>(),
    ]
});

/// The host refuses more than this.
const SIZE: usize = 16 * 1024;
/// And what is nested deeper.
const DEPTH: usize = 8;
/// No refusal is longer.
const REFUSAL: usize = 1_024;

fuzz_target!(|data: &[u8]| {
    let [prepare, submit, summary, status] = &*SUBJECTS;
    prepare.check::<prepare_refund::PrepareRefund>(data);
    submit.check::<submit_refund::SubmitRefund>(data);
    summary.check::<get_order_summary::GetOrderSummary>(data);
    status.check::<get_refund_status::GetRefundStatus>(data);
});

impl Subject {
    fn of<T: Tool>() -> Self {
        let contract = Contract::of::<T>();
        let text: Value = serde_json::from_str(&contract.to_text()).unwrap();
        let schema = jsonschema::validator_for(&text["inputSchema"]).unwrap();
        Self { arguments: Arguments::of(&contract), schema }
    }

    fn check<T: Tool>(&self, data: &[u8])
    where
        T::Input: Debug,
    {
        let value: Option<Value> = serde_json::from_slice(data).ok();
        let allowed = value.as_ref().is_some_and(|value| self.schema.is_valid(value));
        match self.arguments.read::<T::Input>(data) {
            Ok(input) => {
                assert!(allowed, "{} took what its contract forbids: {input:?}", T::NAME);
                let again = self.arguments.read::<T::Input>(value.unwrap().to_string().as_bytes());
                assert_eq!(format!("{input:?}"), format!("{:?}", again.unwrap()), "the same value is another input");
                let padded = [data, &[b' '; SIZE]].concat();
                assert!(self.arguments.read::<T::Input>(&padded).is_err(), "{} took more than 16 KB", T::NAME);
            }
            Err(refusal) => {
                assert_eq!(refusal.code(), Code::INVALID_INPUT);
                let text = serde_json::to_string(&refusal).unwrap();
                assert!(text.len() <= REFUSAL, "{text}");
                let refusal: Value = serde_json::from_str(&text).unwrap();
                let field =
                    refusal.pointer("/error/field").and_then(Value::as_str).expect("each refusal names a field");
                // Before anything else is looked at: what is deep costs whoever looks.
                assert!(value.is_none_or(|value| depth(&value) <= DEPTH) || field == "arguments", "{text}");
                assert!(!allowed || data.len() > SIZE || stricter(data), "{} refused what is allowed: {text}", T::NAME);
            }
        }
    }
}

/// How deep arrays and objects are nested.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(values) => values.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    1 + inner.unwrap_or_default()
}

/// Whether it is something that no JSON Schema can forbid: a member twice, or a whole number that is not written as one.
fn stricter(data: &[u8]) -> bool {
    let members: Members<'_> = serde_json::from_slice(data).unwrap();
    let fraction = |text: &str| !text.starts_with('"') && (text.contains(['.', 'e', 'E']) || text == "-0");
    members.duplicate().is_some() || members.0.iter().any(|(_, value)| fraction(value.get()))
}
