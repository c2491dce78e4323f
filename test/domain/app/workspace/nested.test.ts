import { cardTypeErrors, relationTypeErrors } from '../../../../domain/app/workspace/transfer.check.ts';
import { readShapes } from '../../../../domain/app/workspace/transfer.stage.ts';
import { nestedErrors } from '../../../../domain/app/workspace/workspace.fields.ts';
import { nestedRules } from '../../../../domain/app/workspace/workspace.nested.data.ts';
import { contentTables } from '../../../../domain/app/workspace/workspace.tables.ts';
import { contentId, recheckContent } from '../../../../domain/modelling/bpm/bpmn.read.ts';
import type { FieldError } from '../../../../platform/errors.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { chain } from '../../../api/bpm/models.ts';
import { changeRows, preview } from '../../../support/archive-rows.ts';
import { exportArchive, type Parts, rewrite, unpack } from '../../../support/archives.ts';
import { closeAfterAll, openApp } from '../../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));
const make = async (path: string, body: object) => {
  const { status, text } = await admin.post(`/api/v1/${path}`, body);
  expect(status, text).toBe(201);
};
await make('bookmarks', { name: 'A', filters: { types: ['Application'] }, columns: ['name'] });
await make('bookmarks', { name: 'B', filters: { attributes: { costTotalAnnual: 5 } } });
await make('soaw', { name: 'S', sections: { '1.1': { content: '<p>Why</p>' } } });
await make('web-portals', { name: 'P', slug: 'p', card_type: 'Application' });
await make('surveys', {
  name: 'Q',
  target_type_key: 'Application',
  target_roles: ['responsible'],
  fields: [{ key: 'businessCriticality' }],
});
await make('saved-reports', { name: 'R', report_type: 'cost', config: { by: ['vendor'] } });
await make('adr', { title: 'D', consulted: ['Ann'] });
const parts = await unpack(await exportArchive(t.services, await t.ctx()));

const change = (from: Parts, table: string, line: number, values: object): Parts =>
  changeRows(from, table, (_, n) => (n === line - 1 ? values : undefined));

it('every column that holds JSON is looked into', async () => {
  // cards, relations and types are checked by the rules of their own operations
  const own: Record<string, string[]> = {
    cards: ['attributes', 'lifecycle'],
    relations: ['attributes'],
    card_types: ['deprecation', 'fields_schema', 'section_config', 'subtypes', 'translations'],
    relation_types: ['attributes_schema', 'deprecation', 'translations'],
  };
  for (const [table, { columns, types }] of await readShapes(db, contentTables)) {
    const nested = columns.filter((column) => types[column] === 'jsonb').sort();
    expect([table, nested]).toEqual([table, own[table] ?? Object.keys(nestedRules[table] ?? {}).sort()]);
  }
});

it('a content of a process is read by its bytes, and known by their fingerprint', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  const given = { kind: 'svg', encoding: 'utf-8', text: svg, original: null, size: svg.length };
  const id = contentId('svg', 'utf-8', Buffer.from(svg));
  const refused = async (content: Parameters<typeof recheckContent>[0]) =>
    await recheckContent(content).then(
      () => [],
      ({ errors }) => errors.map(({ field, code }: FieldError) => `${field} ${code}`),
    );
  expect(await refused({ ...given, id })).toEqual([]);
  expect(await refused({ ...given, id, text: `${svg} ` })).toEqual(['id checksum']);
  expect(await refused({ ...given, id, size: 1 })).toEqual(['size out_of_range']);
  expect(await refused({ ...given, id, original: Buffer.from(svg) })).toEqual(['text encoding']);
  const xml = chain({ a: 'Ä' }).replace('UTF-8', 'UTF-16');
  const original = Buffer.from(`\uFEFF${xml}`, 'utf16le');
  const other = {
    ...{ kind: 'bpmn', encoding: 'utf-16le', text: `\uFEFF${xml}`, original, size: original.length },
    id: contentId('bpmn', 'utf-16le', original),
  };
  expect(await refused(other)).toEqual([]);
  expect(await refused({ ...other, text: xml })).toEqual(['text encoding']);
  const names = { card_names: { '00000000-0000-4000-8000-000000000001': null } };
  expect(nestedErrors(nestedRules.diagram_drawings!, names as never)).toEqual([]);
});

describe('what is nested in a row', () => {
  const cases: [string, object, string[]][] = [
    ['bookmarks', { filters: { types: 'Application' } }, ['filters.types wrong_type']],
    ['bookmarks', { filters: { nothing: 1 } }, ['filters.nothing unknown_field']],
    ['bookmarks', { sort: { field: 'name', direction: 'up' } }, ['sort.direction wrong_type']],
    ['bookmarks', { columns: [7] }, ['columns.0 wrong_type']],
    ['bookmarks', { filters: { tagIds: ['x'] } }, ['filters.tagIds.0 wrong_type']],
    ['bookmarks', { shared_with: [{ user_id: 'me' }] }, ['shared_with.0.user_id wrong_type']],
    ['saved_reports', { config: [] }, ['config wrong_type']],
    ['saved_reports', { config: { a: 'x'.repeat(100_000) } }, ['config too_long']],
    ['surveys', { fields: [{ key: 'a', action: 'delete' }] }, ['fields.0.action wrong_type']],
    [
      'surveys',
      { target_filters: { attribute_filters: [{ key: 'a', op: 'like' }] } },
      ['target_filters.attribute_filters.0.op wrong_type'],
    ],
    ['survey_responses', { responses: { a: { confirmed: 'yes' } } }, ['responses.a.confirmed wrong_type']],
    ['web_portals', { card_config: { indexed: 1 } }, ['card_config.indexed wrong_type']],
    ['web_portals', { filters: { owner: 'me' } }, ['filters.owner unknown_field']],
    ['diagrams', { settings: 'wide' }, ['settings wrong_type']],
    ['adrs', { consulted: [{}] }, ['consulted.0 wrong_type']],
    ['adrs', { signatories: [{ user_id: null }] }, ['signatories.0.user_id wrong_type']],
    ['soaws', { version_history: [{ date: '2026-02-30' }] }, ['version_history.0.date wrong_type']],
    ['soaws', { sections: { '9.1': { content: '' } } }, ['sections.9.1 unknown_field']],
    [
      'soaws',
      { sections: { '1.1': { content: '<script>x</script>' } } },
      ['sections.1.1.content unsafe_html'],
    ],
    [
      'soaws',
      { sections: { '1.1': { content: '<p onclick="x">a</p>' } } },
      ['sections.1.1.content unsafe_html'],
    ],
    ['process_assessments', { action_items: [{ text: {} }] }, ['action_items.0.text wrong_type']],
    ['process_element_links', { custom_fields: { a: 'x'.repeat(20_000) } }, ['custom_fields too_long']],
    ['tag_groups', { restrict_to_types: 'Application' }, ['restrict_to_types wrong_type']],
    ['roles', { permissions: { 'inventory.view': 'yes' } }, ['permissions.inventory.view wrong_type']],
    [
      'stakeholder_role_definitions',
      { permissions: { 'no.such': true } },
      ['permissions.no.such unknown_permission'],
    ],
    [
      'resource_types',
      { translations: { label: { nonsense_tag: 'x' } } },
      ['translations.label.nonsense_tag bad_language'],
    ],
    ['assessments', { session_data: { phase: 9 } }, ['session_data.phase wrong_type']],
    [
      'reference_catalogues',
      {
        nodes: [{ id: 'A', parent_id: null, level: 2, names: { en: 'A' }, descriptions: {}, industry: 'x' }],
      },
      ['nodes.0.level wrong_level'],
    ],
    [
      'reference_catalogues',
      {
        nodes: [
          {
            ...{ id: 'A', parent_id: null, level: 1, names: { en: 'A' }, descriptions: {}, industry: 'x' },
            ...{ aliases: ['B'], notes: { en: 'N' }, is_deprecated: true, capability_ids: ['BC-1'] },
          },
        ],
      },
      [],
    ],
  ];
  it.each(cases)('of %s: %j', (table, row, expected) => {
    expect(
      nestedErrors(nestedRules[table]!, row as never).map(({ field, code }) => `${field} ${code}`),
    ).toEqual(expected);
  });

  it('of types, as deep as it goes', () => {
    const type = {
      key: 'T',
      label: 'T',
      subtypes: [],
      section_config: {},
      translations: {},
      fields_schema: [{ section: 'S', fields: [{ key: 'a', label: 'A', type: 'text', weight: 1 }] }],
    };
    const fieldsOf = (row: object) => cardTypeErrors({ ...type, ...row } as never).map(({ field }) => field);
    expect(fieldsOf({})).toEqual([]);
    const field = (more: object) => ({
      fields_schema: [{ section: 'S', fields: [{ ...type.fields_schema[0]!.fields[0], ...more }] }],
    });
    expect(fieldsOf(field({ formula: '1' }))).toEqual(['fields_schema.0.fields.0.formula']);
    expect(fieldsOf(field({ type: 'blob' }))).toEqual(['fields_schema.0.fields.0.type']);
    expect(fieldsOf(field({ options: [{ key: 'x', label: 'X', color: 'url(x)' }] }))).toEqual([
      'fields_schema.0.fields.0.options.0.color',
    ]);
    const relation = {
      key: 'r',
      label: 'R',
      source_type_key: 'T',
      target_type_key: 'T',
      attributes_schema: [],
      translations: { label: { xx_yy: 'R' } },
    };
    expect(relationTypeErrors(relation as never, new Set(['T'])).map(({ field }) => field)).toEqual([
      'translations.label.xx_yy',
    ]);
  });
});

it('is named in the preview by line and field, and nothing of the row is written', async () => {
  let amiss = change(parts, 'bookmarks', 2, { filters: { types: [7] } });
  amiss = change(amiss, 'soaws', 1, { sections: { '1.1': { content: '<img src=x onerror=alert(1)>' } } });
  const id = '00000000-0000-4000-8000-000000000001';
  amiss = change(amiss, 'web_portals', 1, { id, slug: 'q', display_fields: { a: 1 } });
  amiss = change(amiss, 'surveys', 1, { fields: [{ key: 'businessCriticality', evil: true }] });
  amiss = change(amiss, 'saved_reports', 1, { config: 'all' });
  amiss = change(amiss, 'adrs', 1, { consulted: 'Ann' });
  const { status, diff } = await preview(t, amiss);
  expect([status, diff!.totals]).toMatchObject(['previewed', { create: 0, update: 0, conflict: 6 }]);
  expect(diff!.conflicts.map(({ kind, line, field, code }) => `${kind} ${line} ${field} ${code}`)).toEqual(
    expect.arrayContaining([
      'bookmarks 2 filters.types.0 wrong_type',
      'soaws 1 sections.1.1.content unsafe_html',
      'web_portals 1 display_fields wrong_type',
      'surveys 1 fields.0.evil unknown_field',
      'saved_reports 1 config wrong_type',
      'adrs 1 consulted wrong_type',
    ]),
  );
});

it.each([
  ['cost_field display_fields.1', { display_fields: ['tags', 'attributes.costTotalAnnual'] }],
  ['cost_field card_config.sort_by', { card_config: { sort_by: 'attributes.costTotalAnnual' } }],
  ['not_public filters.filter', { filters: { filter: 'not attributes.costTotalAnnual > 5' } }],
  ['not_public filters.filter', { filters: { filter: 'stakeholder is empty' } }],
  ['not_public filters.filter', { filters: { filter: 'stakeholder = me' } }],
  ['not_public filters.filter', { filters: { filter: 'name = "x" or updated_by is empty' } }],
  [undefined, { display_fields: ['attributes.none'], filters: { filter: 'attributes.none = 1' } }],
])('a portal that would show or filter by what is not public is skipped: %s', async (expected, values) => {
  const id = '00000000-0000-4000-8000-000000000002';
  const { diff } = await preview(t, change(parts, 'web_portals', 1, { id, slug: 'r', ...values }));
  const skipped = diff!.conflicts.map(({ kind, line, field, code }) => `${kind} ${line}: ${code} ${field}`);
  expect(skipped).toEqual(expected === undefined ? [] : [`web_portals 1: ${expected}`]);
});

it('what is nested too deep, or reaches for a prototype, is no archive', async () => {
  const raw = (json: string) =>
    rewrite(parts, 'content/saved_reports.ndjson', ([row]) => [
      row!.replace(/"config":\{[^}]*\}/, `"config":${json}`),
    ]);
  const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;
  const abyss = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  for (const [json, reason] of [
    [deep, /^Line 1 of saved_reports cannot be stored: config\.a\..* is nested too deep/],
    [`{"a":${abyss}}`, /nested too deep|is no JSON object|cannot be stored/],
    ['{"x":{"__proto__":{"isAdmin":true}}}', /config\.x\.__proto__ is no name for a member/],
  ] as const) {
    const { status, diff, error_message } = await preview(t, raw(json));
    expect([status, diff]).toEqual(['failed', null]);
    expect(error_message).toMatch(reason);
  }
  expect(await db('saved_reports').pluck('config')).toEqual([{ by: ['vendor'] }]);
});
