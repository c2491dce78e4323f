import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createFirstAdministrator, issueSetupToken } from './domain/access/access.register.ts';
import { createSessionReader } from './domain/access/access.sessions.ts';
import { loadDemo } from './domain/app/demo/demo.load.ts';
import { extensions } from './domain/app/extensions.ts';
import { seedFacts } from './domain/governance/eol/eol.facts.ts';
import { createMetamodelStore } from './domain/kernel/metamodel/metamodel.store.ts';
import { type Services, systemContext } from './domain/kernel/services.ts';
import { createSettingsStore } from './domain/kernel/settings/settings.read.ts';
import { prepareDatabase } from './migrations/prepare.ts';
import { createDiskBlobStore } from './platform/blobs.ts';
import { createMemoryCache, createRedisCache } from './platform/cache.ts';
import { readConfig } from './platform/config.ts';
import { createSecretBox } from './platform/crypto.ts';
import { installation, openDatabase } from './platform/database.ts';
import { openEmbeddedPostgres } from './platform/embedded-postgres/embedded-postgres.ts';
import { protectData } from './platform/folders.ts';
import { setHeapFlags } from './platform/heap.ts';
import { createLifecycle, type Lifecycle } from './platform/lifecycle.ts';
import { createLogger, logWarnings } from './platform/logging.ts';
import { startStep } from './platform/outage.ts';
import { createOutbound } from './platform/outbound.ts';
import { createPasswords } from './platform/passwords.ts';
import { createSignals } from './platform/signals.ts';
import { startupMessage } from './platform/startup.ts';

export interface Booted {
  services: Services;
  lifecycle: Lifecycle;
}

/**
 * Starts what every process needs: configuration, database (embedded or given), schema and services. The lifecycle closes
 * everything that is opened here.
 * @param exclusive refuses to start if another process of this kind uses the data folder.
 * @throws StartupError with one sentence for the user.
 */
export async function boot(processName: string, { exclusive }: { exclusive: boolean }): Promise<Booted> {
  setHeapFlags();
  const config = readConfig(process.env);
  protectData(config.dataDir);
  const log = createLogger(config.logLevel, processName);
  logWarnings(log);
  const lifecycle = createLifecycle({ log });
  lifecycle.installSignalHandlers();
  let databaseUrl = config.databaseUrl;
  if (databaseUrl === undefined) {
    const server = await openEmbeddedPostgres({ dataDir: config.dataDir, log, exclusive });
    lifecycle.onClose('embedded PostgreSQL', (remainingMs) => server.stop(remainingMs));
    databaseUrl = server.url;
  }
  const db = openDatabase({ url: databaseUrl, name: `estate ${processName}` });
  lifecycle.onClose('database connections', () => db.destroy());
  const place = placeOf({ log, config });
  // a server that does not answer at first ends the start; later steps wait until a lost connection is back
  await startStep(
    place,
    () => db.raw('select 1'),
    (error) => startupMessage(error) !== undefined,
  );
  const applied = await startStep(place, () => prepareDatabase(db));
  await startStep(place, () => seedFacts(db));
  if (applied.length > 0) log.info({ steps: applied }, 'the schema was migrated');

  const cache = config.redisUrl
    ? createRedisCache(config.redisUrl, await startStep(place, () => installation(db)), log)
    : createMemoryCache();
  lifecycle.onClose('cache', () => cache.close());
  const signals = createSignals({ url: databaseUrl, log });
  lifecycle.onClose('signals', () => signals.close());
  const outbound = createOutbound(config.outboundAllow, { log });
  lifecycle.onClose('outgoing requests', () => outbound.close());
  const services: Services = {
    config: { ...config, databaseUrl },
    log,
    db,
    blobs: createDiskBlobStore(path.join(config.dataDir, 'files')),
    secrets: createSecretBox(config.secretKeys),
    passwords: createPasswords(),
    extensions,
    metamodels: createMetamodelStore(),
    settings: createSettingsStore(),
    sessions: createSessionReader(db),
    cache,
    signals,
    outbound,
  };
  return { services, lifecycle };
}

const placeOf = ({ log, config }: Pick<Services, 'log' | 'config'>) => ({
  log,
  disk: config.embedded ? config.dataDir : undefined,
});

export interface FirstAdministrator {
  email: string;
  /** Set if it was generated here. */
  password?: string;
}

/**
 * Creates the first administrator of a workspace without users: the configured one, in the embedded default one with a
 * generated password, which is stored in the data folder. Otherwise it logs a set-up token.
 * @returns the administrator if one was created.
 */
export async function ensureFirstAdministrator(services: Services): Promise<FirstAdministrator | undefined> {
  return await startStep(placeOf(services), () => createAdministratorOrToken(services));
}

async function createAdministratorOrToken(services: Services): Promise<FirstAdministrator | undefined> {
  const { config, log } = services;
  const ctx = await systemContext(services, 'first start');
  if (config.adminEmail && config.adminPassword) {
    const created = await createFirstAdministrator(ctx, config.adminEmail, config.adminPassword);
    return created ? { email: config.adminEmail } : undefined;
  }
  if (config.embedded) {
    const email = 'admin@estate.local';
    const password = storedPassword(path.join(config.dataDir, 'first-administrator.txt'), email);
    return (await createFirstAdministrator(ctx, email, password)) ? { email, password } : undefined;
  }
  const token = await issueSetupToken(services.db);
  if (token !== undefined) {
    log.warn(
      { setup: token, page: `/register?setup=${token}` },
      'there is no user yet: register the first administrator on this page, or with this setup_token',
    );
  }
  return undefined;
}

/** Loads the demo landscape into an empty workspace, if it is configured. */
export async function loadDemoLandscape(services: Services): Promise<void> {
  if (!services.config.demo) return;
  const ctx = await systemContext(services, 'first start');
  const today = new Date().toISOString().slice(0, 10);
  const loaded = await startStep(
    placeOf(services),
    () => loadDemo(ctx, today),
    () => true,
  );
  if (loaded) services.log.info(loaded, 'the demo landscape was loaded');
}

/** Writes the password before the account is created, so that a crash in between never leaves an unknown password. */
function storedPassword(file: string, email: string): string {
  if (!existsSync(file)) {
    const password = randomBytes(15).toString('base64url');
    writeFileSync(file, `${email}\n${password}\n`, { mode: 0o600 });
  }
  return readFileSync(file, 'utf8').split('\n')[1]!;
}
