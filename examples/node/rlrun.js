// A small SDK: what docs/protocol.md asks of a plugin that is an environment with
// discrete observations and actions. gambler.js uses it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { X509Certificate } from 'node:crypto';

import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import selfsigned from 'selfsigned';

const schema = new URL('../../framework/plugin/plugin.proto', import.meta.url);
const { Plugin, Code } = load();

// Failure is an error that the host understands: see Code in plugin.proto.
export class Failure extends Error {
  constructor(code, message, lane) {
    super(message);
    Object.assign(this, { code, lane });
  }
}

function load() {
  const definition = loader.loadSync(schema.pathname, { longs: String, enums: String, defaults: true, arrays: true });
  const { Plugin, Code } = grpc.loadPackageDefinition(definition).rlrun.plugin.v1;
  return { Plugin, Code };
}

// Columns: one field of all lanes, packed and little-endian, as JavaScript's typed
// arrays are on every machine that Node runs on.
const column = (type, bytes, lanes) => {
  if (bytes.length !== lanes * type.BYTES_PER_ELEMENT) {
    throw broken(grpc.status.INVALID_ARGUMENT, `a column of ${bytes.length} bytes for ${lanes} lanes`);
  }
  return new type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};
const bytes = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

// integers views a column of integers, whose first byte is the size of each of them.
// Those that are sent have 8 bytes, which is always right.
const integers = (data, lanes) => {
  const type = { 1: Int8Array, 2: Int16Array, 4: Int32Array, 8: BigInt64Array }[data[0]];
  if (!type) throw broken(grpc.status.INVALID_ARGUMENT, `a column of integers of ${data[0]} bytes each`);
  return column(type, data.subarray(1), lanes);
};
const integerBytes = (array) => Buffer.concat([Buffer.of(8), bytes(array)]);

// Instance is an opened environment: lanes of it, each a copy.
class Instance {
  constructor(make, lanes) {
    this.copies = Array.from({ length: lanes }, make);
    this.running = new Array(lanes).fill(false);
    this.observations = new BigInt64Array(lanes);
    this.rewards = new Float64Array(lanes);
    this.terminated = new Uint8Array(lanes);
    this.truncated = new Uint8Array(lanes);
  }

  step({ signals, seeds, actions, step }) {
    const lanes = this.copies.length;
    const signal = signals.length ? column(Uint8Array, signals, lanes) : new Uint8Array(lanes).fill(1);
    const seed = seeds.length ? column(BigUint64Array, seeds, lanes) : null;
    const action = integers(actions, lanes);
    for (let i = 0; i < lanes; i++) this.move(i, signal[i], Number(action[i]), seed?.[i], this, i);
    return {
      observations: integerBytes(this.observations), rewards: bytes(this.rewards),
      terminated: bytes(this.terminated), truncated: bytes(this.truncated), step,
    };
  }

  // move makes a step of lane i, or none, and puts what comes of it into entry k of
  // the columns of out.
  move(i, signal, action, seed, out, k) {
    if (signal === 0) return; // idle
    const { n, start = 0 } = this.copies[i].spec.action;
    if (signal === 1) {
      if (!this.running[i]) throw new Failure('CODE_NEEDS_RESET', 'a step outside an episode', i);
      if (action < start || action >= start + n) throw new Failure('CODE_INVALID_ACTION', `action ${action}`, i);
    }
    const outcome = blame(i, () => (signal === 1
      ? this.copies[i].step(action)
      : { observation: this.copies[i].reset(seed), reward: 0 }));
    const { observation, reward, terminated = false, truncated = false } = outcome;
    if (!Number.isSafeInteger(observation) || typeof reward !== 'number' || typeof terminated !== 'boolean' || typeof truncated !== 'boolean') {
      throw new Failure('CODE_UNSPECIFIED', `an integer, a number and two booleans are asked for, and the step is ${JSON.stringify(outcome)}`, i);
    }
    out.observations[k] = BigInt(observation);
    out.rewards[k] = reward;
    out.terminated[k] = Number(terminated);
    out.truncated[k] = Number(truncated);
    this.running[i] = !terminated && !truncated;
  }

}

// blame turns what a lane's code throws into a failure that names the lane. The
// stack goes to standard error, where the author finds it.
function blame(lane, f) {
  try {
    return f();
  } catch (e) {
    if (!(e instanceof Failure)) console.error(e.stack);
    throw new Failure(e instanceof Failure ? e.code : 'CODE_UNSPECIFIED', e.message, lane);
  }
}

// broken says that the host does not keep the protocol: a gRPC status, not an Error.
const broken = (code, message) => Object.assign(new Error(message), { status: code });

const failure = ({ code = 'CODE_UNSPECIFIED', message, lane }) => ({ code, message, ...(lane === undefined ? {} : { lane }) });

// service implements plugin.proto over an environment's class.
function service({ id, doc, params, Environment }) {
  const instances = new Map();
  let last = 0;
  const answer = (f) => (call, done) => {
    try {
      done(null, f(call.request));
    } catch (e) {
      if (e.status) done({ code: e.status, message: e.message });
      else done(null, { error: failure(e) });
    }
  };
  const find = (instance) => {
    const found = instances.get(instance);
    if (!found) throw broken(grpc.status.NOT_FOUND, `no instance ${instance}`);
    return found;
  };
  const hasModel = 'model' in Environment.prototype;
  return {
    describe: answer(() => ({
      id, kind: 'environment', doc, params: Buffer.from(JSON.stringify(params)), abilities: hasModel ? ['model'] : [],
    })),
    openEnvironment: answer(({ params, lanes }) => {
      if (lanes < 1) throw broken(grpc.status.INVALID_ARGUMENT, 'no lanes');
      const given = JSON.parse(params.toString() || '{}');
      const instance = new Instance(() => new Environment(given), lanes);
      instances.set(String(++last), instance);
      const { observation, action, ...rest } = instance.copies[0].spec;
      return { instance: String(last), spec: { id, observation: { discrete: observation }, action: { discrete: action }, ...rest }, models: hasModel };
    }),
    openAgent: answer(() => {
      throw new Failure('CODE_UNSUPPORTED', `${id} is an environment, not an agent`);
    }),
    stepEnvironment: (call) => {
      let bound = null; // the first request binds the stream to its instance
      call.on('data', (request) => {
        try {
          bound ??= request.instance;
          call.write(find(bound).step(request));
        } catch (e) {
          if (e.status) call.emit('error', { code: e.status, message: e.message });
          else call.write({ error: failure(e), step: request.step });
        }
      });
      call.on('end', () => {
        instances.delete(bound);
        call.end();
      });
      call.on('cancelled', () => instances.delete(bound));
    },
    models: answer(({ instance }) => {
      const { copies } = find(instance);
      return { models: [Buffer.from(JSON.stringify(copies[0].model()))], lanes: copies.map(() => 0) };
    }),
    close: answer(({ instance }) => {
      find(instance);
      instances.delete(instance);
      return {};
    }),
  };
}

// go-plugin's own services. Their messages are empty, or a constant.
const plain = (path, reply, stream = {}) => ({
  path, requestStream: false, responseStream: false, ...stream,
  requestSerialize: () => Buffer.alloc(0), requestDeserialize: () => ({}),
  responseSerialize: () => reply, responseDeserialize: () => ({}),
});
const health = { check: plain('/grpc.health.v1.Health/Check', Buffer.from([0x08, 0x01])) }; // SERVING
const controller = { shutdown: plain('/plugin.GRPCController/Shutdown', Buffer.alloc(0)) };
// A stream both ways: the handler of a single message is not called if the connection ends before it is read.
const stdio = { streamStdio: plain('/plugin.GRPCStdio/StreamStdio', Buffer.alloc(0), { requestStream: true, responseStream: true }) };

// serve offers an environment to the rlrun that started this process. plugin is
// {id, doc, params (a JSON schema), Environment (a class with spec, reset, step and,
// if it has one, model)}.
export async function serve(plugin) {
  if (process.env.RLRUN_PLUGIN !== 'c2b1e0a7-rlrun-plugin') {
    console.error(`this is a plugin for rlrun, which starts it: try rlrun plugin check node ${process.argv[1]}`);
    process.exit(2);
  }
  if (!(process.env.PLUGIN_PROTOCOL_VERSIONS ?? '1').split(',').includes('1')) {
    console.error(`the host speaks versions ${process.env.PLUGIN_PROTOCOL_VERSIONS} of the protocol, this plugin version 1`);
  }
  console.log = console.info = console.debug = console.error; // standard output is for the handshake
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {}); // the host's to handle

  const host = process.env.PLUGIN_CLIENT_CERT;
  let credentials = grpc.ServerCredentials.createInsecure();
  let certificate = '';
  if (host) {
    const own = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec', curve: 'P-256', algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', digitalSignature: true, keyAgreement: true, keyCertSign: true, critical: true },
        { name: 'extKeyUsage', clientAuth: true, serverAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
      ],
    });
    credentials = grpc.ServerCredentials.createSsl(
      Buffer.from(host), [{ private_key: Buffer.from(own.private), cert_chain: Buffer.from(own.cert) }], true);
    certificate = new X509Certificate(own.cert).raw.toString('base64').replace(/=+$/, '');
  }

  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(Plugin.service, service(plugin));
  server.addService(health, { check: (call, done) => done(null, {}) });
  server.addService(controller, {
    shutdown: (call, done) => {
      done(null, {});
      server.tryShutdown(() => process.exit(0));
      setTimeout(() => process.exit(0), 500).unref();
    },
  });
  server.addService(stdio, { streamStdio: (call) => call.on('cancelled', () => process.exit(1)) }); // the host is gone
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();

  const directory = process.env.PLUGIN_UNIX_SOCKET_DIR || fs.mkdtempSync(path.join(os.tmpdir(), 'rlrun'));
  const socket = path.join(directory, 'plugin');
  server.bindAsync(`unix:${socket}`, credentials, (error) => {
    if (error) throw error;
    fs.writeSync(1, `1|1|unix|${socket}|grpc|${certificate}\n`);
  });
}
