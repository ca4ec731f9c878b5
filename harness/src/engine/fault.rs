//! Applies a scenario's faults, and confirms in the history that they hit.

use std::{collections::BTreeMap, num::NonZeroU32, str::FromStr, sync::Arc, time::Duration};

use sqlx::{AssertSqlSafe, PgConnection, Row};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use super::{own::Own, world::World};
use crate::{
    fail::{Code, Fault},
    fault::{
        Armed, Direction, Ending, GroupSignal, Hit, HttpFault, Matching, NetFault, Proxy, ProxyFault,
        Swallowed, Times, When,
    },
    gate::{LockError, LockGate},
    history::Kind,
    postgres::Halt,
    scenario::{Span, Step},
};

/// How long the service's own transactions may keep our lock from being taken.
const LOCK_WITHIN: Duration = Duration::from_secs(5);
/// How often Postgres is asked who waits for a table.
const WHO_WAITS_EVERY: Duration = Duration::from_millis(2);
/// Everything that a fault may be told.
const WORDS: [&str; 20] = [
    "kind",
    "to",
    "bytes",
    "after",
    "by",
    "rate",
    "then",
    "answers",
    "ending",
    "times",
    "method",
    "path",
    "level",
    "waiters",
    "inserting",
    "clock",
    "how",
    "valid",
    "signer",
    "part",
];
/// Ends the service's connections, and none of ours.
const END_CONNECTIONS: &str = "\
    SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity \
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' \
       AND application_name NOT IN ('onejob lock gate', 'onejob harness')";

/// Faults that are in force, by their names in the scenario.
#[derive(Debug, Default)]
pub(super) struct Standing(pub(super) BTreeMap<String, InForce>);

#[derive(Debug)]
pub(super) enum InForce {
    /// Proxies hold it; the task tells the history of hits until it is ended, which disarms it.
    Armed(Vec<JoinHandle<()>>),
    /// A replica stands still.
    Paused(u32),
    /// A table is locked from outside, by a task that opens it when it is told to or forgotten.
    Locked(oneshot::Sender<()>, JoinHandle<Result<(), LockError>>),
    /// Nobody listens there.
    Down(Vec<Arc<Proxy>>),
    /// A setting of the database, and what undoes it.
    Setting(String),
}

/// What a step says of its fault.
pub(super) struct Terms<'s> {
    step: &'s str,
    pub(super) name: &'s str,
    pub(super) with: &'s BTreeMap<String, String>,
}

impl Terms<'_> {
    /// What is done: `kind`, or the fault's own name without the place that it begins with.
    pub(super) fn kind(&self) -> &str {
        let own = match place(self.name) {
            "process" => self.name,
            place => self.name.strip_prefix(place).map_or(self.name, |rest| rest.trim_start_matches('-')),
        };
        self.with.get("kind").map_or(own, String::as_str)
    }

    pub(super) fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        let message: String = message.into();
        Fault::new(Code::ScenarioField, format!("step {}: fault {}: {message}", self.step, self.name), help)
    }

    pub(super) fn get<T: FromStr>(&self, key: &str, example: &str) -> Result<Option<T>, Fault> {
        let Some(text) = self.with.get(key) else { return Ok(None) };
        let parsed = text.parse().map_err(|_| {
            self.wrong(
                format!("`{key} = \"{text}\"` can't be read"),
                format!("write it like {key} = \"{example}\""),
            )
        });
        parsed.map(Some)
    }

    pub(super) fn must<T: FromStr>(&self, key: &str, example: &str) -> Result<T, Fault> {
        self.get(key, example)?.ok_or_else(|| {
            self.wrong(format!("`{key}` is missing"), format!("say {key} = \"{example}\" in with.fault"))
        })
    }

    fn direction(&self) -> Result<Direction, Fault> {
        // Who calls and who is called at each place.
        let (near, far) = match place(self.name) {
            "client" => ("client", "service"),
            place => ("service", place),
        };
        match self.with.get("to").map_or(near, String::as_str) {
            to if to == near => Ok(Direction::ToClient),
            to if to == far => Ok(Direction::ToUpstream),
            other => Err(self.wrong(
                format!("nothing goes to `{other}` here"),
                format!("write to = \"{far}\" or to = \"{near}\""),
            )),
        }
    }

    /// How far the clock of a process is off that is started; not at all by default.
    fn clock(&self) -> Option<&str> {
        self.with.get("clock").map(String::as_str).filter(|clock| *clock != "+0")
    }

    fn ending(&self) -> Result<Ending, Fault> {
        match self.with.get("ending").map_or("close", String::as_str) {
            "close" => Ok(Ending::Close),
            "reset" => Ok(Ending::Reset),
            other => {
                Err(self.wrong(format!("a connection can't end by `{other}`"), "write `close` or `reset`"))
            }
        }
    }

    fn times(&self) -> Result<Times, Fault> {
        match self.with.get("times").map_or("once", String::as_str) {
            "once" => Ok(Times::Once),
            "always" => Ok(Times::Always),
            _ => Ok(Times::Exactly(self.must("times", "3")?)),
        }
    }

    /// Requests that an HTTP fault is meant for: all with a body, unless a method or a part of the path is given.
    fn matching(&self) -> Matching {
        let method = self.with.get("method").cloned().unwrap_or_else(|| "POST".to_owned());
        let path = self.with.get("path").cloned().unwrap_or_default();
        Matching::by(move |head| head.method == method && head.target.contains(&path))
    }

    fn swallowed(&self) -> Result<Swallowed, Fault> {
        Ok(match self.with.get("then").map_or("close", String::as_str) {
            "close" => Swallowed::Ended(Ending::Close),
            "reset" => Swallowed::Ended(Ending::Reset),
            "silence" => Swallowed::Silence,
            _ => Swallowed::Status(self.must("then", "503")?),
        })
    }

    /// The fault for a proxy.
    fn for_proxy(&self, second: Option<crate::fault::Upstream>) -> Result<ProxyFault, Fault> {
        let http = |fault| ProxyFault::Http { matching: self.matching(), fault };
        let net = |fault: NetFault| ProxyFault::Net(fault);
        Ok(match self.kind() {
            "cut" => {
                let when = match (self.get("bytes", "120")?, self.get::<Span>("after", "30ms")?) {
                    (Some(count), None) => When::Bytes { direction: self.direction()?, count },
                    (None, Some(after)) => When::After(after.0),
                    _ => {
                        return Err(self.wrong(
                            "a cut is made after `bytes` or `after` a time",
                            "say exactly one of them",
                        ));
                    }
                };
                net(NetFault::Cut { when, ending: self.ending()? })
            }
            "delay" => {
                net(NetFault::Delay { direction: self.direction()?, by: self.must::<Span>("by", "200ms")?.0 })
            }
            "throttle" => net(NetFault::Throttle {
                direction: self.direction()?,
                rate: self.must::<NonZeroU32>("rate", "2000")?,
            }),
            "blackhole" => net(NetFault::Blackhole { direction: self.direction()? }),
            "refuse" => net(NetFault::Refuse),
            "hold" => http(HttpFault::Hold),
            "watch" => http(HttpFault::Watch),
            "drop-answer" => http(HttpFault::DropAnswer { then: self.swallowed()? }),
            "duplicate" => {
                let second = second.ok_or_else(|| {
                    self.wrong("there is no second replica", "say with.replica = 2 somewhere")
                })?;
                http(HttpFault::Duplicate {
                    second,
                    second_answers: self.with.get("answers").is_some_and(|answers| answers == "2"),
                })
            }
            other => {
                return Err(self.wrong(
                    format!("there is no fault `{other}`"),
                    "between parts there are: cut, delay, throttle, blackhole, refuse, down, hold, watch, drop-answer, duplicate",
                ));
            }
        })
    }
}

/// Where a fault's name says that it is: `client-drop`, `provider-cut`, `database-restart`; anything else is about the
/// service's process. `attestation-` and `contract-` are about what lets a job move to another provider.
#[must_use]
pub(super) fn place(name: &str) -> &str {
    match name.split('-').next() {
        Some(place @ ("client" | "provider" | "database" | "attestation" | "contract")) => place,
        _ => "process",
    }
}

/// Applies the fault of a step. In force when it returns.
pub(super) async fn apply(world: &Arc<World>, round: u32, name: &str, step: &Step) -> Result<(), Fault> {
    let fault = step.fault.clone().unwrap_or_default();
    let terms = Terms { step: name, name: &fault, with: &step.with.fault };
    if let Some(unknown) = terms.with.keys().find(|key| !WORDS.contains(&key.as_str())) {
        return Err(terms.wrong(
            format!("it can't be told `{unknown}`"),
            format!("with.fault takes {}", WORDS.join(", ")),
        ));
    }
    match place(&fault) {
        "client" => {
            let proxies = world.client_proxies(step.with.replica).await;
            let second = world.upstream_of_second().await;
            between(world, round, &terms, &proxies, second).await
        }
        "provider" => {
            let proxies = world.provider_proxy.iter().cloned().collect::<Vec<_>>();
            between(world, round, &terms, &proxies, None).await
        }
        "database" => database(world, round, &terms).await,
        "attestation" | "contract" => super::attestation::apply(world, round, &terms).await,
        _ => process(world, round, &terms, step.with.replica.unwrap_or(1)).await,
    }
}

async fn between(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    proxies: &[Arc<Proxy>],
    second: Option<crate::fault::Upstream>,
) -> Result<(), Fault> {
    if proxies.is_empty() {
        return Err(terms.wrong("there is no proxy at that place", "please report this with the scenario"));
    }
    if terms.kind() == "down" {
        return down(world, round, terms, proxies).await;
    }
    let fault = terms.for_proxy(second)?;
    let detail = format!("{} {:?}", terms.kind(), terms.with);
    let mut tasks = Vec::new();
    for proxy in proxies {
        let armed = proxy.arm(fault.clone(), terms.times()?);
        tasks.push(tokio::spawn(tell(world.clone(), round, terms.name.to_owned(), armed)));
    }
    world.recorder.record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail });
    world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Armed(tasks));
    Ok(())
}

/// Nobody listens at a place any more, until it is healed.
async fn down(
    world: &Arc<World>,
    round: u32,
    terms: &Terms<'_>,
    proxies: &[Arc<Proxy>],
) -> Result<(), Fault> {
    for proxy in proxies {
        proxy.close().await?;
        // The kernel refuses on its own and tells nobody, so it is tried.
        let refused = tokio::net::TcpStream::connect(proxy.address()).await;
        let detail = format!("connections to {} are refused", place(terms.name));
        world
            .recorder
            .record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail: detail.clone() });
        if refused.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            world.recorder.record(round, Kind::FaultHit { fault: terms.name.to_owned(), detail });
        }
    }
    world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Down(proxies.to_vec()));
    Ok(())
}

/// Owns an armed fault and tells of its hits. Ending the task disarms it.
async fn tell(world: Arc<World>, round: u32, fault: String, mut armed: Armed) {
    while let Ok(hit) = armed.hit().await {
        world.recorder.record_at(
            hit.at,
            round,
            Kind::FaultHit { fault: fault.clone(), detail: detail(&hit) },
        );
    }
    // A fault that has used up its hits stays armed until it is healed: what it did to a connection lasts.
    std::future::pending::<()>().await;
}

fn detail(hit: &Hit) -> String {
    let mut words = vec![format!("connection {}", hit.connection)];
    words.extend(hit.request.clone());
    words.extend(hit.status.map(|status| format!("the answer was {status}")));
    words.extend(hit.second_status.map(|status| format!("the second answered {status}")));
    if hit.passed > 0 {
        words.push(format!("after {} bytes", hit.passed));
    }
    words.join(", ")
}

pub(super) fn both(world: &World, round: u32, fault: &str, detail: &str) {
    let (name, detail) = (fault.to_owned(), detail.to_owned());
    world.recorder.record(round, Kind::FaultApplied { fault: name.clone(), detail: detail.clone() });
    world.recorder.record(round, Kind::FaultHit { fault: name, detail });
}

async fn process(world: &Arc<World>, round: u32, terms: &Terms<'_>, replica: u32) -> Result<(), Fault> {
    let told = |what: &str| both(world, round, terms.name, &format!("replica {replica} {what}"));
    match terms.kind() {
        "kill" => {
            world.kill(replica).await?;
            told("killed (SIGKILL)");
        }
        "stop" => {
            world.signal(replica, GroupSignal::Stop).await?;
            told("stands still (SIGSTOP)");
            world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Paused(replica));
        }
        "start" | "join" => {
            world.start(replica, terms.clock()).await?;
            told("started");
        }
        "restart" => {
            world.stop(replica).await?;
            world.start(replica, terms.clock()).await?;
            told("asked to end (SIGTERM), and started anew");
        }
        "crash" => {
            world.kill(replica).await?;
            world.start(replica, terms.clock()).await?;
            told("killed (SIGKILL), and started anew");
        }
        other => {
            return Err(terms.wrong(
                format!("there is no fault `{other}`"),
                "on a process there are: kill, stop, start, join, restart, crash; the names of others begin with `client-`, \
                 `provider-`, `database-`, `attestation-` or `contract-`",
            ));
        }
    }
    Ok(())
}

async fn database(world: &Arc<World>, round: u32, terms: &Terms<'_>) -> Result<(), Fault> {
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
        "lock" => {
            let (Some(url), Some(section)) = (&world.database_url, &world.target.target.database) else {
                return Err(
                    terms.wrong("the target's database isn't ours to lock", "give `[target.database]`")
                );
            };
            let wanted = Wanted {
                waiters: terms.get("waiters", "2")?.unwrap_or(1),
                inserting: terms.get("inserting", "true")?.unwrap_or(false),
            };
            let gate = LockGate::arm(url, &section.jobs_table, LOCK_WITHIN).await?;
            let detail = format!("table {} is locked against writes", section.jobs_table);
            world.recorder.record(round, Kind::FaultApplied { fault: terms.name.to_owned(), detail });
            let (open, opened) = oneshot::channel();
            let keeper =
                tokio::spawn(keep_locked(world.clone(), round, terms.name.to_owned(), gate, wanted, opened));
            world.standing.lock().await.0.insert(terms.name.to_owned(), InForce::Locked(open, keeper));
        }
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

/// Who must wait for a lock before it counts as hit.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// How many.
    waiters: u32,
    /// Only those that insert into the table: a worker that writes to it for other reasons is no request.
    inserting: bool,
}

/// Holds a lock until it is to be opened. It hits when as many backends wait for it as were asked for.
async fn keep_locked(
    world: Arc<World>,
    round: u32,
    fault: String,
    mut gate: LockGate,
    wanted: Wanted,
    mut opened: oneshot::Receiver<()>,
) -> Result<(), LockError> {
    let waiting = loop {
        let waiting = if wanted.inserting { gate.waiting_to_insert().await? } else { gate.waiting().await? };
        let waiting = waiting.all();
        if waiting >= wanted.waiters {
            break Some(waiting);
        }
        // Postgres can't tell anybody that a backend begins to wait, so it is asked again and again.
        tokio::select! {
            biased;
            _ = &mut opened => break None,
            () = sleep(WHO_WAITS_EVERY) => {}
        }
    };
    if let Some(waiting) = waiting {
        world
            .recorder
            .record(round, Kind::FaultHit { fault, detail: format!("{waiting} wait for the table") });
        // Whoever forgets the lock lifts it.
        let _ = opened.await;
    }
    gate.open().await.map(drop)
}

/// Sets a default of the database and ends the connections that don't know of it yet.
async fn set_default(world: &World, name: &str, value: &str) -> Result<(), sqlx::Error> {
    let mut connection: PgConnection = world.administrator().await.map_err(|_| sqlx::Error::PoolClosed)?;
    let row = sqlx::query("SELECT quote_ident(current_database())").fetch_one(&mut connection).await?;
    let database: String = row.try_get(0)?;
    // Name and value come from lists of ours; the database's name was quoted by Postgres.
    let statement = format!("ALTER DATABASE {database} SET {name} = '{value}'");
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    sqlx::query(END_CONNECTIONS).execute(&mut connection).await?;
    Ok(())
}

/// Ends the fault of a step.
pub(super) async fn heal(world: &Arc<World>, round: u32, name: &str) -> Result<(), Fault> {
    let standing = world.standing.lock().await.0.remove(name);
    match standing {
        Some(InForce::Armed(tasks)) => {
            for task in tasks {
                task.abort();
                // Disarmed when the task's own state is dropped, which is when it has ended.
                let _ = task.await;
            }
        }
        Some(InForce::Locked(open, keeper)) => {
            // A keeper that is over already has lost its connection, and says so.
            let _ = open.send(());
            keeper.await.map_err(|error| {
                Fault::new(Code::Bug, "a lock's task broke", "please report this").because(error)
            })??;
        }
        Some(InForce::Down(proxies)) => {
            for proxy in proxies {
                proxy.open().await?;
            }
        }
        Some(InForce::Paused(replica)) => world.signal(replica, GroupSignal::Continue).await?,
        Some(InForce::Setting(setting)) => {
            let value = "read committed";
            set_default(world, &setting, value).await.map_err(|error| {
                Fault::new(
                    Code::FaultFailed,
                    format!("fault {name} could not be lifted"),
                    "see whether the database still runs",
                )
                .because(error)
            })?;
        }
        None => return Ok(()),
    }
    world.recorder.record(round, Kind::FaultHealed { fault: name.to_owned() });
    Ok(())
}

/// Ends all faults of a round.
pub(super) async fn heal_all(world: &Arc<World>, round: u32) -> Result<(), Fault> {
    let names: Vec<String> = world.standing.lock().await.0.keys().cloned().collect();
    for name in names {
        heal(world, round, &name).await?;
    }
    Ok(())
}
