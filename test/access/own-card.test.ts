import { cardPermissions } from '../../domain/kernel/permissions/permissions.data.ts';
import { closeAfterAll, type TestClient } from '../support/harness.ts';
import type { Call } from './matrix.row.ts';
import { cardRows } from './own-card.data.ts';
import type { CardRow } from './own-card.row.ts';
import { allScopes, namedScopes, withScopes } from './scoped.ts';
import { demandsOf, send } from './send.ts';
import { createWorld, written } from './world.ts';

/** A role on a card that gives every right on it. */
const KEEPER = 'keeper';

const w = closeAfterAll(await createWorld());
const admin = await w.client('admin');
for (const type of ['Application', 'BusinessProcess'])
  await admin.create(`/api/v1/metamodel/types/${type}/stakeholder-roles`, {
    key: KEEPER,
    label: 'Keeper',
    permissions: Object.fromEntries(Object.keys(cardPermissions).map((key) => [key, true])),
  });
/** What each operation demands, as the description says. */
const demands = demandsOf(w);

/** Somebody whose only application permission is the one that no role on a card stands in for, if there is one. */
async function actor({ operation }: CardRow): Promise<TestClient> {
  const [needed] = demands.get(operation)!.split(' / ');
  const key = `only_${needed!.replace(/\W/g, '_')}`;
  const permissions = JSON.stringify(needed === 'login' ? {} : { [needed!]: true });
  await w.t.services.db('roles').insert({ key, label: key, permissions }).onConflict('key').ignore();
  return await w.t.as(key);
}

async function sendTo(row: CardRow, call: Call, client: TestClient) {
  return (await send(w, row, call, client)).answer!;
}

describe.each(cardRows)('$operation', (row) => {
  test('is allowed on a card by a role on it', async () => {
    const client = await actor(row);
    const card = await w.card({ type: row.type ?? 'Application' });
    await w.stakeholder(card, client.userId, KEEPER);
    const call = await row.call(w, card);
    const answer = await sendTo(row, call, client);
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(200);
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(call.refused?.(answer.body)).not.toBe(true);
  });

  test('is allowed to a token only within the scope of the application permission', async () => {
    const client = await actor(row);
    const card = await w.card({ type: row.type ?? 'Application' });
    await w.stakeholder(card, client.userId, KEEPER);
    const named = namedScopes(demands.get(row.operation)!);
    const call = await row.call(w, card);
    const others = await withScopes(
      w.t,
      client,
      allScopes.filter((scope) => !named.includes(scope)),
    );
    await written(w);
    const refused = await sendTo(row, call, others);
    if (!call.refused?.(refused.body)) expect(refused.status, refused.text).toBe(403);
    expect(await written(w)).toEqual([]);
    // what is shown of the answer needs the cards to be in scope
    const answer = await sendTo(row, call, await withScopes(w.t, client, [...named, 'inventory.view']));
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(200);
    expect(answer.status, answer.text).toBeLessThan(300);
    expect(call.refused?.(answer.body)).not.toBe(true);
  });

  test('is refused on another card', async () => {
    const client = await actor(row);
    const call = await row.call(w, await w.card({ type: row.type ?? 'Application' }));
    await written(w);
    const answer = await sendTo(row, call, client);
    if (!call.refused?.(answer.body)) {
      expect(answer.status, answer.text).toBe(403);
      expect(answer.body.permission).toMatch(/^[a-z_]+\.[a-z_]+$/);
    }
    expect(await written(w)).toEqual([]);
  });
});

test('every operation that a role on a card may allow has its row', () => {
  // these need a permission of the service besides, and are tried where they are at home
  const elsewhere = [
    'POST /api/v1/surveys/{survey_id}/apply',
    'POST /api/v1/eol/mass-link',
    'POST /api/v1/ai-analysis/duplicates/{cluster_id}/merge',
    'POST /api/v1/ai-analysis/architect/commit',
    'POST /api/v1/compliance/findings/{finding_id}/ai-verdict',
  ];
  const operations = [...demands].filter(([, demand]) => demand.includes('card.')).map(([name]) => name);
  expect([...cardRows.map(({ operation }) => operation), ...elsewhere].sort()).toEqual(operations.sort());
});
