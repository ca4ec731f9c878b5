//! Faults of the service's database.

use std::sync::Arc;

use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::{InForce, Terms, between::between, both, lock};
use crate::{
    engine::{own::Own, world::World},
    fail::{Code, Fault},
    fault::Proxy,
    history::Kind,
    postgres::Halt,
};

/// Ends the service's connections, and none of ours.
const END_CONNECTIONS: &str = "\
    SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity \
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
       AND application_name NOT IN ('onejob lock gate', 'onejob harness')";

pub(super) async fn database(world: &Arc<World>, round: u32, terms: &Terms<'_>) -> Result<(), Fault> {
    let failed = |error: sqlx::Error| {
        Fault::new(
            Code::FaultFailed,
            format!("fault {} could not be applied", terms.name),
            "see whether the database still runs",
        )
        .because(error)
    };
    match terms.kind() {
        "terminate" => {
            let mut connection = world.administrator().await?;
            let row = sqlx::query(END_CONNECTIONS).fetch_one(&mut connection).await.map_err(failed)?;
            let ended: i64 = row.try_get(0).map_err(failed)?;
            let detail = format!("{ended} connections of the service ended");
            world
                .recorder
                .record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail: detail.clone() });
            if ended > 0 {
                world.recorder.record(round, Kind::FaultHit { fault: terms.name.to_owned(), detail });
            }
        }
        "isolation" => {
            let level: String = terms.must("level", "serializable")?;
            if !["serializable", "repeatable read", "read committed"].contains(&level.as_str()) {
                return Err(terms.wrong(
                    format!("there is no isolation level `{level}`"),
                    "serializable, repeatable read or read committed",
                ));
            }
            set_default(world, "default_transaction_isolation", &level).await.map_err(failed)?;
            both(world, round, terms.name, &format!("new transactions are {level}"));
            let standing = InForce::Setting("default_transaction_isolation".to_owned());
            world.standing.lock().await.0.insert(terms.name.to_owned(), standing);
        }
        "lock" => lock::table(world, round, terms).await?,
        "lock-row" => lock::row(world, round, terms).await?,
        "restart" => {
            let how = match terms.with.get("how").map_or("crash", String::as_str) {
                "crash" => Halt::Crash,
                "clean" => Halt::Clean,
                other => {
                    return Err(terms.wrong(
                        format!("a server can't be stopped by `{other}`"),
                        "write `crash` or `clean`",
                    ));
                }
            };
            let detail = format!("the database server is stopped ({how:?}) and started again");
            on_server(world, round, terms, detail, async |own, _| own.restart(how).await).await?;
        }
        "behind" => {
            let detail = "the standby has everything, and gets nothing more".to_owned();
            on_server(world, round, terms, detail, async |own, _| own.fall_behind().await).await?;
        }
        "promote" => {
            let detail = "the primary crashed, and its standby took its place".to_owned();
            on_server(world, round, terms, detail, async |own, service| own.promote(service).await).await?;
        }
        _ => {
            let proxies = world.database_proxy.iter().cloned().collect::<Vec<_>>();
            return between(world, round, terms, &proxies, None).await;
        }
    }
    Ok(())
}

/// Does something to the server that the cell has to itself. Applied before, since what is asked meanwhile meets it.
async fn on_server(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    detail: String,
    act: impl AsyncFnOnce(&Own, Option<&Proxy>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let fault = terms.name.to_owned();
    world.recorder.record(round, Kind::FaultApplied { fault: fault.clone(), detail: detail.clone() });
    world.with_own_server(act).await?;
    world.recorder.record(round, Kind::FaultHit { fault, detail });
    Ok(())
}

/// Sets a default of the database and ends the connections that don't know of it yet.
pub(super) async fn set_default(world: &World, name: &str, value: &str) -> Result<(), sqlx::Error> {
    let mut connection: PgConnection = world.administrator().await.map_err(|_| sqlx::Error::PoolClosed)?;
    let row = sqlx::query("SELECT quote_ident(current_database())").fetch_one(&mut connection).await?;
    let database: String = row.try_get(0)?;
    // Name and value come from lists of ours; the database's name was quoted by Postgres.
    let statement = format!("ALTER DATABASE {database} SET {name} = '{value}'");
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    sqlx::query(END_CONNECTIONS).execute(&mut connection).await?;
    Ok(())
}
