import { openApp } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const CHART = { accept: 'application/vnd.estate.chart+json' };
const { t, admin } = await openApp(['admin']);
const chartOf = async (path: string, language = 'en') =>
  (await admin.get(`/api/v1/reports/${path}`, { ...CHART, 'accept-language': language })).body;

/** What an empty picture says in place of a note about nothing. */
const empty: Record<string, [english: string, german: string]> = {
  cost: ['No card has a cost yet', 'Noch keine Karte hat Kosten'],
  'cost-treemap': ['No card has a cost yet', 'Noch keine Karte hat Kosten'],
  'cost-periods': [
    'No costs by period are stored yet',
    'Es sind noch keine Kosten nach Zeiträumen gespeichert',
  ],
  roadmap: ['No card has a date of its lifecycle yet', 'Noch keine Karte hat ein Datum im Lebenszyklus'],
  eol: ['No card has an end of life yet', 'Noch keine Karte hat ein Lebensende'],
  'stakeholder-directory': ['No card has stakeholders yet', 'Noch keine Karte hat Stakeholder'],
  'ppm/gantt': ['No initiative has dates yet', 'Noch keine Initiative hat Termine'],
  kpis: ['The first figures are stored tonight', 'Die ersten Zahlen werden heute Nacht gespeichert'],
};

it.each(Object.entries(empty))('without data %s says what is missing, once', async (path, texts) => {
  for (const [at, language] of ['en', 'de'].entries()) {
    const chart = await chartOf(path, language);
    expect([chart.empty, chart.note, chart.panels]).toEqual([texts[at], undefined, undefined]);
  }
});

it('draws no cards without relations as a graph', async () => {
  await storeInventory(t, { Platform: { Shop: {}, Cloud: {} } });
  const chart = await chartOf('dependencies');
  expect([chart.empty, chart.nodes, chart.total]).toEqual(['No card has a relation yet', [], undefined]);
  expect(chart.note).toBe('2 cards; arrows show the flow of data');
});

it('groups by what is filled for enough cards', async () => {
  const cards = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [
      `Application ${at}`,
      {
        attributes: {
          costTotalAnnual: 100 + at,
          ...(at === 0 && { businessCriticality: 'missionCritical' }),
        },
        ...(at < 4 && { lifecycle: { active: '2020-01-01' } }),
      },
    ]),
  );
  const ids = await storeInventory(t, { Application: cards, Organization: { Head: {}, Branch: {} } }, [
    ['relOrgToApp', 'Head', 'Application 0'],
  ]);
  const costs = await chartOf('cost-treemap');
  expect([costs.kind, costs.items.length]).toEqual(['bars', 10]);
  const phases = await chartOf('app-portfolio');
  expect([phases.title, phases.note]).toEqual(['Applications by phase', '10 cards; 1 has an organization']);
  expect(
    phases.items.map(({ name, values }: { name: string; values: number[] }) => [name, ...values]),
  ).toEqual([
    ['Active', 4],
    ['No lifecycle', 6],
  ]);
  for (const at of [1, 2, 3])
    await admin.post('/api/v1/relations', {
      type: 'relOrgToApp',
      source_id: ids.Branch,
      target_id: ids[`Application ${at}`],
    });
  const organizations = await chartOf('app-portfolio');
  expect(organizations.items.map(({ name }: { name: string }) => name)).toEqual([
    'Branch',
    'Head',
    'No organization',
  ]);
  for (const at of [1, 2, 3])
    await admin.patch(`/api/v1/cards/${ids[`Application ${at}`]}`, {
      attributes: { businessCriticality: 'businessCritical' },
    });
  expect((await chartOf('cost-treemap')).kind).toBe('treemap');
});
