import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readConfig } from '../../platform/config.ts';
import { createSecretBox, deriveKey, keyId } from '../../platform/crypto.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'estate-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const key = 'k'.repeat(32);
const production = { DATABASE_URL: 'postgres://u:p@host/db', SECRET_KEY: key };

describe('settings', () => {
  it('have the documented defaults, and keep the key of the embedded default', () => {
    const config = readConfig({ DATA_DIR: folder });
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      dataDir: folder,
      databaseUrl: undefined,
      redisUrl: undefined,
      demo: true,
      embedded: true,
      logLevel: 'info',
      outboundAllow: [],
    });
    expect(readConfig({ DATA_DIR: folder }).secretKeys).toEqual(config.secretKeys);
    expect(statSync(path.join(folder, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(folder, 'secret.key'), 'utf8')).toHaveLength(64);
  });

  it('take what is given, blank counting as absent', () => {
    expect(
      readConfig({
        ...production,
        PORT: '0',
        REDIS_URL: ' ',
        DEMO: 'true',
        OUTBOUND_ALLOW: 'a.example, 10.0.0.0/8',
      }),
    ).toMatchObject({ port: 0, redisUrl: undefined, demo: true, outboundAllow: ['a.example', '10.0.0.0/8'] });
    expect(readConfig(production).demo).toBe(false);
  });

  it.each([
    [{ ...production, PORT: 'eighty' }, /^PORT is not valid: expected a whole number from 0 to 65535\.$/],
    [{ ...production, PORT: '70000' }, /^PORT is not valid/],
    [
      { ...production, REDIS_URL: 'http://x' },
      /^REDIS_URL is not valid: expected an address that begins with redis:/,
    ],
    [{ ...production, DEMO: 'perhaps' }, /^DEMO is not valid: expected true or false\.$/],
    [{ ...production, LOG_LEVEL: 'loud' }, /^LOG_LEVEL is not valid/],
    [{ ...production, SECRET_KEY: 'short' }, /^SECRET_KEY is not valid/],
    [{ ...production, SECRET_KEY: undefined }, /^SECRET_KEY is missing/],
    [{ ...production, ADMIN_EMAIL: 'a@b.example' }, /set both or neither\.$/],
    [{ ...production, TRUST_PROXY: 'everybody' }, /^TRUST_PROXY is not valid/],
  ])('refuse %j in one sentence', (env, sentence) => {
    expect(() => readConfig({ DATA_DIR: folder, ...env })).toThrow(sentence);
  });

  it('refuse a damaged key file', () => {
    writeFileSync(path.join(folder, 'secret.key'), 'x');
    expect(() => readConfig({ DATA_DIR: folder })).toThrow(/secret\.key is damaged/);
  });
});

it('secrets open under the key that sealed them, also after a rotation, and only in their context', () => {
  const sealed = createSecretBox([key]).seal('hunter2', 'settings.smtp');
  expect(sealed).not.toContain('hunter2');
  expect(sealed.startsWith(keyId(key))).toBe(true);
  const rotated = createSecretBox(['n'.repeat(32), key]);
  expect(rotated.open(sealed, 'settings.smtp')).toBe('hunter2');
  expect(() => rotated.open(sealed, 'settings.sso')).toThrow();
  expect(() => createSecretBox(['n'.repeat(32)]).open(sealed, 'settings.smtp')).toThrow(
    /SECRET_KEY does not hold/,
  );
  const parts = sealed.split('.');
  parts[3] = Buffer.from('altered').toString('base64url');
  expect(() => rotated.open(parts.join('.'), 'settings.smtp')).toThrow();
});

it('secrets derive another key for each purpose', () => {
  expect(deriveKey(key, 'a')).toHaveLength(32);
  expect(deriveKey(key, 'a').equals(deriveKey(key, 'b'))).toBe(false);
});
