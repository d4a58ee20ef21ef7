//! The parameters of a request, read and checked as Stripe does before it starts to execute.

use std::collections::BTreeMap;

use super::answer::Answer;

/// The decoded pairs of a form or a query.
pub(super) type Pairs = Vec<(String, String)>;

/// A request to create a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Create {
    /// A `pi_…` or `ch_…` id.
    pub(super) payment: String,
    /// The parameter that held it.
    pub(super) payment_param: &'static str,
    /// `None` for all that is left.
    pub(super) amount: Option<i64>,
    pub(super) reason: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    /// All parameters in order of names: what a key is bound to.
    pub(super) canonical: Pairs,
}

impl Create {
    pub(super) fn parse(mut pairs: Pairs) -> Result<Self, Answer> {
        pairs.sort();
        let (mut amount, mut reason, mut payment, mut charge) = (None, None, None, None);
        let mut metadata = BTreeMap::new();
        for (name, value) in &pairs {
            match name.as_str() {
                "amount" => amount = Some(positive(value, "amount")?),
                "reason" => reason = Some(known_reason(value)?),
                "payment_intent" => payment = Some(value.clone()),
                "charge" => charge = Some(value.clone()),
                name => {
                    let key = name.strip_prefix("metadata[").and_then(|rest| rest.strip_suffix(']'));
                    let key = key.ok_or_else(|| Answer::unknown_parameter(name))?;
                    metadata.insert(key.to_owned(), value.clone());
                }
            }
        }
        bounded(&metadata)?;
        let (payment, payment_param) = match (payment, charge) {
            (Some(payment), _) => (payment, "payment_intent"),
            (None, Some(charge)) => (charge, "charge"),
            (None, None) => {
                let message =
                    "One of the following params should be provided for this request: payment_intent or charge.";
                return Err(Answer::invalid(message, "payment_intent"));
            }
        };
        Ok(Self { payment, payment_param, amount, reason, metadata, canonical: pairs })
    }
}

/// A request for a page of refunds, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    pub(super) payment: Option<String>,
    /// 1 to 100.
    pub(super) limit: usize,
    pub(super) starting_after: Option<String>,
}

impl List {
    pub(super) fn parse(pairs: Pairs) -> Result<Self, Answer> {
        let mut list = Self { payment: None, limit: 10, starting_after: None };
        for (name, value) in pairs {
            match name.as_str() {
                "payment_intent" => list.payment = Some(value),
                "starting_after" => list.starting_after = Some(value),
                "limit" => list.limit = usize::try_from(positive(&value, "limit")?).unwrap_or(usize::MAX).min(100),
                name => return Err(Answer::unknown_parameter(name)),
            }
        }
        Ok(list)
    }
}

fn positive(value: &str, param: &str) -> Result<i64, Answer> {
    let refused = |message: String| Answer::invalid_code("parameter_invalid_integer", message, param);
    let number: i64 = value.parse().map_err(|_| refused(format!("Invalid integer: {value}")))?;
    if number < 1 {
        return Err(refused("This value must be greater than or equal to 1.".to_owned()));
    }
    Ok(number)
}

fn known_reason(value: &str) -> Result<String, Answer> {
    if ["duplicate", "fraudulent", "requested_by_customer"].contains(&value) {
        return Ok(value.to_owned());
    }
    let message = "Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer";
    Err(Answer::invalid(message, "reason"))
}

/// The bounds of <https://docs.stripe.com/api/metadata>.
fn bounded(metadata: &BTreeMap<String, String>) -> Result<(), Answer> {
    let fits = |(key, value): (&String, &String)| key.chars().count() <= 40 && value.chars().count() <= 500;
    if metadata.len() <= 50 && metadata.iter().all(fits) {
        return Ok(());
    }
    let message = "Metadata holds up to 50 keys, of up to 40 characters, with values of up to 500 characters.";
    Err(Answer::invalid(message, "metadata"))
}
