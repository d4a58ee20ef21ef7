//! Money: whole minor units and an ISO 4217 code. There is no floating point in the product.

use iso_currency::Currency as Iso;

use crate::digest::Fields;
use crate::item::Attr;

crate::integer! {
    /// An amount in the currency's minor units.
    pub struct AmountMinor { 1..=50_000, "minor units (cents for EUR, whole yen for JPY, fils for KWD)" }
}

crate::choice! {
    /// A currency, by its ISO 4217 code. The set is an allow-list: another currency is added here, deliberately.
    pub enum Currency {
        /// Euro.
        Eur = "EUR",
        /// United States dollar.
        Usd = "USD",
        /// Pound sterling.
        Gbp = "GBP",
        /// Yen, which has no minor unit.
        Jpy = "JPY",
        /// Kuwaiti dinar, a thousand fils.
        Kwd = "KWD",
        /// Icelandic króna, without a minor unit in ISO 4217.
        Isk = "ISK",
    }
}

impl Currency {
    /// How many decimal digits the minor unit has, from ISO 4217.
    #[must_use]
    pub fn exponent(self) -> u32 {
        let iso = match self {
            Self::Eur => Iso::EUR,
            Self::Usd => Iso::USD,
            Self::Gbp => Iso::GBP,
            Self::Jpy => Iso::JPY,
            Self::Kwd => Iso::KWD,
            Self::Isk => Iso::ISK,
        };
        iso.exponent().map_or(0, u32::from)
    }

    /// The amount as a person reads it: `EUR 129.00`, `JPY 5000`, `KWD 12.500`.
    #[must_use]
    pub fn format(self, minor: i64) -> String {
        let exponent = self.exponent();
        if exponent == 0 {
            return format!("{self} {minor}");
        }
        let unit = 10_i64.pow(exponent);
        let width = usize::try_from(exponent).unwrap_or(0);
        let sign = if minor < 0 { "-" } else { "" };
        format!("{self} {sign}{}.{:0width$}", (minor / unit).abs(), (minor % unit).abs())
    }

    /// The name of the attribute that holds an authority's limit in this currency.
    #[must_use]
    pub const fn limit_attribute(self) -> Attr {
        match self {
            Self::Eur => "limit_EUR",
            Self::Usd => "limit_USD",
            Self::Gbp => "limit_GBP",
            Self::Jpy => "limit_JPY",
            Self::Kwd => "limit_KWD",
            Self::Isk => "limit_ISK",
        }
    }
}

impl AmountMinor {
    /// Adds the amount and its currency to a digest.
    pub fn digest(self, currency: Currency, fields: &mut Fields) {
        fields.integer("amount_minor", self.get());
        fields.text("currency", currency.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_with_its_currency_s_decimals() {
        assert_eq!(Currency::Eur.format(12_900), "EUR 129.00");
        assert_eq!(Currency::Jpy.format(5_000), "JPY 5000");
        assert_eq!(Currency::Kwd.format(12_500), "KWD 12.500");
        assert_eq!(Currency::Usd.format(-5), "USD -0.05");
        assert_eq!(Currency::Isk.exponent(), 0);
    }
}
