//! A row of the table: which requests a phase makes, and what they cost.

use std::collections::BTreeMap;
use std::fmt;

use local::tap::Seen;

/// What one phase of one function costs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) tool: String,
    pub(crate) phase: String,
    /// Each kind of request with its number, in the alphabet's order.
    pub(crate) requests: String,
    pub(crate) read_units: f64,
    pub(crate) write_units: f64,
}

impl Row {
    /// The row of these requests.
    pub(crate) fn new(tool: &str, phase: &str, seen: &[Seen]) -> Self {
        let mut counted = BTreeMap::new();
        for request in seen {
            *counted.entry(kind(request)).or_insert(0) += 1;
        }
        let requests: Vec<_> = counted.into_iter().map(|(kind, times)| format!("{times} {kind}")).collect();
        Self {
            tool: tool.to_owned(),
            phase: phase.to_owned(),
            requests: if requests.is_empty() { "none".to_owned() } else { requests.join(", ") },
            read_units: seen.iter().fold(0.0, |sum, request| sum + request.read_units),
            write_units: seen.iter().fold(0.0, |sum, request| sum + request.write_units),
        }
    }

    fn parse(line: &str) -> Self {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [tool, phase, requests, read_units, write_units] = cells[..] else { panic!("five cells: {line}") };
        let units = |text: &str| text.parse().unwrap_or_else(|_| panic!("units: {line}"));
        Self {
            tool: tool.to_owned(),
            phase: phase.to_owned(),
            requests: requests.to_owned(),
            read_units: units(read_units),
            write_units: units(write_units),
        }
    }

    /// What it is about.
    pub(crate) fn of(&self) -> (String, String) {
        (self.tool.clone(), self.phase.clone())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, phase, requests, read_units, write_units } = self;
        write!(f, "| {tool} | {phase} | {requests} | {read_units} | {write_units} |")
    }
}

/// A request's operation, with the number of records where it names several.
fn kind(request: &Seen) -> String {
    match request.operation.as_str() {
        "BatchGetItem" | "TransactWriteItems" => format!("{}({})", request.operation, request.items),
        operation => operation.to_owned(),
    }
}

/// The rows that were decided on, each phase once.
pub(crate) fn table() -> Vec<Row> {
    let rows: Vec<_> =
        include_str!("table.md").lines().filter(|line| line.starts_with('|')).skip(2).map(Row::parse).collect();
    for (position, row) in rows.iter().enumerate() {
        assert!(rows[..position].iter().all(|other| other.of() != row.of()), "twice: {row}");
    }
    rows
}
