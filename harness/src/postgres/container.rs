use std::collections::HashMap;
use std::error::Error;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use sqlx::Connection;
use testcontainers::bollard::models::{HostConfig, PortBinding};
use testcontainers::core::{ContainerPort, WaitFor};
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, Image, ImageExt};
use url::form_urlencoded::byte_serialize;

use super::blocking::blocking;
use super::link::Link;
use super::pull::{self, ImageName};
use super::scratch::Scratch;
use super::settings::{ROLE, settings};
use super::{Environment, Halt, PostgresError, StartOptions, Talk};
use crate::leash::{Engine, Held, Leash};

/// The folder that proves that a container's owner lives, and the container's name too.
const PREFIX: &str = "onejob-container-";
const LABEL: &str = "dev.onejob.container";
const PORT: u16 = 5432;
const PORT_TRIES: usize = 3;
const READY_WITHIN: Duration = Duration::from_mins(1);
const CREATED_WITHIN: Duration = Duration::from_mins(1);
const ENGINE_WITHIN: Duration = Duration::from_secs(15);
/// Whether a server in a container takes connections can only be tried.
const TRY_EVERY: Duration = Duration::from_millis(20);
const FORGOTTEN_AFTER: Duration = Duration::from_hours(48);
const INITDB_ARGUMENTS: &str = "--no-sync --locale=C --encoding=UTF8";

/// The official image, or one that understands the same variables.
#[derive(Debug)]
struct Postgres(ImageName);

impl Image for Postgres {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn tag(&self) -> &str {
        &self.0.tag
    }

    /// Nothing: the log says "ready" for the temporary server of the set-up too, a TCP connection doesn't lie.
    fn ready_conditions(&self) -> Vec<WaitFor> {
        Vec::new()
    }

    fn expose_ports(&self) -> &[ContainerPort] {
        &[ContainerPort::Tcp(PORT)]
    }
}

/// A server in a container, started by testcontainers. Removed when this is dropped.
#[derive(Debug)]
pub(super) struct Container {
    image: String,
    name: String,
    url: String,
    engine: Engine,
    leash: Leash,
    handle: Mutex<Option<ContainerAsync<Postgres>>>,
    // Last: a lock that is let go marks the container as dead.
    scratch: Scratch,
}

impl Container {
    pub(super) async fn start(
        environment: &Environment,
        options: &StartOptions,
        leash: &Leash,
        talk: Talk<'_>,
        hurry: bool,
    ) -> Result<Self, PostgresError> {
        let image = ImageName::read(&environment.image);
        let engine = Self::engine_with(&image, environment, talk, hurry).await?;
        let scratch = Scratch::new(environment, PREFIX, false, leash)?;
        let name = scratch.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Held by name before it exists: there is no moment in which nobody knows of it.
        leash.hold(Held::Container { engine: engine.address(), name: name.clone() })?;
        let password = uuid::Uuid::new_v4().simple().to_string();
        let mut container = Self {
            image: image.full(),
            name,
            url: String::new(),
            engine,
            leash: leash.clone(),
            handle: Mutex::new(None),
            scratch,
        };
        let port = container.create(&image, options, &password).await?;
        container.url = format!("postgres://{ROLE}:{password}@127.0.0.1:{port}/postgres?sslmode=disable");
        container.until_ready().await?;
        Ok(container)
    }
    /// The engine, with the image on it.
    async fn engine_with(
        image: &ImageName,
        environment: &Environment,
        talk: Talk<'_>,
        hurry: bool,
    ) -> Result<Engine, PostgresError> {
        let (engine, there) = blocking({
            let (image, environment) = (image.clone(), environment.clone());
            move || {
                let engine = pull::probe(&environment.engine_address())?;
                sweep(&engine, &environment);
                let there = pull::is_there(&engine, &image)?;
                Ok((engine, there))
            }
        })
        .await?;
        if !there {
            talk(&format!("Postgres: pulling the image {}, which happens once", image.full()));
            let (engine, image) = (engine.clone(), image.clone());
            blocking(move || pull::pull(&engine, &image, hurry)).await?;
        }
        Ok(engine)
    }

    /// Creates and starts the container; returns its port on this machine.
    async fn create(
        &self,
        image: &ImageName,
        options: &StartOptions,
        password: &str,
    ) -> Result<u16, PostgresError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let port = free_port().map_err(|error| self.trouble(error.to_string()))?;
            let lock = self.scratch.path().display().to_string();
            let request = Postgres(image.clone())
                .with_container_name(&self.name)
                .with_label(LABEL, lock)
                .with_env_var("POSTGRES_USER", ROLE)
                .with_env_var("POSTGRES_PASSWORD", password)
                .with_env_var("POSTGRES_DB", "postgres")
                .with_env_var("POSTGRES_INITDB_ARGS", INITDB_ARGUMENTS)
                .with_cmd(command(options))
                .with_startup_timeout(CREATED_WITHIN)
                .with_host_config_modifier(move |config| only_here(config, port));
            match request.start().await {
                Ok(container) => {
                    *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(container);
                    return Ok(port);
                }
                Err(error) => {
                    let cause = whole_story(&error);
                    // Somebody else took the port between our look and the engine's.
                    if tries == PORT_TRIES
                        || !(cause.contains("already allocated") || cause.contains("in use"))
                    {
                        return Err(self.trouble(cause));
                    }
                    let (engine, name) = (self.engine.clone(), self.name.clone());
                    blocking(move || Ok(engine.remove_container(&name, ENGINE_WITHIN).is_ok())).await?;
                }
            }
        }
    }

    /// Waits until the server takes connections from outside.
    async fn until_ready(&self) -> Result<(), PostgresError> {
        let link = Link::read(&self.url)?;
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let error = match link.connect().await {
                Ok(connection) => {
                    drop(connection.close().await);
                    return Ok(());
                }
                Err(error) => error,
            };
            if !self.is_running().await? {
                return Err(self.trouble("it ended".into()));
            }
            if Instant::now() >= deadline {
                let cause = format!("not ready within {} s, {error}", READY_WITHIN.as_secs());
                return Err(self.trouble(cause));
            }
            tokio::time::sleep(TRY_EVERY).await;
        }
    }

    async fn is_running(&self) -> Result<bool, PostgresError> {
        let state = self.ask("GET", "json", ENGINE_WITHIN).await?;
        Ok(state.pointer("/State/Running").and_then(Value::as_bool).unwrap_or(false))
    }

    pub(super) async fn halt(&self, how: Halt) -> Result<(), PostgresError> {
        if !self.is_running().await? {
            return Ok(());
        }
        let signal = match how {
            Halt::Clean => "SIGINT",
            Halt::Crash => "SIGQUIT",
        };
        self.ask("POST", &format!("kill?signal={signal}"), ENGINE_WITHIN).await?;
        self.ask("POST", "wait", READY_WITHIN).await?;
        Ok(())
    }

    pub(super) async fn resume(&self) -> Result<(), PostgresError> {
        self.ask("POST", "start", ENGINE_WITHIN).await?;
        self.until_ready().await
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn image(&self) -> &str {
        &self.image
    }

    async fn ask(&self, method: &'static str, what: &str, within: Duration) -> Result<Value, PostgresError> {
        let (engine, path) = (self.engine.clone(), format!("/containers/{}/{what}", self.name));
        let answer = blocking(move || Ok(engine.request(method, &path, within))).await?;
        answer.map_err(|error| self.trouble(error.to_string()))
    }

    /// The error with the end of what the container printed.
    fn trouble(&self, cause: String) -> PostgresError {
        let path = format!("/containers/{}/logs?stdout=1&stderr=1&tail=20", self.name);
        let log =
            self.engine.bytes("GET", &path, ENGINE_WITHIN).map(|raw| unframed(&raw)).unwrap_or_default();
        PostgresError::Container { image: self.image.clone(), cause, log }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // testcontainers removes by itself only within a runtime, and panics elsewhere; the engine is asked directly.
        std::mem::forget(self.handle.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        if self.engine.remove_container(&self.name, ENGINE_WITHIN).is_ok() {
            self.leash.release(Held::Container { engine: self.engine.address(), name: self.name.clone() });
        }
    }
}

fn command(options: &StartOptions) -> Vec<String> {
    let mut command = vec!["postgres".to_owned()];
    for (name, value) in settings(options) {
        command.extend(["-c".to_owned(), format!("{name}={value}")]);
    }
    command
}

/// Publishes the port on the loopback address alone, and on a number that stays the same when the container restarts.
fn only_here(config: &mut HostConfig, port: u16) {
    let here = PortBinding { host_ip: Some("127.0.0.1".to_owned()), host_port: Some(port.to_string()) };
    config.publish_all_ports = Some(false);
    config.port_bindings = Some(HashMap::from([(format!("{PORT}/tcp"), Some(vec![here]))]));
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// An error with its causes: testcontainers hides what matters in the chain.
fn whole_story(error: &dyn Error) -> String {
    let mut story = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let told = cause.to_string();
        if !story.contains(&told) {
            story = format!("{story}: {told}");
        }
        next = cause.source();
    }
    story
}

/// The engine sends logs in pieces with a header of eight bytes, the last four of which are the length.
fn unframed(mut raw: &[u8]) -> String {
    let mut text = Vec::new();
    while let Some((header, rest)) = raw.split_first_chunk::<8>() {
        let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        text.extend_from_slice(&rest[..length]);
        raw = &rest[length..];
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Removes the containers of runs that were killed together with their watchdog.
fn sweep(engine: &Engine, environment: &Environment) {
    let dead = Scratch::dead(environment, PREFIX);
    let filter = format!("{{\"label\":[\"{LABEL}\"]}}");
    let filter: String = byte_serialize(filter.as_bytes()).collect();
    let list = engine.request("GET", &format!("/containers/json?all=1&filters={filter}"), ENGINE_WITHIN);
    for container in list.ok().as_ref().and_then(Value::as_array).into_iter().flatten() {
        let label = container.pointer(&format!("/Labels/{LABEL}")).and_then(Value::as_str);
        let id = container.get("Id").and_then(Value::as_str);
        let (Some(label), Some(id)) = (label, id) else { continue };
        // The owner's lock in hand is proof. A folder that isn't there may be on another machine or hidden from us,
        // until the container is older than any run.
        let owner_died = dead.iter().any(|folder| folder.path().as_os_str() == label);
        let forgotten =
            || !Path::new(label).exists() && age(container).is_some_and(|age| age > FORGOTTEN_AFTER);
        if owner_died || forgotten() {
            drop(engine.remove_container(id, ENGINE_WITHIN));
        }
    }
    for folder in dead {
        folder.remove();
    }
}

fn age(container: &Value) -> Option<Duration> {
    let created = Duration::from_secs(container.get("Created")?.as_u64()?);
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.checked_sub(created)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_pieces_are_joined_and_a_broken_one_is_no_panic() {
        let mut raw = vec![1, 0, 0, 0, 0, 0, 0, 3];
        raw.extend_from_slice(b"abc");
        raw.extend_from_slice(&[2, 0, 0, 0, 0, 0, 0, 200]);
        raw.extend_from_slice(b"def");
        assert_eq!(unframed(&raw), "abcdef");
    }
}
