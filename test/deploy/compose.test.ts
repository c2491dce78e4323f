import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DCLinter } from 'dclint';
import { parse } from 'yaml';
import { readConfig } from '../../platform/config.ts';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  mem_limit?: string;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
}

const root = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true });
const services: Record<string, Service> = compose.services;
const ours = Object.entries(services).filter(([, service]) => service.image === 'estate');
const { scripts } = JSON.parse(read('package.json'));

/** Settings that the image gives itself, as the Dockerfile's ENV line holds them. */
const imageEnvironment = Object.fromEntries(
  Array.from(read('Dockerfile').matchAll(/^ENV (.+)$/gm), (match) => match[1]!.split(' '))
    .flat()
    .map((pair) => pair.split('=') as [string, string]),
);

/** Puts `given` in place of `${NAME:-default}` and `${NAME:?message}`, as compose does; throws on a missing one. */
function interpolate(text: string, given: Record<string, string>): string {
  return text.replace(/\$\{(\w+)(:-|:\?)([^}]*)\}/g, (_, name, kind, rest) => {
    const value = given[name];
    if (value) return value;
    if (kind === ':?') throw new Error(`${name}: ${rest}`);
    return rest;
  });
}

function environmentOf(service: Service, given: Record<string, string>): Record<string, string> {
  const own = Object.entries(service.environment ?? {});
  return {
    ...imageEnvironment,
    ...Object.fromEntries(own.map(([name, value]) => [name, interpolate(value, given)])),
  };
}

const secrets = { SECRET_KEY: 'k'.repeat(32), POSTGRES_PASSWORD: 'letters1', REDIS_PASSWORD: 'letters2' };
/** What Node and its HTTP client read by themselves. */
const ofNode = ['HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS'];

test('the file is valid by the compose schema, and a linter finds nothing in it', () => {
  const linter = new DCLinter({
    rules: {
      // services stand in the order in which they start, and keys in the order in which one reads them
      'services-alphabetical-order': 0,
      'service-keys-order': 0,
      'top-level-properties-order': 0,
    },
    quiet: true,
    debug: false,
    exclude: [],
  });
  const results = linter.lintFiles([path.join(root, 'docker-compose.yml')], false);
  expect(results.map((result: { messages: unknown[] }) => result.messages)).toEqual([[]]);
});

test('it holds PostgreSQL, Redis, two APIs, two workers and a migration before them', () => {
  const names = Object.keys(services);
  expect(names).toEqual(['postgres', 'redis', 'migrate', 'api-1', 'api-2', 'worker-1', 'worker-2']);
  expect(services.postgres!.image).toBe('postgres:18');
  expect(services.redis!.image).toBe('redis:7');
  expect(services['api-1']!.ports).toEqual(['127.0.0.1:8081:8080']);
  expect(services['api-2']!.ports).toEqual(['127.0.0.1:8082:8080']);
});

describe.each(ours)('%s', (name, service) => {
  test('starts what a script of package.json starts', () =>
    expect(Object.values(scripts)).toContain(service.command!.join(' ')));

  test('gives only settings that the configuration knows, and they are valid', () => {
    const known = new Set<string>();
    const environment = environmentOf(service, secrets);
    const config = readConfig(
      new Proxy(environment, {
        get(target, key) {
          known.add(String(key));
          return Reflect.get(target, key);
        },
      }),
    );
    expect(Object.keys(environment).filter((key) => !known.has(key))).toEqual(ofNode);
    expect(config).toMatchObject({
      embedded: false,
      host: '0.0.0.0',
      port: 8080,
      dataDir: '/data',
      databaseUrl: 'postgres://estate:letters1@postgres:5432/estate',
      redisUrl: 'redis://:letters2@redis:6379',
    });
  });

  test('does not start without its secrets', () => {
    for (const [name, value] of Object.entries(secrets)) {
      const others = { ...secrets, [name]: '' };
      expect(() => environmentOf(service, others), `${name} ${value}`).toThrow(new RegExp(`^${name}: `));
    }
  });

  test('shares the files and waits for what it needs', () => {
    expect(service.volumes).toEqual([`files:${imageEnvironment.DATA_DIR}`]);
    expect(service.depends_on!.postgres).toEqual({ condition: 'service_healthy' });
    if (name === 'migrate') return;
    expect(service.depends_on!.redis).toEqual({ condition: 'service_healthy' });
    expect(service.depends_on!.migrate).toEqual({ condition: 'service_completed_successfully' });
  });
});

test('the APIs know the load balancer, and settings of the network reach them', () => {
  const given = { ...secrets, TRUST_PROXY: '10.0.0.1', HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'cmdb' };
  const environment = environmentOf(services['api-1']!, given);
  expect(environment).toMatchObject({
    TRUST_PROXY: '10.0.0.1',
    HTTPS_PROXY: 'http://proxy:3128',
    NO_PROXY: 'cmdb',
    NODE_EXTRA_CA_CERTS: '',
  });
  expect(readConfig(environment).trustProxy).toEqual(['10.0.0.1']);
});

test('no service can gain privileges, and all have few and a bound of memory', () => {
  const needed: Record<string, string[]> = {
    postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    redis: ['CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID'],
  };
  for (const [name, service] of Object.entries(services)) {
    expect([service.cap_drop, service.security_opt], name).toEqual([['ALL'], ['no-new-privileges:true']]);
    expect(service.cap_add, name).toEqual(needed[name]);
    expect(service.mem_limit, name).toMatch(/^\d+g$/);
  }
});

test('Redis asks for its password and stays below its bound of memory', () => {
  const { command, environment, mem_limit } = services.redis!;
  const after = (option: string) => interpolate(command![command!.indexOf(option) + 1]!, secrets);
  expect(after('--requirepass')).toBe('letters2');
  expect(interpolate(environment!.REDISCLI_AUTH!, secrets)).toBe('letters2');
  expect(after('--maxmemory-policy')).toBe('noeviction');
  const limit = Number.parseInt(mem_limit!, 10) * 1024;
  expect(Number.parseInt(after('--maxmemory'), 10)).toBeLessThanOrEqual(0.75 * limit);
});

test('every dependency is a service, and each that must be healthy has a health check', () => {
  for (const service of Object.values(services)) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(services).toHaveProperty([other]);
      if (condition === 'service_healthy') expect(services[other]!.healthcheck?.test).toBeDefined();
    }
  }
});

test('every named volume is declared and used', () => {
  const used = Object.values(services).flatMap((service) =>
    (service.volumes ?? []).map((volume) => volume.split(':')[0]),
  );
  expect([...new Set(used)].sort()).toEqual(Object.keys(compose.volumes).sort());
});

test('the image runs without rights of its own and tells when it is ready', () => {
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK .*\\\n {2}CMD .*\/api\/health\/ready/m);
  expect(JSON.parse(dockerfile.match(/^CMD (.+)$/m)![1]!).join(' ')).toBe(scripts.api);
});
