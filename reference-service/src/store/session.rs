use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgConnection, Postgres};

use super::StoreError;

/// A connection, within a transaction or not.
///
/// Dropped before its end, it is cut off and not given back to the pool: nobody can say what is still on its way, and
/// a connection to a server that fell silent would hold its place for ever. The server rolls back by itself.
pub(crate) struct Session {
    connection: Option<PoolConnection<Postgres>>,
    within_transaction: bool,
}

impl Session {
    /// Statements that are each complete in themselves.
    pub(super) fn single(connection: PoolConnection<Postgres>) -> Self {
        Self { connection: Some(connection), within_transaction: false }
    }

    /// Begins a transaction.
    pub(super) async fn transaction(
        connection: PoolConnection<Postgres>,
        begin: &str,
    ) -> Result<Self, StoreError> {
        let mut session = Self { connection: Some(connection), within_transaction: true };
        session.simple(begin).await?;
        Ok(session)
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        self.end("COMMIT").await
    }

    pub(crate) async fn roll_back(self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, statement: &str) -> Result<(), StoreError> {
        if self.within_transaction {
            self.simple(statement).await?;
        }
        // Back to the pool, and nothing left to cut off.
        drop(self.connection.take());
        Ok(())
    }

    async fn simple(&mut self, statement: &str) -> Result<(), StoreError> {
        // Made of constants and numbers by this module.
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut **self).await?;
        Ok(())
    }
}

impl Deref for Session {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.connection.as_ref().expect("a session has its connection until its end, which consumes it")
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.connection.as_mut().expect("a session has its connection until its end, which consumes it")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(connection.detach());
        }
    }
}
