//! The schema of both tables: one definition for local runs and for tests.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType, StreamSpecification, StreamViewType, TimeToLiveSpecification,
};

use crate::key::Table;

/// Operations by what they are about, newest last: for display, never for a decision.
pub const SUBJECT_INDEX: &str = "by_subject";
/// Operations that some worker has something left to do for, by when it should look at them.
pub const DUE_INDEX: &str = "by_due";

/// Intents that nobody has used, by when they lapse: for display, never for a decision.
pub const PENDING_INDEX: &str = "by_pending";

/// Operations that wait for a person, by since when: for display, never for a decision.
pub const ATTENTION_INDEX: &str = "by_attention";

/// What the two tables are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableNames {
    /// Of [`Table::Ledger`].
    pub ledger: String,
    /// Of [`Table::Consents`].
    pub consents: String,
}

impl TableNames {
    /// The name of one table.
    #[must_use]
    pub fn of(&self, table: Table) -> &str {
        match table {
            Table::Ledger => &self.ledger,
            Table::Consents => &self.consents,
        }
    }
}

/// Creates both tables: partition key `pk` alone, on-demand; the ledger with its stream, its four sparse indexes
/// and its time to live (`expires`, seconds since 1970). A table that is there already stays as it is.
///
/// # Errors
/// When the database refuses or does not answer.
pub async fn create_tables(client: &Client, names: &TableNames) -> Result<(), aws_sdk_dynamodb::Error> {
    let ledger = client
        .create_table()
        .table_name(&names.ledger)
        .billing_mode(BillingMode::PayPerRequest)
        .key_schema(key("pk", KeyType::Hash)?)
        .attribute_definitions(attribute("pk", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("subject", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("accepted_at", ScalarAttributeType::N)?)
        .attribute_definitions(attribute("pending", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("expires_at", ScalarAttributeType::N)?)
        .attribute_definitions(attribute("due_shard", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("due_at", ScalarAttributeType::N)?)
        .attribute_definitions(attribute("attention", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("attention_at", ScalarAttributeType::N)?)
        .global_secondary_indexes(index(
            SUBJECT_INDEX,
            "subject",
            "accepted_at",
            including(&["operation_id", "state", "effect"]),
        )?)
        .global_secondary_indexes(index(DUE_INDEX, "due_shard", "due_at", keys_only())?)
        .global_secondary_indexes(index(PENDING_INDEX, "pending", "expires_at", including(&["intent_id", "effect"]))?)
        .global_secondary_indexes(index(ATTENTION_INDEX, "attention", "attention_at", keys_only())?)
        .stream_specification(
            StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::NewImage).build()?,
        );
    let consents = client
        .create_table()
        .table_name(&names.consents)
        .billing_mode(BillingMode::PayPerRequest)
        .key_schema(key("pk", KeyType::Hash)?)
        .attribute_definitions(attribute("pk", ScalarAttributeType::S)?);
    for request in [ledger, consents] {
        match request.send().await.map_err(aws_sdk_dynamodb::Error::from) {
            Ok(_) | Err(aws_sdk_dynamodb::Error::ResourceInUseException(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("expires").build()?;
    let request = client.update_time_to_live().table_name(&names.ledger).time_to_live_specification(ttl);
    match request.send().await {
        Ok(_) => Ok(()),
        Err(error) if is_validation(&error) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// DynamoDB answers a time to live that is already enabled with a `ValidationException`.
fn is_validation<E>(error: &aws_sdk_dynamodb::error::SdkError<E>) -> bool
where
    E: aws_sdk_dynamodb::error::ProvideErrorMetadata,
{
    use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
    error.code() == Some("ValidationException")
}

type Build<T> = Result<T, aws_sdk_dynamodb::error::BuildError>;

fn key(name: &str, kind: KeyType) -> Build<KeySchemaElement> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Build<AttributeDefinition> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn index(name: &str, hash: &str, range: &str, projection: Projection) -> Build<GlobalSecondaryIndex> {
    GlobalSecondaryIndex::builder()
        .index_name(name)
        .key_schema(key(hash, KeyType::Hash)?)
        .key_schema(key(range, KeyType::Range)?)
        .projection(projection)
        .build()
}

fn keys_only() -> Projection {
    Projection::builder().projection_type(ProjectionType::KeysOnly).build()
}

fn including(attributes: &[&str]) -> Projection {
    let attributes = attributes.iter().map(|name| (*name).to_owned()).collect();
    Projection::builder().projection_type(ProjectionType::Include).set_non_key_attributes(Some(attributes)).build()
}
