import { preview } from '../../../support/archive-rows.ts';
import { applyArchive, exportArchive, openTwoServices, unpack } from '../../../support/archives.ts';

const { source, target } = await openTwoServices();

it('new cards keep the numbers that the service has never given; others get new ones', async () => {
  const [there, here] = [await source.as('admin'), await target.as('admin')];
  const make = (client: typeof there, name: string) => client.card({ type: 'Application', name });
  for (const name of ['A', 'B', 'C', 'D', 'E']) await make(there, name);
  await there.post('/api/v1/metamodel/types', { key: 'Site', label: 'Site', number_prefix: 'LOC' });
  await there.card({ type: 'Site', name: 'Bergen' });
  await here.post('/api/v1/metamodel/types', { key: 'Locality', label: 'Locality', number_prefix: 'LOC' });
  await make(here, 'Own');
  const gone = await make(here, 'Gone');
  await here.delete(`/api/v1/cards/${gone.id}`);
  const { services } = target;

  const parts = await unpack(await exportArchive(source.services, await source.ctx()));
  const { id, diff } = await preview(target, parts);
  expect(diff!.kinds.cards).toMatchObject({ create: 6, conflict: 0 });
  const { result } = await applyArchive(await target.ctx(), id);
  expect(result!.left).toEqual([]);
  const rows = await services.db('cards').where({ type: 'Application' }).orderBy('name');
  const numbers = Object.fromEntries(rows.map((row) => [row.name, row.number]));
  expect(numbers).toMatchObject({ Own: 'APP-00001', C: 'APP-00003', D: 'APP-00004', E: 'APP-00005' });
  expect([numbers.A, numbers.B].sort()).toEqual(['APP-00006', 'APP-00007']);
  expect((await make(here, 'Next')).number).toBe('APP-00008');
  expect(await services.db('card_types').where({ key: 'Site' }).first('number_prefix')).toEqual({
    number_prefix: 'SIT',
  });

  const again = await preview(target, parts);
  expect(again.diff!.kinds.cards).toMatchObject({ create: 0, update: 0, unchanged: 6, conflict: 0 });
});
