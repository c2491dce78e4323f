import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { makeFolder } from './folders.ts';
import { readAllowed } from './outbound.rules.ts';
import { StartupError } from './startup.ts';

const Schema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65535 }),
  DATA_DIR: Type.String({ default: './data', minLength: 1 }),
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://' })),
  SECRET_KEY: Type.Optional(Type.String({ minLength: 32 })),
  ADMIN_EMAIL: Type.Optional(Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' })),
  ADMIN_PASSWORD: Type.Optional(Type.String({ minLength: 12, maxLength: 200 })),
  DEMO: Type.Optional(Type.Boolean()),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  WORKER_CONCURRENCY: Type.Integer({ default: 2, minimum: 1, maximum: 64 }),
  OUTBOUND_ALLOW: Type.String({ default: '' }),
  TRUST_PROXY: Type.String({ default: '', pattern: '^[0-9a-fA-F.:/, ]*$' }),
});

/** What each setting must look like, in words; a wrong value is refused with its sentence. */
const expected: Record<keyof Static<typeof Schema>, string> = {
  HOST: 'a host name or address to listen on',
  PORT: 'a whole number from 0 to 65535',
  DATA_DIR: 'the path of a folder',
  DATABASE_URL: 'an address that begins with postgres:// or postgresql://',
  REDIS_URL: 'an address that begins with redis:// or rediss://',
  SECRET_KEY: 'at least 32 characters (for a rotation: several keys, newest first, separated by blanks)',
  ADMIN_EMAIL: 'an e-mail address',
  ADMIN_PASSWORD: 'a password of 12 to 200 characters',
  DEMO: 'true or false',
  LOG_LEVEL: 'one of fatal, error, warn, info, debug, trace, silent',
  WORKER_CONCURRENCY: 'a whole number from 1 to 64',
  OUTBOUND_ALLOW:
    'a comma-separated list of hosts, addresses and ranges, each with :port or :* behind where it is not the usual one',
  TRUST_PROXY: 'a comma-separated list of addresses and ranges, such as 10.0.0.0/8',
};

export interface Config {
  host: string;
  port: number;
  /** Absolute path of the data folder: files, and the embedded database. */
  dataDir: string;
  /** Unset: the embedded PostgreSQL of the data folder. */
  databaseUrl: string | undefined;
  /** Unset: queue on PostgreSQL, cache in memory. */
  redisUrl: string | undefined;
  /** Newest first; the first one signs and encrypts, all of them verify and decrypt. */
  secretKeys: string[];
  adminEmail: string | undefined;
  adminPassword: string | undefined;
  /** Whether an empty inventory is filled with the demo landscape. */
  demo: boolean;
  logLevel: string;
  workerConcurrency: number;
  outboundAllow: string[];
  /** Load balancers whose X-Forwarded-For names the client's address; none: the peer is the client. */
  trustProxy: string[];
  embedded: boolean;
}

/**
 * Reads the settings from the environment. Only the processes' main files call it.
 * @throws StartupError with one sentence that names the setting, what is wrong and what is expected.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given: Record<string, unknown> = {};
  for (const key of Object.keys(Schema.properties)) {
    const text = env[key]?.trim();
    if (text) given[key] = text;
  }
  const values = Value.Default(Schema, Value.Convert(Schema, given));
  for (const error of Value.Errors(Schema, values)) {
    const key = error.instancePath.split('/')[1] as keyof typeof expected;
    throw new StartupError(`${key} is not valid: expected ${expected[key]}.`);
  }
  const v = values as Static<typeof Schema>;
  const dataDir = path.resolve(v.DATA_DIR);
  const embedded = v.DATABASE_URL === undefined;
  if (Boolean(v.ADMIN_EMAIL) !== Boolean(v.ADMIN_PASSWORD)) {
    throw new StartupError('ADMIN_EMAIL and ADMIN_PASSWORD are only used together: set both or neither.');
  }
  return {
    host: v.HOST,
    port: v.PORT,
    dataDir,
    databaseUrl: v.DATABASE_URL,
    redisUrl: v.REDIS_URL,
    secretKeys: secretKeys(v.SECRET_KEY, embedded, dataDir),
    adminEmail: v.ADMIN_EMAIL,
    adminPassword: v.ADMIN_PASSWORD,
    demo: v.DEMO ?? embedded,
    logLevel: String(v.LOG_LEVEL),
    workerConcurrency: v.WORKER_CONCURRENCY,
    outboundAllow: allowedEntries(v.OUTBOUND_ALLOW),
    trustProxy: listOf(v.TRUST_PROXY),
    embedded,
  };
}

/** The entries of a comma-separated list. */
function listOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}

function allowedEntries(text: string): string[] {
  const entries = listOf(text);
  if (entries.some((entry) => !readAllowed(entry))) {
    throw new StartupError(`OUTBOUND_ALLOW is not valid: expected ${expected.OUTBOUND_ALLOW}.`);
  }
  return entries;
}

function secretKeys(given: string | undefined, embedded: boolean, dataDir: string): string[] {
  if (given) {
    const keys = given.split(/\s+/);
    if (keys.some((key) => key.length < 32)) {
      throw new StartupError(`SECRET_KEY is not valid: expected ${expected.SECRET_KEY}.`);
    }
    return keys;
  }
  if (!embedded) {
    throw new StartupError(
      'SECRET_KEY is missing: with DATABASE_URL set, give a secret of at least 32 characters, the same for all processes.',
    );
  }
  return [keptKey(dataDir)];
}

/** The secret key of the embedded default: created once and stored in the data folder, readable only by its owner. */
function keptKey(dataDir: string): string {
  const file = path.join(dataDir, 'secret.key');
  try {
    makeFolder(dataDir);
    if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another process of the same folder has created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = readFileSync(file, 'utf8').trim();
  if (key.length < 32) {
    throw new StartupError(
      `${file} is damaged: restore it from a backup, or delete it (which ends all sessions and makes stored secrets unreadable).`,
    );
  }
  return key;
}
