//! A headless Chromium, spoken to in its own protocol over a pipe: no port, no driver, no second program.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before the test fails. Nothing waits for it to pass.
const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    complaints: Option<JoinHandle<String>>,
    /// Everything that happened and wasn't an answer, in order.
    events: Vec<Value>,
    last_id: u64,
    session: Option<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with one empty page, 1280 by 900.
    pub(crate) fn start() -> Self {
        let profile = TempDir::new().unwrap();
        let program =
            ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_on_path(name));
        let program = program.expect("no Chromium on PATH; `apt-get install chromium` brings one");
        // The protocol's pipe is file descriptors 3 and 4, which a shell can set.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2", program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--window-size=1280,900",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-dev-shm-usage",
                "--force-prefers-reduced-motion",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut complaining = child.stderr.take().unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
            }
        });
        let complaints = thread::spawn(move || {
            let mut text = Vec::new();
            _ = complaining.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            complaints: Some(complaints),
            events: Vec::new(),
            last_id: 0,
            session: None,
            _profile: profile,
        };
        let target =
            browser.call("Target.createTarget", &json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        let answer = self.wait(method, |message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) if fits(&message) => return message,
                Ok(message) => self.events.push(message),
                Err(RecvTimeoutError::Timeout) => panic!("no answer to {what} within {DEADLINE:?}"),
                Err(RecvTimeoutError::Disconnected) => {
                    let said = self.complaints.take().and_then(|said| said.join().ok()).unwrap_or_default();
                    panic!("Chromium ended during {what}; it said:\n{said}");
                }
            }
        }
    }

    /// Opens a page and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.events.clear();
        let answer = self.call("Page.navigate", &json!({ "url": url }));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        if !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let loaded = self.wait("loading", |message| message["method"] == "Page.loadEventFired");
            self.events.push(loaded);
        }
    }

    /// The value of an expression in the page; promises are awaited.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}\n{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key, as a person would.
    pub(crate) fn key(&mut self, key: &str) {
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Tab" => 9,
            _ => 0,
        };
        let down = json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", &down);
        self.call(
            "Input.dispatchKeyEvent",
            &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }),
        );
    }

    /// Types into whatever has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Clicks on the middle of the first element that the selector finds.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// What the page asked of the network, its own file left out, since it was opened.
    pub(crate) fn requests(&mut self, own: &str) -> Vec<String> {
        self.settle();
        self.named("Network.requestWillBeSent")
            .map(|event| event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
            .filter(|url| url.split('#').next() != own.split('#').next())
            .collect()
    }

    /// What went wrong in the page's script or was logged as a warning or an error, since it was opened.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        self.settle();
        let logged = self.named("Log.entryAdded").filter(|event| event["params"]["entry"]["level"] != "info");
        let said = self.named("Runtime.consoleAPICalled");
        let thrown = self.named("Runtime.exceptionThrown");
        logged.chain(said).chain(thrown).map(|event| event["params"].clone()).collect()
    }

    /// Two frames later, everything that was caused so far has happened.
    fn settle(&mut self) {
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    fn named<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
        self.events.iter().filter(move |event| event["method"] == method)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn is_on_path(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}
