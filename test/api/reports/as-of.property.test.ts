import { attachedActs } from '../../domain/app/batches/acts/attached.ts';
import { cardActs } from '../../domain/app/batches/acts/cards.ts';
import { type Act, createHand, type Tally } from '../../domain/app/batches/acts/hand.ts';
import { riskActs } from '../../domain/app/batches/acts/risks.ts';
import { openApp } from '../../support/harness.ts';

/*
 * Random writes of every kind. What every report answers at some moments is kept; asked as of these moments afterwards, each
 * answers the same, whoever asks. PAST_MOMENTS and PAST_SEED make longer and other runs.
 */
const MOMENTS = Number(process.env.PAST_MOMENTS ?? 3);
const SEED = Number(process.env.PAST_SEED ?? 5);
const WRITES = 40;

const acts: Act[] = [cardActs, attachedActs, riskActs]
  .flat()
  .flatMap(([act, often]) => Array<Act>(often).fill(act));

const filters = ['name != "x"', 'tags is empty', 'lifecycle.active >= "2020-01-01"'];
const paths = [
  'dashboard',
  'my-workspace',
  'admin-dashboard',
  'stakeholder-directory',
  'stakeholder-directory?type=Application&role=responsible&cards=1',
  'data-quality?worst=3',
  'portfolio',
  'app-portfolio',
  'roadmap',
  'roadmap?type=Application',
  'cost',
  'cost?type=ITComponent',
  'cost-treemap',
  'cost-treemap?group_by=Organization&aggregate=ITComponent',
  'cost-treemap?group_by=businessCriticality',
  'capability-heatmap',
  'capability-heatmap?metric=risk_count',
  'dependencies',
  'eol',
  'landscape',
  'landscape?type=ITComponent&group_by=Application',
  'matrix',
  'matrix?row_type=ITComponent&col_type=Application',
];

const { t, db, admin } = await openApp(['admin']);
/** Sees the cards alone on which a role of a stakeholder shows them. */
const stakeholder = await t.holding(
  'relations.view',
  'reports.ea_dashboard',
  'reports.portfolio',
  'admin.users',
);

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

type Answers = Record<string, unknown>;

/** Questions on what is around some cards, of which some have relations. */
async function around(): Promise<string[]> {
  const { rows } = await db.raw(`select id from cards c where status = 'ACTIVE'
     order by not exists (select from relations where c.id in (source_id, target_id)), md5(id::text) limit 3`);
  return rows.map(({ id }: { id: string }, n: number) => `dependencies?center_id=${id}&depth=${n + 1}`);
}

/** Unfiltered, and with a filter that is another one at the next moment. */
async function answers(moment: number, centers: string[], asOf?: Date): Promise<Answers> {
  const found: Answers = {};
  for (const client of [admin, stakeholder]) {
    for (const [at, path] of [...paths, ...centers].entries()) {
      for (const filter of client === admin ? ['', filters[(at + moment) % filters.length]] : ['']) {
        const query = new URLSearchParams(path.split('?')[1]);
        if (filter) query.set('filter', filter);
        const asked = `${path.split('?')[0]}?${query}`;
        if (asOf) query.set('as_of', asOf.toISOString());
        const answer = await client.get(`/api/v1/reports/${path.split('?')[0]}?${query}`);
        // a card in the middle need not be one that a stakeholder sees
        const refused = client === stakeholder && centers.includes(path) ? [403, 404] : [403];
        expect([200, ...refused], `${asked}: ${answer.text}`).toContain(answer.status);
        if (answer.status !== 200) continue;
        const { position: _, ...body } = answer.body;
        // a graph has no order; when a card was last written is that it was told, a little later
        for (const list of [body.nodes, body.edges]) list?.sort(byText);
        const stamped = (key: string, value: unknown) => (key === 'updated_at' ? undefined : value);
        found[`${asked} for ${client.email}`] = JSON.parse(JSON.stringify(body, stamped));
      }
    }
  }
  return found;
}

it('answers as of a moment what it answered then, whatever was written since', {
  timeout: 120_000 + MOMENTS * 30_000,
}, async () => {
  const people = [admin.userId, stakeholder.userId, (await t.as('member')).userId];
  const tally: Tally = { done: 0, refused: 0, last: '' };
  const moments: { at: Date; centers: string[]; told: Answers }[] = [];
  for (let moment = 0; moment <= MOMENTS; moment += 1) {
    const hand = createHand(t, admin, people, SEED + moment, tally, () => ({}));
    for (let n = 0; n < WRITES; n += 1) await hand.one(acts)(hand);
    if (moment === MOMENTS) break;
    const { rows } = await db.raw('select max(at) as at from events');
    const centers = await around();
    moments.push({ told: await answers(moment, centers), centers, at: rows[0].at });
  }
  for (const [moment, { told, centers, at }] of moments.entries()) {
    const then = await answers(moment, centers, at);
    for (const asked of Object.keys(told)) expect(then[asked], asked).toEqual(told[asked]);
  }
  expect(tally.done).toBeGreaterThan(tally.refused);
});
