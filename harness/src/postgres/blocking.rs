use super::PostgresError;

/// Runs what blocks beside the runtime. A panic in there goes on here.
pub(super) async fn blocking<T, F>(work: F) -> Result<T, PostgresError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, PostgresError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(error) => {
            Err(PostgresError::Cluster { what: format!("was given up: {error}"), log: String::new() })
        }
    }
}
