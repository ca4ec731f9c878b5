//! A place in the database to measure in.

use std::future::Future;

use sqlx::{AssertSqlSafe, Connection, PgConnection, postgres::PgConnectOptions};

use super::CalibrateError;

/// A schema of our own with one table.
pub(super) struct Scratch {
    pub(super) url: String,
    /// With the schema as the search path.
    pub(super) options: PgConnectOptions,
    schema: String,
}

impl Scratch {
    pub(super) async fn make(url: &str) -> Result<Self, CalibrateError> {
        let schema = format!("onejob_calibrate_{}", uuid::Uuid::new_v4().simple());
        let options: PgConnectOptions = url.parse()?;
        let scratch = Self {
            url: url.to_owned(),
            options: options.options([("search_path", schema.as_str())]),
            schema,
        };
        scratch
            .run(|schema| {
                format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.jobs (key text NOT NULL); CREATE INDEX ON {schema}.jobs (key)")
            })
            .await?;
        Ok(scratch)
    }

    /// The table's name with its schema.
    pub(super) fn table(&self) -> String {
        format!("{}.jobs", self.schema)
    }

    pub(super) async fn remove(self) -> Result<(), CalibrateError> {
        self.run(|schema| format!("DROP SCHEMA {schema} CASCADE")).await
    }

    fn run(&self, sql: impl FnOnce(&str) -> String) -> impl Future<Output = Result<(), CalibrateError>> {
        // The schema's name is letters, digits and underscores of our own making.
        let sql = AssertSqlSafe(sql(&self.schema));
        let options = self.options.clone();
        async move {
            let mut connection = PgConnection::connect_with(&options).await?;
            sqlx::raw_sql(sql).execute(&mut connection).await?;
            connection.close().await?;
            Ok(())
        }
    }
}
