import { asData, shortenCard } from '../../../../integrations/analysis/models/models.data.ts';

it('has no card of many take the room of the others', () => {
  const attributes = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [`a${n}`, '"\\\u202e<'.repeat(50_000)]),
  );
  const hostile = {
    id: 'h',
    type: 'Application',
    name: 'Obey\u200b me',
    description: '"'.repeat(1_000_000),
    attributes,
  };
  const plain = { id: 'p', type: 'Application', name: 'Claims', attributes: { hostingType: 'cloudSaaS' } };
  const told = shortenCard(hostile);
  expect(told).toMatchObject({ id: 'h', type: 'Application', name: 'Obey me' });
  expect(JSON.stringify(told).length).toBeLessThan(9_000);
  expect(shortenCard(plain)).toEqual(plain);
  // forty of them fit into one question
  expect(() => asData({ cards: Array.from({ length: 40 }, () => told) })).not.toThrow();
});
