//! Which accounts are whose: a platform's key opens the accounts of all its merchants, and a tenant refunds from its own.

use std::collections::BTreeMap;

use countersign::bounded::Tenant;
use countersign::config::ConfigError;
use refunds::ProviderAccount;

const NAME: &str = "COUNTERSIGN_PROVIDER_ACCOUNTS";

/// The accounts of each tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts(BTreeMap<String, Vec<String>>);

impl Accounts {
    /// Reads `COUNTERSIGN_PROVIDER_ACCOUNTS`: a JSON object, `{"tenant": ["acct_…", …]}`.
    ///
    /// # Errors
    /// When it is something else, or a name in it is none. The error names the setting.
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        let refused = |problem: &str| ConfigError::new(NAME, problem);
        let accounts: BTreeMap<String, Vec<String>> =
            serde_json::from_str(json).map_err(|_| refused("is no JSON object of lists of accounts"))?;
        for (tenant, accounts) in &accounts {
            Tenant::parse(tenant).map_err(|_| refused("names a tenant that can be none"))?;
            for account in accounts {
                ProviderAccount::parse(account).map_err(|_| refused("names an account that can be none"))?;
            }
        }
        Ok(Self(accounts))
    }

    /// Whether the tenant may have money moved at the account.
    pub(crate) fn are(&self, tenant: &Tenant, account: &ProviderAccount) -> bool {
        self.0.get(tenant.as_str()).is_some_and(|accounts| accounts.iter().any(|own| own == account.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_s_accounts_are_its_own_and_nobody_s_else() {
        let accounts = Accounts::parse(r#"{"acme": ["acct_1", "acct_2"], "globex": ["acct_3"], "empty": []}"#).unwrap();
        let are =
            |tenant, account| accounts.are(&Tenant::parse(tenant).unwrap(), &ProviderAccount::parse(account).unwrap());
        assert!(are("acme", "acct_1") && are("acme", "acct_2") && are("globex", "acct_3"));
        assert!(
            !are("acme", "acct_3") && !are("globex", "acct_1") && !are("empty", "acct_1") && !are("other", "acct_1")
        );
        for bad in ["", "[]", r#"{"acme": "acct_1"}"#, r#"{"ac#me": ["acct_1"]}"#, r#"{"acme": ["1"]}"#] {
            assert!(Accounts::parse(bad).is_err(), "{bad}");
        }
    }
}
