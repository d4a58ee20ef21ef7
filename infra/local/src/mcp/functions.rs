//! What the endpoint asks of the Lambda functions behind it.

use bytes::Bytes;
use futures::future::BoxFuture;

/// The functions that can be invoked by name: a pool of processes, or a test's stand-in.
pub trait Functions: Send + Sync + 'static {
    /// Invokes `function` once and waits for its return value.
    ///
    /// `client_context` is the JSON that the function finds in its client context, unencoded.
    /// The error is a Lambda *function error* or a failure to invoke at all. Its text is for the log only: it never
    /// reaches a client.
    fn invoke<'a>(
        &'a self,
        function: &'a str,
        payload: Bytes,
        client_context: Option<Bytes>,
    ) -> BoxFuture<'a, Result<Bytes, String>>;
}
