import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { loadDemo } from '../../../../domain/app/demo/demo.load.ts';
import type { TripFormat, Workspace } from '../../../support/round-trip.ts';
import { carryOver, openWorkspace, storedValues } from '../../../support/round-trip.ts';

/** Texts that spreadsheets, parsers, terminals and databases have stumbled over. */
const hostile = [
  '=SUM(A1)',
  "'=already guarded",
  "''+1",
  '-1',
  '@cmd',
  '\tindented',
  'two\r\nlines',
  'old\rMac',
  '"quoted"',
  '""',
  ',;\t',
  ' blanks at both ends ',
  '\\',
  '\\;',
  'a\\;b;c',
  'A / B \\/ C',
  '漢字 Größe العربية \u202eright to left\u202c',
  'e\u0301 is not é',
  '👩‍👩‍👧‍👦 family',
  '\u0000'.slice(1),
  '\u0001\u001f\u007f\u0085\u2028\u2029\ufeff',
  '\ufffe\uffff',
  '__proto__',
  'null',
  'true',
  '1e308',
  '-0',
  '2024-02-30',
  '%00%0a',
  "'; drop table cards; --",
  '<script>alert(1)</script>',
  '{{7*7}}$' + '{7*7}',
  'x'.repeat(490),
];

const anyText = fc.oneof(
  fc.constantFrom(...hostile.filter((text) => text.trim() !== '')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc
    .array(fc.constantFrom(...'=+-@\'" ,;\\/\t\r\n\u00a0e\u0301'), { minLength: 1, maxLength: 12 })
    .map((all) => all.join('')),
);
const storable = (text: string) => !text.includes('\0') && text.isWellFormed() && text.trim() !== '';
const text = anyText.filter(storable);
/** A name or an alias is one line. */
const oneLine = text.filter((value) => !/[\p{Cc}\u2028\u2029]/u.test(value));

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const application = fc.record(
  {
    alias: optional(oneLine),
    description: optional(text),
    subtype: optional(fc.constantFrom('businessApplication', 'microservice', 'aiAgent')),
    lifecycle: optional(
      fc.constantFrom({ plan: '2020-02-29' }, { active: '2021-01-01', endOfLife: '2031-12-31' }),
    ),
    attributes: optional(
      fc.record(
        {
          costTotalAnnual: fc.oneof(
            fc.constantFrom(0, -0, 0.1, 1e15, 123456.789, 1e-7),
            fc.double({ min: 0, max: 1e12, noNaN: true }),
          ),
          commercialApplication: fc.boolean(),
          businessCriticality: fc.constantFrom('missionCritical', 'businessCritical'),
        },
        { requiredKeys: [] },
      ),
    ),
    status: optional(fc.constantFrom('ACTIVE', 'ARCHIVED')),
    approval_status: optional(fc.constantFrom('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN')),
    tags: optional(fc.subarray(['Hostile\\/; group/=One', 'Hostile\\/; group/Two; three', 'Plain/Four\\\\'])),
    stakeholders: optional(fc.subarray(['responsible:ann@estate.example', 'observer:bob@estate.example'])),
  },
  { requiredKeys: [] },
);

let source: Workspace;

async function expectSame(from: Workspace, format: TripFormat): Promise<void> {
  const to = await openWorkspace();
  try {
    const { files, faults } = await carryOver(from, to, format);
    expect(faults).toEqual([{}, {}]);
    expect(await storedValues(to)).toEqual(await storedValues(from));
    for (const kind of ['cards', 'relations'] as const)
      expect(await to.exported(kind, format), kind).toBe(files[kind]);
  } finally {
    await to.close();
  }
}

describe('a workspace of hostile texts', () => {
  beforeAll(async () => {
    source = await openWorkspace();
    const { db } = source.t.services;
    await db.raw(`
       with g as (insert into tag_groups (name) values ('Hostile/; group'), ('Plain') returning id, name)
       insert into tags (tag_group_id, name)
       select g.id, t.name from g join (values ('Hostile/; group', '=One'), ('Hostile/; group', 'Two; three'),
         ('Plain', 'Four\\')) t(of, name) on t.of = g.name;
       insert into users (email, display_name, role) values
         ('ann@estate.example', 'Ann', 'member'), ('bob@estate.example', 'Bob', 'member')`);
    const rows = fc
      .sample(fc.tuple(oneLine, application), { numRuns: 150, seed: 20_260 })
      .map(([name, more], n) => ({
        type: 'Application',
        external_id: n % 3 === 0 ? undefined : `A-${n}`,
        name: `${name} ${n}`,
        ...more,
      }));
    const components = hostile
      .filter((value) => storable(value) && !/[\p{Cc}\u2028\u2029]/u.test(value))
      .map((name, n) => ({
        type: 'ITComponent',
        external_id: name.slice(0, 200),
        name,
        description: hostile.at(-1 - n),
      }));
    const tree = [
      {
        type: 'BusinessCapability',
        external_id: 'C-1',
        name: 'A / B \\ C',
        attributes: { capabilityLevel: 'Macro' },
      },
      { type: 'BusinessCapability', external_id: 'C-2', name: '=root', parent_external_id: 'C-1' },
      { type: 'BusinessCapability', name: 'Keyless', parent_path: ['A / B \\ C', '=root'] },
      {
        type: 'BusinessCapability',
        external_id: 'C-4',
        name: 'Gone',
        parent_external_id: 'C-2',
        status: 'ARCHIVED',
      },
    ];
    const { faults } = await source.importer.run([...tree, ...components, ...rows]);
    // what no single write takes either: blanks are cut, names of siblings must differ
    expect(
      Object.values(faults)
        .flat()
        .filter((fault) => !/duplicate_in_file|sibling_name_taken/.test(fault)),
    ).toEqual([]);
    const { rows: apps } = await db.raw(`select id, status from cards where type = 'Application'
        order by id`);
    const { rows: parts } = await db.raw(`select id from cards where type = 'ITComponent' order by id`);
    const related = await source.importer.run(
      fc
        .sample(
          fc.record({ description: optional(text), costTotalAnnual: optional(fc.constantFrom(0.1, 7, 1e9)) }),
          { numRuns: 80, seed: 7 },
        )
        .map(({ description, costTotalAnnual }, n) => ({
          type: 'relAppToITC',
          source_id: apps.filter(({ status }: { status: string }) => status === 'ACTIVE')[n % 50].id,
          target_id: parts[n % parts.length].id,
          description,
          ...(costTotalAnnual === undefined ? {} : { attributes: { costTotalAnnual } }),
        })),
      { kind: 'relations', mode: 'upsert' },
    );
    expect(related.job.counts!.created).toBeGreaterThan(40);
    // a related card that is archived later takes its relations with it
    await db.raw(`update cards set status = 'ARCHIVED', archived_at = now() where id in (select source_id
        from relations limit 5)`);
  });
  afterAll(() => source.close());

  it.each(['csv', 'ndjson'] as const)('is the same to the byte after a round trip as %s', (format) =>
    expectSame(source, format),
  );
});

describe('the demo landscape', () => {
  beforeAll(async () => {
    source = await openWorkspace();
    await loadDemo(source.ctx, '2026-01-15');
  });
  afterAll(() => source.close());

  it.each(['csv', 'ndjson'] as const)('is the same to the byte after a round trip as %s', (format) =>
    expectSame(source, format),
  );
});

/** A folder of real inventories as CSV, each `<name>.cards.csv` with or without `<name>.relations.csv`. */
const folder = process.env.ROUND_TRIP_DIR;

it.each(folder ? (['csv', 'ndjson'] as const) : [])(
  'the inventories of ROUND_TRIP_DIR are the same to the byte after a round trip as %s',
  async (format) => {
    const from = await openWorkspace();
    try {
      const files = (await readdir(folder!)).filter((name) => name.endsWith('.csv')).sort();
      for (const kind of ['cards', 'relations'] as const) {
        for (const name of files.filter((each) => each.endsWith(`.${kind}.csv`))) {
          const content = await readFile(path.join(folder!, name), 'utf8');
          const { job } = await from.importer.run(content, { kind, mode: 'upsert' });
          console.info(name, JSON.stringify(job.counts));
        }
      }
      await expectSame(from, format);
    } finally {
      await from.close();
    }
  },
  600_000,
);
