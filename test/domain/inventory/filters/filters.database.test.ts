import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { checkFilter } from '../../../../domain/inventory/filters/filters.check.ts';
import { compileFilter } from '../../../../domain/inventory/filters/filters.compile.ts';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import { prepareFilter } from '../../../../domain/inventory/filters/filters.prepare.ts';
import { createFilterSchema } from '../../../../domain/inventory/filters/filters.schema.ts';
import { anonymousCaller, type Caller, type Ctx } from '../../../../domain/kernel/context.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { forAllAsync } from '../../../support/property.ts';
import { writtenCondition, writtenFilter } from './arbitrary.ts';
import { regionGroup, sampleRows, slashGroup } from './sample-schema.ts';

const ann = randomUUID();
const bob = randomUUID();
const ids = new Map<string, string>();

type SampleCard = { name: string; type: string; [column: string]: unknown };

const cards: SampleCard[] = [
  {
    name: 'Lab Größe',
    type: 'Lab',
    subtype: 'indoor',
    alias: 'ALPHA',
    external_id: 'L-1',
    created_by: ann,
    data_quality: 60,
    updated_at: '2026-01-01T12:00:00.123456Z',
    lifecycle: { plan: '2020-01-01', endOfLife: '2026-12-31' },
    attributes: {
      size: 10_000,
      price: 5,
      open: true,
      since: '2024-02-29',
      tier: 'gold',
      topics: ['physics', 'gold'],
      note: 'Straße 100% _done_ \\o/',
      mixed: 5,
      shade: '7',
    },
  },
  {
    name: 'Lab Two',
    type: 'Lab',
    status: 'ARCHIVED',
    archived_at: '2026-02-02T00:00:00Z',
    data_quality: 20,
    updated_at: '2025-12-31T23:59:59.999999Z',
    lifecycle: { endOfLife: '2027-01-01' },
    attributes: { size: 9_999.5, open: false, tier: 'silver', topics: [], note: '', price: null, mixed: 6 },
  },
  {
    name: 'Annex',
    type: 'Annex',
    parent: 'Lab Two',
    updated_at: '2026-01-02T00:00:00Z',
    attributes: { mixed: '5', shade: ['red', 'blue'], when: '2025-05-05' },
  },
  { name: 'Stale', type: 'Annex', attributes: { mixed: 'five', size: '12', since: 'soon', when: '' } },
  { name: 'App', type: 'Application', attributes: { costTotalAnnual: 7 } },
  { name: 'Oracle', type: 'ITComponent', alias: 'db', lifecycle: { endOfLife: '2030-01-01' } },
  { name: 'Postgres', type: 'ITComponent' },
];
const all = cards.map((card) => card.name);

const services = closeAfterAll(await createTestServices());
const { db } = services.services;
const json = JSON.stringify;
await db('card_types').insert(
  sampleRows.cardTypes
    .filter((type) => type.key === 'Lab' || type.key === 'Annex')
    .map(({ subtypes, fields_schema, ...type }) => ({
      ...type,
      subtypes: json(subtypes),
      fields_schema: json(fields_schema),
    })),
);
await db.raw(`select raise_topics(array['metamodel'])`);
await db('users').insert([
  { id: ann, email: 'Ann@estate.example', display_name: 'Ann', role: 'member' },
  { id: bob, email: 'bob@estate.example', display_name: 'Bob', role: 'member' },
]);
for (const { parent, attributes = {}, lifecycle = null, ...card } of cards) {
  const [{ id }] = await db('cards')
    .insert({
      ...card,
      parent_id: parent === undefined ? null : ids.get(parent as string),
      attributes: json(attributes),
      lifecycle: lifecycle === null ? null : json(lifecycle),
    })
    .returning('id');
  ids.set(card.name, id);
}
const relation = (source: string, target: string, type: string, more: object = {}) => ({
  type,
  source_id: ids.get(source),
  target_id: ids.get(target),
  ...more,
});
await db('relations').insert([
  relation('App', 'Oracle', 'relAppToITC', { attributes: json({ costTotalAnnual: 9 }), description: 'Core' }),
  relation('App', 'Postgres', 'relAppToITC'),
  relation('Oracle', 'Postgres', 'relITCSuccessor'),
]);
await db('stakeholders').insert([
  { card_id: ids.get('App'), user_id: ann, role: 'responsible' },
  { card_id: ids.get('App'), user_id: bob, role: 'observer' },
  { card_id: ids.get('Oracle'), user_id: bob, role: 'responsible' },
]);
await db('tag_groups').insert([regionGroup, slashGroup]);
const tags = await db('tags')
  .insert([
    { tag_group_id: regionGroup.id, name: 'EU' },
    { tag_group_id: regionGroup.id, name: 'US' },
    { tag_group_id: slashGroup.id, name: 'EU' },
  ])
  .returning('id');
await db('card_tags').insert([
  { card_id: ids.get('App'), tag_id: tags[0].id },
  { card_id: ids.get('App'), tag_id: tags[1].id },
  { card_id: ids.get('Oracle'), tag_id: tags[2].id },
]);
const schema = createFilterSchema((await services.ctx()).metamodel, [regionGroup, slashGroup]);

/** Names of the selected cards, in the order of {@link cards}. */
async function select(text: string, me: string | null = ann): Promise<string[]> {
  const { sql, bindings } = compileFilter(checkFilter(parseFilter(text)!, schema).root, { me });
  const { rows } = await services.services.db.raw(
    `select c.name from cards c where ${sql} order by c.id`,
    bindings,
  );
  return rows.map((row: { name: string }) => row.name);
}

describe('selecting cards', () => {
  it.each<[string, string[]]>([
    ['type = Lab and subtype = indoor', ['Lab Größe']],
    ['name = "Lab Größe"', ['Lab Größe']],
    ['name = "lab größe"', []],
    ['name ~ "GROSSE"', ['Lab Größe']],
    ['name ~ "größ"', ['Lab Größe']],
    ['name starts with "LAB"', ['Lab Größe', 'Lab Two']],
    ['name ~ "%"', []],
    ['attributes.note ~ "strasse 100% _d"', ['Lab Größe']],
    ['attributes.note ~ "１００％"', ['Lab Größe']],
    ['attributes.note ~ "１０％ ＿done"', []],
    ['attributes.note ~ "00％ _DONE_ \\\\o"', ['Lab Größe']],
    ['attributes.note ~ "s_ra"', []],
    ['alias != "db" and type != Annex', ['Lab Größe', 'Lab Two', 'App', 'Postgres']],
    ['alias not in (db, ALPHA)', ['Lab Two', 'Annex', 'Stale', 'App', 'Postgres']],
    ['alias is not empty', ['Lab Größe', 'Oracle']],
    ['external_id exists', ['Lab Größe']],
    ['status = ARCHIVED and archived_at exists', ['Lab Two']],
    ['approval_status in (APPROVED, BROKEN)', []],
    ['data_quality between 20 and 60', ['Lab Größe', 'Lab Two']],
    ['data_quality not in (0, 20)', ['Lab Größe']],
    ['parent is not empty', ['Annex']],
    ['attributes.tier in (gold, silver)', ['Lab Größe', 'Lab Two']],
    ['attributes.tier != gold', all.slice(1)],
    ['attributes.tier is not empty and not attributes.tier = gold', ['Lab Two']],
    ['attributes.topics = gold', ['Lab Größe']],
    ['attributes.topics is not empty', ['Lab Größe']],
    ['attributes.topics in (chemistry, physics)', ['Lab Größe']],
    ['attributes.size >= 10000', ['Lab Größe']],
    ['attributes.size = 1e4', ['Lab Größe']],
    ['attributes.size < 10000', ['Lab Two']],
    ['attributes.size between 9999.5 and 10000', ['Lab Größe', 'Lab Two']],
    ['not attributes.size < 10000 and type in (Lab, Annex)', ['Lab Größe', 'Annex', 'Stale']],
    ['attributes.price is empty and type = Lab', ['Lab Two']],
    ['attributes.open = false', ['Lab Two']],
    ['attributes.open != true and type = Lab', ['Lab Two']],
    ['attributes.since = 2024-02-29', ['Lab Größe']],
    ['attributes.since > 2024-02-28', ['Lab Größe']],
    ['attributes.when exists', ['Annex']],
    ['attributes.mixed = 5', ['Lab Größe', 'Annex']],
    ['attributes.mixed = "5"', ['Annex']],
    ['attributes.mixed > 4', ['Lab Größe', 'Lab Two']],
    ['attributes.shade = 7', ['Lab Größe']],
    ['attributes.shade = red', ['Annex']],
    ['lifecycle.endOfLife < 2027-01-01', ['Lab Größe']],
    ['lifecycle.endOfLife between 2026-12-31 and 2027-01-01', ['Lab Größe', 'Lab Two']],
    ['lifecycle.endOfLife in (2027-01-01, 2030-01-01)', ['Lab Two', 'Oracle']],
    ['not lifecycle.endOfLife > 2027-01-01 and type = ITComponent', ['Postgres']],
    ['updated_at = 2026-01-01', ['Lab Größe']],
    ['updated_at = 2026-01-01T13:00:00.123+01:00', ['Lab Größe']],
    ['updated_at > 2026-01-01T12:00:00.123Z and updated_at <= 2026-01-02', ['Annex']],
    ['updated_at < 2026-01-01', ['Lab Two']],
    ['updated_at between 2025-12-31 and 2026-01-01', ['Lab Größe', 'Lab Two']],
    ['updated_at > 9999-12-31', []],
    ['created_by = me', ['Lab Größe']],
    ['created_by = "ann@ESTATE.example"', ['Lab Größe']],
    ['tags = "region/eu"', ['App']],
    ['tags = "In/Out/EU"', ['Oracle']],
    ['tags in ("Region/US", "In/Out/EU")', ['App', 'Oracle']],
    ['tags is not empty and tags != "Region/US"', ['Oracle']],
    ['tags.Region exists', ['App']],
    ['tags.Region is empty and tags exists', ['Oracle']],
    ['stakeholder = me', ['App']],
    ['stakeholder.responsible = "bob@estate.example"', ['Oracle']],
    ['stakeholder in (me, "bob@estate.example")', ['App', 'Oracle']],
    ['stakeholder exists and stakeholder != me', ['Oracle']],
    ['relation.relAppToITC exists', ['App', 'Oracle', 'Postgres']],
    ['relation.relAppToITC.target exists', ['App']],
    ['relation.relAppToITC is empty and type = Application', []],
    ['relation.relAppToITC.target.name = "Oracle"', ['App']],
    ['relation.relAppToITC.target.alias is empty', ['App']],
    ['not relation.relAppToITC.target.name = "Oracle" and type = Application', []],
    ['relation.relAppToITC.source.stakeholder = me', ['Oracle', 'Postgres']],
    ['relation.relAppToITC.attributes.costTotalAnnual > 8', ['App', 'Oracle']],
    ['relation.relAppToITC.description ~ "CORE"', ['App', 'Oracle']],
    ['relation.relITCSuccessor.source.name = "Oracle"', ['Postgres']],
    ['relation.relAppToITC.target.relation.relITCSuccessor.target.name = "Postgres"', ['App']],
    ['relation.relAppToITC.target.relation.relITCSuccessor is empty', []],
    ['relation.relAppToITC.target.relation.relITCSuccessor.target is empty', ['App']],
  ])('%s', async (text, names) => expect(await select(text)).toEqual(names));

  it('finds nobody by "me" where nobody asks', async () =>
    expect(await select('created_by = me', null)).toEqual([]));

  it('compares one value by containment, which the index on attributes serves', () => {
    const { root } = checkFilter(parseFilter('attributes.tier = gold')!, schema);
    expect(compileFilter(root, { me: ann }).sql).toBe('c.attributes @> ?::jsonb');
  });
});

describe('whatever the filter', () => {
  const values = fc.oneof(
    fc.constantFrom(
      ...['gold', 'red', '7', '5', '"5"', 'true', '2026-01-01', '2026-01-01T12:00:00.123Z', 'me', 'Lab', 'x'],
      ...['"ann@estate.example"', '"Region/EU"', 'ACTIVE', 'physics', '-1.5e3', '1e300', '"?"', '"%_\\\\"'],
    ),
    fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`),
    fc.constant('0193f5a1-1111-7222-8333-444455556666'),
  );
  const fields = fc.constantFrom(
    ...['name', 'type', 'alias', 'status', 'data_quality', 'parent', 'updated_at', 'created_by', 'tags'],
    ...['attributes.size', 'attributes.tier', 'attributes.topics', 'attributes.since', 'attributes.mixed'],
    ...['attributes.shade', 'attributes.note', 'attributes."odd key"', 'attributes.open', 'lifecycle.plan'],
    ...['stakeholder', 'stakeholder.responsible', 'tags.Region', 'relation.relAppToITC'],
    ...['relation.relAppToITC.target.alias', 'relation.relAppToITC.attributes.costTotalAnnual'],
    ...['relation.relITCSuccessor.source.relation.relAppToITC.source.name'],
  );
  const accepted = (text: string) => {
    try {
      return checkFilter(parseFilter(text)!, schema) !== undefined;
    } catch (error) {
      if (error instanceof EstateError) return false;
      throw error;
    }
  };

  it('a card is selected by it or by its negation, never by both', async () => {
    const condition = writtenCondition(fields, values).filter(accepted);
    await forAllAsync(400, [writtenFilter(condition)], async (text) => {
      fc.pre(accepted(text));
      expect([...(await select(text)), ...(await select(`not (${text})`))].sort()).toEqual([...all].sort());
    });
  });
});

describe('preparing a filter for a caller', () => {
  const as = async (...permissions: string[]): Promise<Ctx> => {
    const caller = { ...anonymousCaller, userId: bob, role: 'member', permissions: new Set(permissions) };
    return await services.ctx(caller as Caller);
  };
  const run = async (caller: Ctx, text: string): Promise<string[]> => {
    const condition = await prepareFilter(caller, text);
    const { rows } = await services.services.db.raw(
      `select c.name from cards c where ${condition!.sql} order by c.id`,
      condition!.bindings,
    );
    return rows.map((row: { name: string }) => row.name);
  };

  it('takes a blank filter as none', async () =>
    expect(await prepareFilter(await as(), ' ')).toBeUndefined());

  it('refuses to ask about what the caller may not see', async () => {
    const caller = await as('inventory.view');
    const refused = [
      ['attributes.price > 1', 'costs.view'],
      ['relation.relAppToITC exists', 'relations.view'],
      ['stakeholder exists', 'stakeholders.view'],
    ] as const;
    for (const [text, permission] of refused) {
      await expect(prepareFilter(caller, text)).rejects.toMatchObject({
        code: 'forbidden',
        extra: { permission },
      });
      expect(await prepareFilter(await as('inventory.view', permission), text)).toBeDefined();
    }
    expect(await run(caller, 'stakeholder = me and tags = "Region/EU"')).toEqual(['App']);
  });

  it('counts related cards only where the caller sees them', async () => {
    const filter = 'relation.relAppToITC.target.name in ("Oracle", "Postgres")';
    expect(await run(await as('inventory.view', 'relations.view'), filter)).toEqual(['App']);
    // bob is responsible for Oracle alone
    expect(await run(await as('relations.view'), filter)).toEqual(['App']);
    expect(await run(await as('relations.view'), 'relation.relAppToITC.target.name = "Postgres"')).toEqual(
      [],
    );
  });
});
