import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { extensions } from '../../domain/app/extensions.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { readConfig } from '../../platform/config.ts';
import { createApp } from '../app.ts';
import { layoutJson } from './layout.ts';

const given = process.argv.slice(2).find((word) => !word.startsWith('--'));
const file = path.resolve(given ?? path.join(import.meta.dirname, '../../docs/openapi.json'));
const name = path.relative(process.cwd(), file);

/** A service that must not be used while routes are declared: any access throws. */
function unused(name: string): never {
  return new Proxy(
    {},
    {
      get(_target, member) {
        throw new Error(`declaring the routes used ${name}.${String(member)}`);
      },
    },
  ) as never;
}

const services: Services = {
  config: readConfig({
    DATABASE_URL: 'postgres://nowhere',
    SECRET_KEY: 'unused-secret-key-of-the-openapi-writer',
  }),
  log: pino({ level: 'silent' }),
  db: unused('db'),
  blobs: unused('blobs'),
  secrets: unused('secrets'),
  passwords: unused('passwords'),
  extensions,
  settings: unused('settings'),
  metamodels: unused('metamodels'),
  sessions: unused('sessions'),
  cache: unused('cache'),
  signals: { processNumber: 0, on: () => () => {}, close: async () => {} },
  outbound: unused('outbound'),
};

const app = await createApp(services);
await app.ready();
const text = `${layoutJson(app.swagger())}\n`;
await app.close();

if (process.argv.includes('--check')) {
  if ((await readFile(file, 'utf8').catch(() => undefined)) !== text) {
    console.error(`${name} does not match the routes: run npm run openapi and commit it.`);
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
  console.info(`Wrote ${name}.`);
}
