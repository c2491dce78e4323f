import { fullSnapshot } from '../../domain/exchange/migration/workbook.ts';
import { ok, pluck } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { tellAll } from '../../support/notifications.ts';
import { until } from '../../support/until.ts';
import { workbook } from '../../support/workbook.ts';
import expectedComments from './migration.attached.comments.json' with { type: 'json' };
import sheets from './migration.attached.sheets.json' with { type: 'json' };
import { openMigrations, recordsAs, url } from './migration.fixture.ts';

const { t, db, admin, actions, applied, errorsOf, mapped, records, settled, staged, upload } =
  await openMigrations();
await db('users').insert({ email: 'ann@estate.example', display_name: 'Ann', role: 'member' });

const idOf = async (key: string): Promise<string> =>
  (await db('cards').where({ external_id: key }).first('id')).id;
const eventsOf = async (batch: string, kind: string) =>
  await db('events').where({ batch_id: batch, event_type: kind }).orderBy('position');
const attachments = async () => {
  const { rows } = await db.raw(`select (select count(*) from documents)::int as links, (select count(*)
      from comments)::int as comments`);
  return rows[0];
};

it('tells those who brought it that a migration was read, applied or has failed', async () => {
  const table = { source_key: 'sheet', fileName: 'Platforms.csv', name: 'Small' };
  await applied((await staged('id,name\nT-1,Told', table)).id);
  const { body: broken } = await upload('no workbook at all', { name: 'Broken' });
  await untilStatus(t.services, broken.job_id, 'failed');
  await until('the news to be told', async () => {
    await tellAll(t.services);
    return (await db('notifications').where({ type: 'migration_ended' })).length === 3;
  });
  const { items } = (await admin.get('/api/v1/notifications?sort_dir=asc')).body;
  expect(
    items.map(({ title, message }: { title: string; message: string }) => `${title}: ${message}`),
  ).toEqual([
    'The migration Small can be looked at: Its file was read, and nothing is written yet.',
    'The migration Small was applied: 1 of 1 records were written, 0 could not be.',
    expect.stringMatching(/^The migration Broken has failed: The file cannot be read: /),
  ]);
});

describe('a full snapshot', () => {
  let id: string;

  it('shows its relations with their values, its links and its comments', async () => {
    id = (await staged(await workbook(fullSnapshot))).id;
    expect(await actions(id)).toEqual({
      Suite: 'create',
      Payroll: 'create',
      'New suite': 'create',
      Gone: 'skip: is archived in the source',
      PostgreSQL: 'create',
      Redis: 'create',
      Sales: 'create',
    });
    expect(await actions(id, 'metamodel_type')).toEqual({
      ...Object.fromEntries(
        Object.keys(fullSnapshot)
          .filter((sheet) => sheet !== 'ReadMe')
          .map((sheet) => [sheet, 'skip']),
      ),
      TagGroups: 'skip: describes the source workspace: 1 row',
      Tags: 'skip: describes the source workspace: 1 row',
      Types: 'skip: describes the source workspace: 2 rows',
    });
    const relations = Object.fromEntries(
      (await records(id, 'relation')).map(({ source_id, action, error_message }) => [
        source_id,
        error_message ? `${action}: ${error_message}` : action,
      ]),
    );
    expect(relations).toEqual({
      'r-1': 'skip: is applied as the parent of its card',
      'r-2': expect.stringMatching(/^conflict: source: “Nobody”: there is no such Application/),
      'r-3': 'conflict: an earlier row names another parent',
      'r-4': 'create',
      'r-5': 'create',
      'r-6': expect.stringMatching(/^conflict: target: “Oracle”: there is no such ITComponent/),
      'r-7': 'skip: is archived in the source',
      'r-8': 'skip: one of its cards is left out',
      'r-9': 'create',
      'r-10': 'create',
    });
    const [, , , stores, bad] = await records(id, 'relation');
    expect(stores.diff).toEqual({
      description: { old: null, new: 'Stores all' },
      'attributes.costTotalAnnual': { old: null, new: 900.5 },
    });
    // no message contains values of costs, not even the reason why one is invalid
    expect(bad.left_out).toEqual([{ field: 'costTotalAnnual', code: 'wrong_type', message: 'is no number' }]);
    expect(await actions(id, 'tag')).toEqual({ EMEA: 'create', APAC: 'create' });
    expect(await actions(id, 'subscription')).toEqual({ 'Suite: responsible ann@estate.example': 'create' });
  });

  it('tells of each link and comment what would become of it, and why', async () => {
    expect(await actions(id, 'document')).toEqual({
      Runbook: 'create',
      Contract: 'conflict: url: must be an address with http, https or mailto',
      Scan: 'conflict: has no address: the contents of files are not in the source',
      'Runbook again': 'skip: another row has the same content',
      '=cmd()': 'create',
      Farewell: 'skip: its card is left out',
      'Wrong kind': 'conflict: card_type: “Widget” is no card type',
    });
    const [runbook, , , , formula] = await records(id, 'document');
    expect(runbook).toMatchObject({
      sheet: 'Documents',
      row: 3,
      status: 'pending',
      left_out: [],
      diff: {
        name: { old: null, new: 'Runbook' },
        url: { old: null, new: 'https://wiki.example.com/suite' },
        type: { old: null, new: 'documentation' },
      },
    });
    expect(formula.left_out).toEqual([
      { field: 'documentType', code: 'unknown_option', message: '“curiosity” is no link type' },
    ]);
    expect(await actions(id, 'comment')).toEqual({
      'Suite: When does it end?': 'skip: another row has the same content',
      'Suite: In March.': 'create',
      'Suite: Thank you.': 'create',
      'Suite: From the future': 'create',
      'Nowhere: Lost': expect.stringMatching(/^conflict: card: “Nowhere”/),
      'Nowhere: Also lost': 'conflict: the comment that it replies to is not imported',
    });
    expect(await attachments()).toEqual({ links: 0, comments: 0 });
    const lines = await errorsOf(id);
    expect(lines.filter((line) => line.includes('Contract'))[0]).toContain('must be an address');
    expect(lines.filter((line) => line.includes("'=cmd()"))[0]).toContain('left out: “curiosity”');
  });

  it('shows costs of relations to those alone who may see them, and needs the rights to write what it holds', async () => {
    const permissions = { 'admin.migrate': true, 'inventory.create': true, 'inventory.edit': true };
    await db('roles').insert({ key: 'mover', label: 'Mover', permissions });
    await db.raw("select record_events('[]'::jsonb, '{roles}'::text[])");
    const mover = await t.as('mover');
    const [, , , stores] = await recordsAs(mover, id, 'relation');
    expect(stores.diff).toEqual({ description: { old: null, new: 'Stores all' } });
    const lacks: string[] = [];
    const kinds = ['relations', 'tags', 'stakeholders', 'costs', 'documents', 'comments'];
    const needed = kinds.map((kind) => `${kind}.${kind === 'costs' ? 'view' : 'manage'}`);
    for (const next of needed) {
      const refused = await mover.post(`${url}/${id}/apply`);
      expect(refused.status).toBe(403);
      lacks.push(refused.body.detail.match(/[a-z_]+\.[a-z_]+/)[0]);
      Object.assign(permissions, { [next]: true });
      await db('roles').where({ key: 'mover' }).update({ permissions });
      await db.raw("select record_events('[]'::jsonb, '{roles}'::text[])");
    }
    expect(lacks).toEqual(needed);
  });

  it('offers what rows and their columns can be mapped to', async () => {
    const { blocks } = (await admin.get(`${url}/${id}/field-mappings`)).body;
    const block = (name: string) =>
      blocks.find(({ native_type }: { native_type: string }) => native_type === name);
    const standsFor = (name: string) => block(name).source_fields[0].mapped_to;
    expect(Object.keys(fullSnapshot).slice(1).map(standsFor)).toEqual([
      'Application',
      'ITComponent',
      'Organization',
      '$parents',
      'relations.relAppToITC',
      'relations.relOrgToApp',
      'relations.relAppSuccessor.reverse',
      null,
      null,
      '$documents',
      '$comments',
      null,
    ]);
    expect(block('Documents')).toMatchObject({ target_card_type: '', target_type_label: 'Links of cards' });
    expect(pluck(block('Comments').available_targets, 'key')).toEqual(
      expect.arrayContaining(['card', 'content', 'reply.author', '$documents', 'Application']),
    );

    const refused = await admin.put(`${url}/${id}/field-mappings`, {
      field_mappings: { Comments: { message: 'url' }, Tags: { $type: '$nothing' } },
    });
    expect(
      refused.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
    ).toEqual(['field_mappings.Comments.message unknown_target', 'field_mappings.Tags.$type unknown_type']);
    const again = await mapped(id, {
      Comments: { $type: '' },
      applicationITComponentRelation: { activeFrom: '' },
    });
    expect(again.stats.records.comment).toBeUndefined();
    await admin.put(`${url}/${id}/field-mappings`, { field_mappings: {} });
    expect((await settled(id)).stats.records.comment).toEqual({ create: 4, conflict: 2, skip: 1 });
  });

  it('is applied with all of it, each with its event, in one batch that can be undone', async () => {
    const done = await applied(id);
    expect(done.stats.records).toMatchObject({
      relation: { applied: 4 },
      document: { applied: 2 },
      comment: { applied: 4 },
    });
    const [suite, payroll] = [await idOf('app-1'), await idOf('app-2')];
    expect((await admin.get(`/api/v1/cards/${payroll}`)).body.parent_id).toBe(suite);
    const relations = await t.services
      .db('relations')
      .where({ source_id: suite })
      .orWhere({ target_id: suite });
    const relation = (type: string) => relations.find((one) => one.type === type);
    expect(relation('relAppToITC')).toMatchObject({
      description: 'Stores all',
      attributes: { costTotalAnnual: 900.5 },
    });
    expect(relation('relOrgToApp').attributes).toEqual({ usageType: 'owner' });
    // the successor succeeds
    expect(relation('relAppSuccessor')).toMatchObject({ source_id: await idOf('app-3'), target_id: suite });

    const { items } = (await admin.get(`/api/v1/cards/${suite}/documents`)).body;
    expect(items).toMatchObject([
      { name: 'Runbook', url: 'https://wiki.example.com/suite', type: 'documentation' },
    ]);
    expect((await admin.get(`/api/v1/cards/${suite}/comments`)).body.items).toMatchObject(expectedComments);
    expect(await eventsOf(done.job_id, 'document.added')).toHaveLength(2);
    expect(await eventsOf(done.job_id, 'comment.created')).toHaveLength(4);
    expect((await records(id, 'document'))[0]).toMatchObject({ status: 'applied', target_id: items[0].id });

    const tried = await ok(admin.post(`/api/v1/mutation-batches/${done.job_id}/rollback`, { dry_run: true }));
    expect(tried).toMatchObject({ conflicts: [] });
  });

  it('changes nothing when it comes again, and of relations what a newer one says otherwise', async () => {
    const before = await attachments();
    await admin.delete(`${url}/${id}`);
    const rows = structuredClone(fullSnapshot.applicationITComponentRelation!);
    rows[2]![7] = 1000;
    const newer = await staged(await workbook({ ...fullSnapshot, applicationITComponentRelation: rows }));
    expect(newer.stats.records).toMatchObject({
      card: { skip: 7 },
      document: { skip: 4, conflict: 3 },
      comment: { skip: 5, conflict: 2 },
      relation: { update: 1 },
    });
    const [update] = await records(newer.id, 'relation', '&action=update');
    expect(update.diff).toEqual({ 'attributes.costTotalAnnual': { old: 900.5, new: 1000 } });
    const done = await applied(newer.id);
    expect(await attachments()).toEqual(before);
    expect(await eventsOf(done.job_id, 'relation.updated')).toHaveLength(1);
    await admin.undo(done.job_id);
  });
});

it('any table may have rows of relations with values, and sheets of relations, links, comments', async () => {
  const made = await staged(await workbook(sheets), { source_key: 'sheet', fileName: 'all.xlsx' });
  await mapped(made.id, { 'Wiki pages': { $type: '$documents', Of: 'card', Page: 'url' } });
  const [, further] = await records(made.id);
  expect(further).toMatchObject({
    action: 'skip',
    error_message: 'adds relations to the card of an earlier row',
  });
  expect((await records(made.id))[3].error_message).toContain('row 4 of Applications has the same key');
  expect((await records(made.id))[2].left_out).toEqual([
    {
      field: 'relAppToITC:Annual Cost',
      code: 'which_relation',
      message: 'the row names several such relations',
    },
  ]);
  const relations = await records(made.id, 'relation');
  expect(
    relations.map(({ display_name, action, error_message }) => [display_name, error_message ?? action]),
  ).toEqual(
    expect.arrayContaining([
      ['X-2 → Disk', 'create'],
      ['Ledger → Disk', 'create'],
      ['X-2 → Disk', 'relation_type: “relNothing” is no relation type'],
      ['X-2 → X-1', 'create'],
      ['Ledger → X-8', 'another row has other values for it'],
      ['X-1 → X-9', 'create'],
      ['Archive → X-8', 'another row has the same content'],
    ]),
  );
  expect(await actions(made.id, 'document')).toMatchObject({
    'https://wiki.example.com/nothing': expect.stringMatching(/^conflict: card: “Nothing”/),
  });
  await applied(made.id);
  const values = await t.services
    .db('relations as r')
    .join('cards as s', 's.id', 'r.source_id')
    .join('cards as t', 't.id', 'r.target_id')
    .where('r.type', 'relAppToITC')
    .whereIn('t.external_id', ['X-8', 'X-9'])
    .orderBy(['s.name', 't.name'])
    .select('s.name as source', 't.name as target', 'r.attributes', 'r.description');
  expect(values).toEqual([
    { source: 'Archive', target: 'Disk', attributes: { costTotalAnnual: 5 }, description: null },
    { source: 'Archive', target: 'Tape', attributes: {}, description: null },
    { source: 'Ledger', target: 'Disk', attributes: { costTotalAnnual: 99 }, description: null },
    { source: 'Ledger', target: 'Tape', attributes: { costTotalAnnual: 13 }, description: 'second' },
  ]);
  expect(await db('documents').whereLike('url', '%wiki.example.com/%').orderBy('url').pluck('name')).toEqual(
    expect.arrayContaining(['https://wiki.example.com/ledger', 'https://wiki.example.com/tape']),
  );
});
