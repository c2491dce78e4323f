import { similarNames } from '../../../domain/inventory/cards/cards.similar.ts';
import { appPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import { likelyDuplicates } from '../../../integrations/analysis/duplicates/warnings.ts';
import { openDatabase } from '../../../platform/database.ts';
import { apiAt } from '../harness/api.ts';
import { benchContext } from '../harness/context.ts';
import { percentile, timesOf } from '../harness/measure.ts';
import { under } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';
import { loadLandscape } from '../harness/workspace.ts';

const ROUNDS = 200;
const WARM_UP = 40;
/** Imports of each kind; the fastest counts, since the machine slows down some. */
const IMPORTS = 2;
const NOBODY = '00000000-0000-4000-8000-000000000000';

/** Names as users type them: one that exists, a slip, one with another word, a longer one, and a new one. */
const typed: ((name: string, n: number) => string)[] = [
  (name) => name,
  (name) => name.replace(/([a-z])([a-z])(?=[a-z])/, '$2$1'),
  (name, n) => name.replace(/^\S+/, `Zork${n}ian`),
  (name) => `${name} Suite`,
  (_, n) => `Quarv${n}`,
];

/** The same service for a caller who sees no cards: imports do not compare names then. */
async function withoutView({ api, url }: Service) {
  const scopes = Object.keys(appPermissions).filter((permission) => permission !== 'inventory.view');
  const { token } = await api.post<{ token: string }>('/tokens', { name: 'bench', scopes });
  return apiAt(url, { authorization: `Bearer ${token}` });
}

/** What looking for likely duplicates adds to single writes, and to an import of all cards. */
export const warnings: Scenario = {
  name: 'warnings',
  async run({ args, service, client, log }) {
    const { rows } = await client.query<{ name: string }>(
      `select name from cards where type = 'Application' and status = 'ACTIVE' order by md5(id::text) limit $1`,
      [ROUNDS],
    );
    const db = openDatabase({ url: service.databaseUrl, name: 'bench' });
    const ctx = await benchContext(db);
    let found = 0;
    const cardOf = (n: number) => ({
      ...{ id: NOBODY, type: 'Application', status: 'ACTIVE' },
      name: typed[n % typed.length]!(rows[n % rows.length]!.name, n),
    });
    const check = async (n: number) => {
      found += (await likelyDuplicates(ctx, cardOf(n), async () => undefined)).length > 0 ? 1 : 0;
    };
    await timesOf(WARM_UP, check);
    found = 0;
    const times = await timesOf(ROUNDS, check);
    const statements = await timesOf(ROUNDS, (n) => similarNames(ctx, cardOf(n)));
    await db.destroy();
    log(
      `${found} of ${ROUNDS} names have likely duplicates; p50 ${percentile(times, 0.5).toFixed(1)} ms, of the statement ${percentile(statements, 0.5).toFixed(1)} ms`,
    );

    const seconds = { with: [] as number[], without: [] as number[] };
    for (let round = 0; round < IMPORTS; round += 1) {
      for (const kind of ['with', 'without'] as const) {
        await using fresh = await startService();
        const api = kind === 'with' ? fresh.api : await withoutView(fresh);
        const { cardsMs } = await loadLandscape({ ...fresh, api }, { ...args, relations: 0 });
        seconds[kind].push(cardsMs / 1_000);
      }
    }
    log(`imports ${JSON.stringify(seconds)}`);
    return [
      under('likely duplicates of one card, p95', percentile(times, 0.95), 'ms', 20),
      under(
        'import of all cards with warnings',
        Math.min(...seconds.with),
        's',
        1.25,
        Math.min(...seconds.without),
      ),
    ];
  },
};
