//! A step as the write that DynamoDB takes.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use super::TableNames;
use super::expression::{Expressions, to_attributes};
use crate::change::{Act, Step};
use crate::failure::Failure;

/// Whoever loses learns the record that was in the way, in the same round trip.
pub(super) const ALL_OLD: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;

/// The primary key of a record.
pub(super) fn primary_key(pk: &str) -> HashMap<String, AttributeValue> {
    HashMap::from([("pk".to_owned(), AttributeValue::S(pk.to_owned()))])
}

/// One step of a transaction.
pub(super) fn write(tables: &TableNames, step: &Step) -> Result<TransactWriteItem, Failure> {
    let mut expressions = Expressions::default();
    let condition = expressions.condition(&step.guards);
    let table = tables.of(step.key.table());
    let pk = step.key.pk();
    let item = TransactWriteItem::builder();
    let item = match &step.act {
        Act::Put(record) => item.put(
            Put::builder()
                .table_name(table)
                .set_item(Some(to_attributes(pk, record)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(ALL_OLD)
                .build()
                .map_err(Failure::internal)?,
        ),
        Act::Update(edits) => item.update(
            Update::builder()
                .table_name(table)
                .set_key(Some(primary_key(pk)))
                .update_expression(expressions.update(edits))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(ALL_OLD)
                .build()
                .map_err(Failure::internal)?,
        ),
        Act::Check => item.condition_check(
            ConditionCheck::builder()
                .table_name(table)
                .set_key(Some(primary_key(pk)))
                .set_condition_expression(condition)
                .set_expression_attribute_names(expressions.names())
                .set_expression_attribute_values(expressions.values())
                .return_values_on_condition_check_failure(ALL_OLD)
                .build()
                .map_err(Failure::internal)?,
        ),
        #[cfg(feature = "seeded_bugs")]
        Act::Delete => return Err(Failure::internal("only a model deletes")),
    };
    Ok(item.build())
}
