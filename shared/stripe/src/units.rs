//! Stripe's units: those of ISO 4217 with exceptions (<https://docs.stripe.com/currencies>).

use countersign::bounded::Currency;
use countersign::delivery::Unsayable;

/// The amount as Stripe wants it.
pub(crate) fn of(minor: i64, currency: Currency) -> Result<i64, Unsayable> {
    match currency {
        Currency::Eur | Currency::Usd | Currency::Gbp | Currency::Jpy => Ok(minor),
        // Without a minor unit, yet sent as if it had two digits.
        Currency::Isk => minor.checked_mul(100).ok_or(Unsayable("the amount is too large for Stripe")),
        // Three digits, of which the last must be 0.
        Currency::Kwd if minor % 10 == 0 => Ok(minor),
        Currency::Kwd => Err(Unsayable("Stripe takes amounts of this currency in steps of ten minor units only")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_currency_is_sent_in_the_unit_that_stripe_documents() {
        assert_eq!(of(12_900, Currency::Eur), Ok(12_900));
        assert_eq!(of(5_000, Currency::Jpy), Ok(5_000));
        assert_eq!(of(5_000, Currency::Isk), Ok(500_000));
        assert_eq!(of(12_500, Currency::Kwd), Ok(12_500));
        assert!(of(12_501, Currency::Kwd).is_err());
    }
}
