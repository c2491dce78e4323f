import { pino } from 'pino';
import { extensions } from '../../domain/app/extensions.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { readConfig } from '../../platform/config.ts';
import { createApp } from '../app.ts';
import { layoutJson } from './layout.ts';

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

/** The OpenAPI document of all routes, as it is stored in `docs/openapi.json`. It needs no database. */
export async function renderDescription(): Promise<string> {
  const app = await createApp(services);
  await app.ready();
  const text = `${layoutJson(app.swagger())}\n`;
  await app.close();
  return text;
}
