//! Stripe's units: those of ISO 4217 with exceptions (<https://docs.stripe.com/currencies>).

use countersign::bounded::Currency;
use countersign::delivery::Unsayable;

/// The amount as Stripe wants it.
pub(crate) fn of(minor: i64, currency: Currency) -> Result<i64, Unsayable> {
    match currency {
        // Two digits in ISO 4217, and the yen none: <https://docs.stripe.com/currencies#zero-decimal>.
        Currency::Eur | Currency::Usd | Currency::Gbp | Currency::Jpy => Ok(minor),
        // Without a minor unit since 2007, yet sent as if it had two digits: 5 kronas are 500
        // (<https://docs.stripe.com/currencies#special-cases>).
        Currency::Isk => minor.checked_mul(100).ok_or(Unsayable("the amount is too large for Stripe")),
        // Three digits, of which the last must be 0 (<https://docs.stripe.com/currencies#three-decimal>).
        Currency::Kwd if minor % 10 == 0 => Ok(minor),
        Currency::Kwd => Err(Unsayable("Stripe takes amounts of this currency in steps of ten minor units only")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many minor units of ISO 4217, and of Stripe's, the same money is: from Stripe's page, for every currency.
    const MONEY: [(Currency, i64, i64); 6] = [
        (Currency::Eur, 1_000, 1_000),
        (Currency::Usd, 1_000, 1_000),
        (Currency::Gbp, 1_000, 1_000),
        (Currency::Jpy, 500, 500),
        (Currency::Isk, 5, 500),
        (Currency::Kwd, 5_120, 5_120),
    ];

    #[test]
    fn each_currency_is_sent_in_the_unit_that_stripe_documents() {
        assert_eq!(MONEY.len(), Currency::ALL.len());
        for (currency, minor, sent) in MONEY {
            assert_eq!(of(minor, currency), Ok(sent), "{currency}");
        }
    }

    #[test]
    fn each_step_in_which_the_domain_pays_can_be_said_and_no_finer_one() {
        for currency in Currency::ALL {
            let step = refunds::step(*currency);
            for minor in 1..=1_000 {
                assert_eq!(of(minor, *currency).is_ok(), minor % step == 0, "{currency} {minor}");
            }
        }
    }

    #[test]
    fn what_stripe_cannot_represent_is_not_rounded() {
        for minor in [5_124, 1, 9, 11] {
            assert!(of(minor, Currency::Kwd).is_err(), "{minor}");
        }
        assert!(of(i64::MAX, Currency::Isk).is_err());
    }
}
