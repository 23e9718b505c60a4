//! A small SDK: what docs/protocol.md asks of a plugin that is an environment with
//! discrete observations and actions.
use std::collections::HashMap;
use std::io::Write;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::Connected;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

/// The messages of plugin.proto.
pub mod pb {
    tonic::include_proto!("rlrun.plugin.v1");
}
/// go-plugin's own services.
mod control {
    tonic::include_proto!("plugin");
}

use pb::Code;

/// An error that the host understands.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
    lane: Option<u32>,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Failure {
            code,
            message: message.into(),
            lane: None,
        }
    }

    fn at(code: Code, lane: usize, message: impl Into<String>) -> Self {
        Failure {
            lane: Some(lane as u32),
            ..Failure::new(code, message)
        }
    }

    fn message(self) -> Option<pb::Error> {
        Some(pb::Error {
            code: self.code.into(),
            lane: self.lane,
            message: self.message,
        })
    }
}

/// What a step led to.
pub struct Outcome {
    pub observation: i64,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
}

/// One copy of a task whose observations and actions are counted from 0.
pub trait Environment: Sized + Send + 'static {
    fn new(params: &Value) -> Result<Self, Failure>;
    /// Numbers of observations and of actions.
    fn sizes(&self) -> (i64, i64);
    /// Bounds of every reward.
    fn rewards(&self) -> (f64, f64);
    /// Starts an episode. Everything random in it follows from the seed.
    fn reset(&mut self, seed: u64) -> i64;
    fn step(&mut self, action: i64) -> Outcome;
}

/// What a plugin says of itself.
pub struct Plugin {
    pub id: &'static str,
    pub doc: &'static str,
    pub params: Value,
}

/// Lanes of an environment.
struct Instance<E> {
    copies: Vec<E>,
    running: Vec<bool>,
    observations: Vec<i64>,
    rewards: Vec<f64>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
}

impl<E: Environment> Instance<E> {
    fn new(params: &Value, lanes: usize) -> Result<Self, Failure> {
        let copies = (0..lanes)
            .map(|_| E::new(params))
            .collect::<Result<_, _>>()?;
        Ok(Instance {
            copies,
            running: vec![false; lanes],
            observations: vec![0; lanes],
            rewards: vec![0.0; lanes],
            terminated: vec![0; lanes],
            truncated: vec![0; lanes],
        })
    }

    fn step(&mut self, request: &pb::EnvironmentRequest) -> Result<pb::EnvironmentReply, Status> {
        let lanes = self.copies.len();
        let signals = if request.signals.is_empty() {
            vec![1; lanes]
        } else {
            request.signals.clone()
        };
        let seeds = words(&request.seeds);
        let actions = integers(&request.actions)?;
        if signals.len() != lanes
            || actions.len() != lanes
            || !(seeds.is_empty() || seeds.len() == lanes)
        {
            return Err(Status::invalid_argument(format!(
                "columns that do not fit {lanes} lanes"
            )));
        }
        let moved = (0..lanes)
            .try_for_each(|i| self.turn(i, signals[i], actions[i], seeds.get(i).copied()));
        let mut reply = pb::EnvironmentReply {
            step: request.step,
            ..Default::default()
        };
        match moved {
            Err(failure) => reply.error = failure.message(),
            Ok(()) => {
                reply.observations.push(8); // each has 8 bytes
                reply
                    .observations
                    .extend(self.observations.iter().flat_map(|x| x.to_le_bytes()));
                reply.rewards = self.rewards.iter().flat_map(|x| x.to_le_bytes()).collect();
                reply.terminated = self.terminated.clone();
                reply.truncated = self.truncated.clone();
            }
        }
        Ok(reply)
    }

    fn turn(
        &mut self,
        i: usize,
        signal: u8,
        action: i64,
        seed: Option<u64>,
    ) -> Result<(), Failure> {
        let outcome = match signal {
            0 => return Ok(()), // idle
            1 if !self.running[i] => {
                return Err(Failure::at(
                    Code::NeedsReset,
                    i,
                    "a step outside an episode",
                ));
            }
            1 if action < 0 || action >= self.copies[i].sizes().1 => {
                return Err(Failure::at(
                    Code::InvalidAction,
                    i,
                    format!("action {action}"),
                ));
            }
            1 => self.copies[i].step(action),
            _ => {
                let seed = seed.ok_or_else(|| {
                    Failure::at(Code::Unspecified, i, "an episode without a seed")
                })?;
                Outcome {
                    observation: self.copies[i].reset(seed),
                    reward: 0.0,
                    terminated: false,
                    truncated: false,
                }
            }
        };
        self.observations[i] = outcome.observation;
        self.rewards[i] = outcome.reward;
        self.terminated[i] = outcome.terminated.into();
        self.truncated[i] = outcome.truncated.into();
        self.running[i] = !outcome.terminated && !outcome.truncated;
        Ok(())
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(8)
        .map(|b| u64::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// Reads a column of integers, whose first byte is the size of each.
fn integers(bytes: &[u8]) -> Result<Vec<i64>, Status> {
    let (&size, rest) = bytes
        .split_first()
        .ok_or_else(|| Status::invalid_argument("an empty column"))?;
    let read: fn(&[u8]) -> i64 = match size {
        1 => |b| i8::from_le_bytes(b.try_into().unwrap()).into(),
        2 => |b| i16::from_le_bytes(b.try_into().unwrap()).into(),
        4 => |b| i32::from_le_bytes(b.try_into().unwrap()).into(),
        8 => |b| i64::from_le_bytes(b.try_into().unwrap()),
        _ => {
            return Err(Status::invalid_argument(format!(
                "integers of {size} bytes"
            )));
        }
    };
    Ok(rest.chunks_exact(size.into()).map(read).collect())
}

type Instances<E> = Arc<Mutex<HashMap<u64, Instance<E>>>>;

struct Service<E> {
    plugin: Plugin,
    instances: Instances<E>,
    last: AtomicUsize,
}

fn unsupported() -> Status {
    Status::unimplemented("this plugin is an environment that has neither a model nor a picture")
}

#[tonic::async_trait]
impl<E: Environment> pb::plugin_server::Plugin for Service<E> {
    type StepEnvironmentStream =
        Pin<Box<dyn Stream<Item = Result<pb::EnvironmentReply, Status>> + Send>>;
    type StepAgentStream = Pin<Box<dyn Stream<Item = Result<pb::AgentReply, Status>> + Send>>;

    async fn describe(
        &self,
        _: Request<pb::DescribeRequest>,
    ) -> Result<Response<pb::DescribeReply>, Status> {
        Ok(Response::new(pb::DescribeReply {
            id: self.plugin.id.into(),
            kind: "environment".into(),
            doc: self.plugin.doc.into(),
            params: self.plugin.params.to_string().into_bytes(),
            ..Default::default()
        }))
    }

    async fn open_environment(
        &self,
        request: Request<pb::OpenEnvironmentRequest>,
    ) -> Result<Response<pb::OpenEnvironmentReply>, Status> {
        let request = request.into_inner();
        if request.lanes < 1 {
            return Err(Status::invalid_argument("no lanes"));
        }
        let text: &[u8] = if request.params.is_empty() {
            b"{}"
        } else {
            &request.params
        };
        let opened = serde_json::from_slice(text)
            .map_err(|e| Failure::new(Code::InvalidParams, e.to_string()))
            .and_then(|params| Instance::<E>::new(&params, request.lanes as usize));
        let instance = match opened {
            Err(failure) => {
                return Ok(Response::new(pb::OpenEnvironmentReply {
                    error: failure.message(),
                    ..Default::default()
                }));
            }
            Ok(instance) => instance,
        };
        let discrete = |n| {
            Some(pb::Space {
                kind: Some(pb::space::Kind::Discrete(pb::DiscreteSpace { n, start: 0 })),
            })
        };
        let ((observations, actions), (low, high)) =
            (instance.copies[0].sizes(), instance.copies[0].rewards());
        let handle = self.last.fetch_add(1, Ordering::Relaxed) as u64 + 1;
        self.instances.lock().unwrap().insert(handle, instance);
        Ok(Response::new(pb::OpenEnvironmentReply {
            instance: handle,
            spec: Some(pb::Spec {
                id: self.plugin.id.into(),
                observation: discrete(observations),
                action: discrete(actions),
                reward_low: low,
                reward_high: high,
                ..Default::default()
            }),
            ..Default::default()
        }))
    }

    async fn step_environment(
        &self,
        request: Request<Streaming<pb::EnvironmentRequest>>,
    ) -> Result<Response<Self::StepEnvironmentStream>, Status> {
        let (instances, mut requests) = (self.instances.clone(), request.into_inner());
        let (replies, stream) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let mut bound = None; // the first request binds the stream to its instance
            while let Some(Ok(request)) = requests.next().await {
                let handle = *bound.get_or_insert(request.instance);
                let reply = match instances.lock().unwrap().get_mut(&handle) {
                    None => Err(Status::not_found(format!("no instance {handle}"))),
                    Some(instance) => instance.step(&request),
                };
                if replies.send(reply).await.is_err() {
                    break;
                }
            }
            if let Some(handle) = bound {
                instances.lock().unwrap().remove(&handle);
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn close(
        &self,
        request: Request<pb::CloseRequest>,
    ) -> Result<Response<pb::CloseReply>, Status> {
        let handle = request.into_inner().instance;
        match self.instances.lock().unwrap().remove(&handle) {
            None => Err(Status::not_found(format!("no instance {handle}"))),
            Some(_) => Ok(Response::new(pb::CloseReply::default())),
        }
    }

    async fn open_agent(
        &self,
        _: Request<pb::OpenAgentRequest>,
    ) -> Result<Response<pb::OpenAgentReply>, Status> {
        let error = Failure::new(
            Code::Unsupported,
            "this plugin is an environment, not an agent",
        )
        .message();
        Ok(Response::new(pb::OpenAgentReply {
            error,
            ..Default::default()
        }))
    }

    async fn step_agent(
        &self,
        _: Request<Streaming<pb::AgentRequest>>,
    ) -> Result<Response<Self::StepAgentStream>, Status> {
        Err(unsupported())
    }
    async fn models(
        &self,
        _: Request<pb::ModelsRequest>,
    ) -> Result<Response<pb::ModelsReply>, Status> {
        Err(unsupported())
    }
    async fn ask(&self, _: Request<pb::AskRequest>) -> Result<Response<pb::AskReply>, Status> {
        Err(unsupported())
    }
    async fn set_option_kinds(
        &self,
        _: Request<pb::SetOptionKindsRequest>,
    ) -> Result<Response<pb::SetOptionKindsReply>, Status> {
        Err(unsupported())
    }
    async fn greedy_policy(
        &self,
        _: Request<pb::GreedyPolicyRequest>,
    ) -> Result<Response<pb::GreedyPolicyReply>, Status> {
        Err(unsupported())
    }
    async fn measure(
        &self,
        _: Request<pb::MeasureRequest>,
    ) -> Result<Response<pb::MeasureReply>, Status> {
        Err(unsupported())
    }
}

/// Shutdown ends the process, after the answer is on its way.
struct Controller;

#[tonic::async_trait]
impl control::grpc_controller_server::GrpcController for Controller {
    async fn shutdown(
        &self,
        _: Request<control::Empty>,
    ) -> Result<Response<control::Empty>, Status> {
        tokio::spawn(async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            std::process::exit(0)
        });
        Ok(Response::new(control::Empty {}))
    }
}

/// A connection that ends the process when it is the last to be dropped.
struct Counted(UnixStream, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        if self.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::exit(0);
        }
    }
}

impl Connected for Counted {
    type ConnectInfo = ();
    fn connect_info(&self) {}
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Offers an environment to the rlrun that started this process.
pub fn serve<E: Environment>(plugin: Plugin) {
    if std::env::var("RLRUN_PLUGIN").as_deref() != Ok("c2b1e0a7-rlrun-plugin") {
        let program = std::env::args().next().unwrap_or_default();
        eprintln!(
            "{program} is a plugin for rlrun, which starts it: try rlrun plugin check {program}"
        );
        std::process::exit(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Err(e) = runtime.block_on(run::<E>(plugin)) {
        eprintln!("{e}");
        std::process::exit(1);
    }
}

async fn run<E: Environment>(plugin: Plugin) -> Result<(), Box<dyn std::error::Error>> {
    // Interrupts are the host's to handle.
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut interrupts = signal(kind)?;
        tokio::spawn(async move { while interrupts.recv().await.is_some() {} });
    }
    // The end of the parent covers a host that died before it connected.
    let parent = parent_id();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            if parent_id() != parent {
                std::process::exit(1);
            }
        }
    });

    let mut server = Server::builder();
    let mut line = String::new();
    if let Ok(host) = std::env::var("PLUGIN_CLIENT_CERT") {
        let own = rcgen::generate_simple_self_signed(["localhost".to_string()])?;
        line = base64::engine::general_purpose::STANDARD_NO_PAD.encode(own.cert.der());
        let tls = ServerTlsConfig::new()
            .identity(Identity::from_pem(
                own.cert.pem(),
                own.signing_key.serialize_pem(),
            ))
            .client_ca_root(Certificate::from_pem(host));
        server = server.tls_config(tls)?;
    }
    let directory = std::env::var("PLUGIN_UNIX_SOCKET_DIR")?;
    let path = Path::new(&directory).join("plugin");
    let listener = UnixListener::bind(&path)?;
    let connections = Arc::new(AtomicUsize::new(0));
    let incoming = UnixListenerStream::new(listener).map(move |accepted| {
        connections.fetch_add(1, Ordering::SeqCst);
        accepted.map(|stream| Counted(stream, connections.clone()))
    });
    let service = Service::<E> {
        plugin,
        instances: Instances::default(),
        last: AtomicUsize::new(0),
    };
    let service = pb::plugin_server::PluginServer::new(service)
        .max_decoding_message_size(usize::MAX)
        .max_encoding_message_size(usize::MAX);
    println!("1|1|unix|{}|grpc|{line}", path.display());
    std::io::stdout().flush()?;
    server
        .add_service(service)
        .add_service(control::grpc_controller_server::GrpcControllerServer::new(
            Controller,
        ))
        .serve_with_incoming(incoming)
        .await?;
    Ok(())
}
