import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { InjectOptions } from 'fastify';
import { createApp } from '../../api/app.ts';
import type { App } from '../../api/types.ts';
import { createSessionReader } from '../../domain/access/access.sessions.ts';
import { extensions } from '../../domain/app/extensions.ts';
import { type Caller, type Ctx, systemCaller } from '../../domain/kernel/context.ts';
import { createMetamodelStore } from '../../domain/kernel/metamodel/metamodel.store.ts';
import { createContext, type Services } from '../../domain/kernel/services.ts';
import { createSettingsStore } from '../../domain/kernel/settings/settings.read.ts';
import { createDiskBlobStore } from '../../platform/blobs.ts';
import { createMemoryCache, createRedisCache } from '../../platform/cache.ts';
import { readConfig } from '../../platform/config.ts';
import { createSecretBox } from '../../platform/crypto.ts';
import { installation, openDatabase, query } from '../../platform/database.ts';
import { createLogger } from '../../platform/logging.ts';
import { createOutbound } from '../../platform/outbound.ts';
import { createPasswords } from '../../platform/passwords.ts';
import { createSignals } from '../../platform/signals.ts';
import { ok, type TestResponse } from './answers.ts';
import { type Conformance, createConformance, type OpenApiDocument } from './conformance.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export {
  answered,
  eventKinds,
  expectInvalid,
  expectProblem,
  faults,
  jsonLines,
  ok,
  pluck,
  refusal,
  type TestResponse,
} from './answers.ts';

/** A client that logs in as one user and checks every answer against the service's own description. */
export interface TestClient {
  userId: string;
  email: string;
  token: string;
  request(options: InjectOptions & { url: string }): Promise<TestResponse>;
  get(url: string, headers?: Record<string, string>): Promise<TestResponse>;
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  patch(url: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  put(url: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  delete(url: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Posts what the service must create. @returns it as the service answers it. */
  create(url: string, body?: unknown, headers?: Record<string, string>): Promise<TestResponse['body']>;
  /** Creates a card: an application with a name of its own, unless the values say otherwise. */
  card(values?: object): Promise<TestResponse['body']>;
  /** Relates two cards, given by their ids. */
  relate(type: string, source_id: string, target_id: string, more?: object): Promise<TestResponse['body']>;
  /** Rolls back a batch: the last request that wrote, unless another one is given. */
  undo(batch?: string): Promise<TestResponse['body']>;
  /** The position of the feed of changes. */
  position(): Promise<string>;
  /** The changes since a position whose type begins so, as the client is sent them. */
  changes(since: string, prefix?: string): Promise<TestResponse['body'][]>;
}

export interface TestServices {
  services: Services;
  /** A context for calling commands and queries directly; the service itself acts unless a caller is given. */
  ctx(caller?: Caller): Promise<Ctx>;
  close(): Promise<void>;
}

export interface TestApp extends TestServices {
  app: App;
  /** A client for a user of the role; the same user each time for the same role and name. */
  as(role: string, name?: string): Promise<TestClient>;
  /** A client for one user of each role. */
  clients<const R extends readonly string[]>(...roles: R): Promise<{ -readonly [K in keyof R]: TestClient }>;
  /** A client for a user of a role of its own, with just these permissions. */
  holding(...permissions: string[]): Promise<TestClient>;
  /** The same user by another token. */
  by(token: string, user: TestClient): TestClient;
  /** A client without a token. */
  anonymous: TestClient;
}

/** How long workers may finish what they do. */
const CLOSE_GRACE_MS = 5_000;

let description: Conformance | undefined;

/** The description is the same in every application: files that share a process share what was made of it. */
function describedBy(app: App): Conformance {
  description ??= createConformance(app.swagger() as unknown as OpenApiDocument);
  return description;
}

/** Closes the resource after all tests of the file: what was opened last is closed first. */
export function closeAfterAll<T extends { close(graceMs: number): unknown }>(resource: T): T {
  afterAll(() => resource.close(CLOSE_GRACE_MS));
  return resource;
}

/** Services on a database of the test's own: a clone of the template, unless one is given. */
export async function createTestServices(env: Record<string, string> = {}, given?: TestDatabase) {
  const database = given ?? (await createTestDatabase());
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-data-'));
  const config = readConfig({
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SECRET_KEY: 'a-secret-key-for-tests-of-32-characters-or-more',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
    ...env,
  });
  const db = openDatabase({ url: database.url, name: 'test', poolMax: 10 });
  const log = createLogger(config.logLevel, 'test');
  const services: Services = {
    config,
    log,
    db,
    blobs: createDiskBlobStore(path.join(folder, 'files')),
    secrets: createSecretBox(config.secretKeys),
    // a fifth of a second each at the cost that ships, and tests log in hundreds of times
    passwords: createPasswords({ logN: 8, r: 8, p: 1 }),
    extensions,
    metamodels: createMetamodelStore(),
    settings: createSettingsStore(),
    sessions: createSessionReader(db),
    cache: config.redisUrl
      ? createRedisCache(config.redisUrl, await installation(db), log)
      : createMemoryCache(),
    signals: createSignals({ url: database.url, log }),
    outbound: createOutbound(config.outboundAllow),
  };
  return {
    services,
    ctx: (caller = systemCaller) =>
      createContext(services, caller, { requestId: randomUUID(), origin: 'system', tool: 'test' }),
    async close() {
      await services.signals.close();
      await services.outbound.close();
      await services.cache.close();
      await db.destroy();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The application that ships, on a database of the test's own. */
export async function createTestApp(env: Record<string, string> = {}, given?: TestDatabase) {
  const base = await createTestServices(env, given);
  const served = await createApp(base.services);
  await served.ready();
  const conformance = describedBy(served);
  // Modules of test files stay loaded, and their variables with them: what is closed must not stay in memory for these.
  let app: App = served;
  const clients = new Map<string, Promise<TestClient>>();

  const client = (userId: string, email: string, token: string): TestClient => {
    const request: TestClient['request'] = async (options) => {
      const response = await app.inject({
        ...options,
        headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...options.headers },
      });
      const contentType = response.headers['content-type'] as string | undefined;
      conformance.check(
        options.method ?? 'GET',
        options.url,
        response.statusCode,
        contentType,
        response.body,
      );
      return {
        status: response.statusCode,
        headers: response.headers as Record<string, string>,
        text: response.body,
        raw: response.rawPayload,
        body: /[/+]json\b/.test(contentType ?? '') && response.body ? JSON.parse(response.body) : undefined,
      };
    };
    const send =
      (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE') =>
      (url: string, body?: unknown, headers: Record<string, string> = {}) =>
        request({
          method,
          url,
          headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
    const get: TestClient['get'] = (url, headers = {}) => request({ method: 'GET', url, headers });
    const post = send('POST');
    const create: TestClient['create'] = (...given) => ok(post(...given), 201);
    return {
      userId,
      email,
      token,
      request,
      get,
      post,
      patch: send('PATCH'),
      put: send('PUT'),
      delete: send('DELETE'),
      create,
      card: (values) => create('/api/v1/cards', { type: 'Application', name: randomUUID(), ...values }),
      relate: (type, source_id, target_id, more) =>
        create('/api/v1/relations', { type, source_id, target_id, ...more }),
      async undo(batch) {
        const events = base.services.db('events').whereNotNull('batch_id').orderBy('position', 'desc');
        const last = await events.first('batch_id');
        return ok(post(`/api/v1/mutation-batches/${batch ?? last.batch_id}/rollback`, { dry_run: false }));
      },
      position: async () => (await ok(get('/api/v1/changes?after=now'))).next,
      changes: async (since, prefix = '') =>
        (await ok(get(`/api/v1/changes?after=${since}`))).items.filter((event: { event_type: string }) =>
          event.event_type.startsWith(prefix),
        ),
    };
  };

  const make = async (role: string, name: string): Promise<TestClient> => {
    const email = `${name}@estate.example`;
    const [user] = await base.services
      .db('users')
      .insert({ email, display_name: name, role })
      .returning(['id', 'token_version']);
    const token = app.jwt.sign({ sub: user.id, role, tv: user.token_version, jti: randomUUID() });
    return client(user.id, email, await token);
  };

  const testApp: TestApp = {
    ...base,
    app,
    anonymous: client('', '', ''),
    by: (token, user) => client(user.userId, user.email, token),
    as(role, name = role) {
      const key = `${role}/${name}`;
      if (!clients.has(key)) clients.set(key, make(role, name));
      return clients.get(key)!;
    },
    clients: (...roles) => Promise.all(roles.map((role) => testApp.as(role))) as never,
    async holding(...names) {
      const key = `role_${randomUUID().slice(0, 8)}`;
      const permissions = JSON.stringify(Object.fromEntries(names.map((name) => [name, true])));
      await base.services.db('roles').insert({ key, label: key, permissions });
      await base.services.db.raw("select raise_topics(array['roles'])");
      return await testApp.as(key);
    },
    async close() {
      await app.close();
      await base.close();
      testApp.app = app = undefined as never;
    },
  };
  return testApp;
}

/** The application for the tests of a file, closed after them, with a client for one user of each role. */
export async function openApp<const R extends string = never>(
  roles: readonly R[] = [],
  env: Record<string, string> = {},
) {
  const t = closeAfterAll(await createTestApp(env));
  const clients = await Promise.all(roles.map(async (role) => [role, await t.as(role)] as const));
  return {
    t,
    db: t.services.db,
    sql: query(t.services.db),
    ...(Object.fromEntries(clients) as Record<R, TestClient>),
  };
}
