import { expectProblem, ok, openApp } from '../support/harness.ts';

const { t, admin } = await openApp(['admin']);

it('lists that PostgreSQL does not return in time are refused, and later ones succeed', async () => {
  await admin.create('/api/v1/cards', { type: 'Application', name: 'Slow' });
  const paths = ['/api/v1/cards?sort_by=path', '/api/v1/cards/facets?facets=tags', '/api/v1/relations'];
  await t.services.db.transaction(async (trx) => {
    await trx.raw('lock table cards, relations in access exclusive mode');
    // the server ends transactions without statements
    const awake = setInterval(() => void trx.raw('select 1').catch(() => undefined), 1_000);
    await Promise.all(paths.map((path) => expectProblem(admin.get(path), 503, 'too_slow')));
    clearInterval(awake);
  });
  for (const path of paths) await ok(admin.get(path));
}, 90_000);
