import { randomUUID } from 'node:crypto';
import { settingTable } from '../../../domain/kernel/settings/settings.table.ts';
import { form } from '../../support/forms.ts';
import { plainSettings } from '../../support/settings.ts';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';
import { openRegistration } from './registration.data.ts';

const url = '/api/v1/settings';
const everybody = '+ + + + + + +';
// the integrator may change settings
const administrators = '+ - - - + - 0';

/** Whoever is not logged in reads what the login page and the start of an application need. */
const open = [
  'currency',
  'date-format',
  'app-title',
  'languages',
  'bpm-enabled',
  'ppm-enabled',
  'grc-enabled',
  'ai-analysis-enabled',
  'file-uploads-enabled',
  'bpm-row-order',
  'fiscal-year-start',
  'exchange-rates',
  'cost-kinds',
  'flow-frequencies',
  'archive-retention-days',
  'registration',
  'principles-display',
];

const harmless: Record<string, object> = {
  registration: { enabled: false },
  'two-factor': { required: false },
  'api-token-life': { days: 365 },
  'cors-origins': { origins: [] },
  'notification-digest': { minutes: 15 },
  'mail-recipients': { domains: [] },
  'bpm-row-order': { row_order: ['management', 'core', 'support'] },
  'fiscal-year-start': { month: 1 },
  'exchange-rates': { rates: [] },
  'cost-kinds': { kinds: settingTable.cost_kinds.default },
  'flow-frequencies': { frequencies: settingTable.flow_frequencies.default },
  'archive-retention-days': { days: 30 },
  currency: { currency: 'USD' },
  'date-format': { date_format: 'DD MMM YYYY' },
  'app-title': { app_title: '' },
  languages: { languages: ['en', 'de'] },
};

const picture = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>';

async function upload({ t }: World, key: string, token: string): Promise<number> {
  const { headers, payload } = form({ filename: `${key}.svg`, content: picture });
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
  const options = { headers: { ...headers, ...authorization }, payload };
  return (await t.app.inject({ method: 'POST', url: `${url}/${key}`, ...options })).statusCode;
}

export const settingRows: Row[] = [
  row(`GET ${url}/bootstrap`, everybody),
  ...plainSettings.flatMap(({ path }) => [
    row(`GET ${url}/${path}`, open.includes(path) ? everybody : administrators),
    // where facts are loaded from is decided by who may manage them
    path === 'eol-source'
      ? row(`PATCH ${url}/${path}`, '+ - - - - - 0', () => ({
          body: { url: `https://${randomUUID()}.example/api` },
        }))
      : row(`PATCH ${url}/${path}`, administrators, () => ({ body: harmless[path] ?? { enabled: true } })),
  ]),
  ...['login-branding', 'email', 'sso', 'ai', 'retention', 'matching-vocabulary'].flatMap((path) => [
    row(`GET ${url}/${path}`, administrators),
    row(`PATCH ${url}/${path}`, administrators, () => ({ body: {} })),
  ]),
  row(`GET ${url}/registration-policy`, administrators),
  // the integrator does not hold what the role holds that people would get
  row(`PATCH ${url}/registration-policy`, '+ - - - - - 0', async (w) => {
    await (await w.client('admin')).patch(`${url}/registration-policy`, { role: 'member' });
    return { body: { role: 'viewer' } };
  }),
  row(`PATCH ${url}/registration (on)`, '+ - - - - - 0', async (w) => {
    await openRegistration(w);
    await (await w.client('admin')).patch(`${url}/registration`, { enabled: false });
    return { body: { enabled: true } };
  }),
  ...['logo', 'favicon'].flatMap((key) => [
    row(`GET ${url}/${key}`, everybody, async (w) => {
      await upload(w, key, (await w.client('admin')).token);
      return {};
    }),
    row(`GET ${url}/${key}/info`, administrators),
    row(`POST ${url}/${key}`, administrators, () => ({ send: (w, token) => upload(w, key, token) })),
    row(`DELETE ${url}/${key}`, administrators),
  ]),
  row(`POST ${url}/email/test`, administrators),
  row(`POST ${url}/ai/test`, administrators),
  row(`GET ${url}/sso/status`, everybody),
  row(`GET ${url}/mcp/status`, everybody),
  row(`GET ${url}/mcp`, '+ - - - - - 0'),
  row(`PATCH ${url}/mcp`, '+ - - - - - 0', () => ({ body: { enabled: false } })),
];
