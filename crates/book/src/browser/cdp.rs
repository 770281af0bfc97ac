//! A client of the Chrome DevTools Protocol: calls, and the events that come between them.
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

use crate::Failure;

/// A connection to a browser, or once attached to one tab of it.
#[derive(Debug)]
pub(crate) struct Cdp {
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last: u64,
    events: Vec<Value>,
}

/// How long an answer may take. A page of the book is there in a fraction of a second; a busy machine takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

impl Cdp {
    /// Connects to an address such as `ws://127.0.0.1:1234/devtools/browser/ID`.
    pub(crate) fn connect(address: &str) -> Result<Cdp, Failure> {
        let host = address.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let stream = TcpStream::connect(host).map_err(|error| format!("cannot reach Chromium at {host}: {error}"))?;
        let patient = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true));
        patient.map_err(|error| format!("cannot set up the connection to Chromium: {error}"))?;
        // A picture of a page is one large message.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = tungstenite::client::client_with_config(address, stream, Some(config))
            .map_err(|error| format!("Chromium at {host} does not answer: {error}"))?;
        Ok(Cdp { socket, session: None, last: 0, events: Vec::new() })
    }

    /// Makes a tab; from now on calls go there.
    pub(crate) fn attach(&mut self) -> Result<(), Failure> {
        let tab = self.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attached = self.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }))?;
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        Ok(())
    }

    /// Calls a method and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Result<Value, Failure> {
        self.last += 1;
        let id = self.last;
        let mut call = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let sent = self.socket.send(Message::text(call.to_string()));
        sent.map_err(|error| format!("Chromium is gone ({method}): {error}"))?;
        loop {
            let mut message = self.receive(method)?;
            if message["id"] == json!(id) {
                return match message.get("error") {
                    Some(error) => Err(format!("Chromium refuses {method}: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
            self.events.push(message);
        }
    }

    /// Waits until an event has come. Events stay until they are taken.
    pub(crate) fn wait(&mut self, event: &str) -> Result<(), Failure> {
        while !self.events.iter().any(|seen| seen["method"] == event) {
            let message = self.receive(event)?;
            self.events.push(message);
        }
        Ok(())
    }

    /// The events since they were last taken.
    pub(crate) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    /// Evaluates a script in the page; a promise is waited for.
    pub(crate) fn evaluate(&mut self, script: &str) -> Result<Value, Failure> {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", parameters)?;
        match answer.get("exceptionDetails") {
            Some(exception) => Err(format!("the check's own script failed: {exception}")),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    fn receive(&mut self, waiting_for: &str) -> Result<Value, Failure> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return serde_json::from_str(&text)
                        .map_err(|error| format!("Chromium answers {waiting_for} with no JSON: {error}"));
                }
                Ok(_) => {}
                Err(error) => return Err(format!("no answer from Chromium for {waiting_for}: {error}")),
            }
        }
    }
}
