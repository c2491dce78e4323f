import { startWorkers } from '../../../../workers/runtime.ts';
import { archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  onEmptyService,
  type Parts,
  pack,
  unpack,
  uploadArchive,
} from '../../../support/archives.ts';
import { closeAfterAll, createTestApp } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestApp());
closeAfterAll(await startWorkers(t.services));
const admin = await t.as('admin');
const member = await t.as('member');
const make = async (path: string, body: object): Promise<string> => {
  const { status, text, body: made } = await admin.post(`/api/v1/${path}`, body);
  expect(status, text).toBe(201);
  return made.id;
};
const card = await make('cards', { type: 'Application', name: 'Billing' });
const shared_with = [{ user_id: member.userId, can_edit: true }];
await make('bookmarks', { name: 'A', card_type: 'Application', visibility: 'shared', shared_with });
await make('bookmarks', { name: 'B' });
await make('saved-reports', {
  name: 'R',
  report_type: 'cost',
  config: {},
  visibility: 'shared',
  shared_with: [{ user_id: member.userId, can_edit: true }],
});
await make('saved-reports', { name: 'S', report_type: 'cost', config: {} });
await make('web-portals', { name: 'P', slug: 'p', card_type: 'Application' });
await make('surveys', {
  name: 'Q',
  target_type_key: 'Application',
  target_roles: ['responsible'],
  fields: [{ key: 'businessCriticality' }],
});
await make('adr', { title: 'D' });
await make('soaw', { name: 'W' });
await make('diagrams', { name: 'Map', visibility: 'shared', shared_with });
for (const description of ['One', 'Two', 'Three']) await make(`cards/${card}/todos`, { description });
await make(`cards/${card}/documents`, {
  name: 'Manual',
  url: 'https://estate.example/manual',
  type: 'documentation',
});
await make(`cards/${card}/comments`, { content: `Ask @[M](user:${member.userId})` });
await make(`cards/${card}/comments`, { content: 'No' });
const parts = await unpack(await exportArchive(t.services, await t.ctx()));

const NOBODY = '00000000-0000-4000-8000-00000000dead';

/** The archive with the values in a line of a table. */
const change = (from: Parts, table: string, line: number, values: object): Parts =>
  changeRows(from, table, (_, n) => (n === line - 1 ? values : undefined));

it('skips rows with values that single writes refuse, each with its column and the reason', async () => {
  const faults: [table: string, line: number, values: object, reason: string][] = [
    ['card_types', 1, { icon: 'x'.repeat(101) }, 'icon too_long: icon has more than 100 characters'],
    [
      'card_types',
      2,
      { sort_order: -1 },
      'sort_order out_of_range: sort_order must lie between 0 and 1000000',
    ],
    ['bookmarks', 1, { card_type: 'Ghost' }, 'card_type unknown_type: card_type is no card type'],
    [
      'saved_reports',
      1,
      { report_type: 'ghost' },
      'report_type unknown_option: report_type is none of portfolio',
    ],
    ['saved_reports', 2, { thumbnail: 'javascript:alert(1)' }, 'thumbnail format: thumbnail must match'],
    ['web_portals', 1, { card_type: 'Ghost' }, 'card_type unknown_type: card_type is no card type'],
    [
      'surveys',
      1,
      { target_type_key: 'Ghost' },
      'target_type_key unknown_type: target_type_key is no card type',
    ],
    ['adrs', 1, { number: 0 }, 'number out_of_range: number must be at least 1'],
    ['soaws', 1, { revision_number: -5 }, 'revision_number out_of_range: revision_number must be at least 1'],
    ['todos', 1, { link: 'javascript:alert(1)' }, 'link format: link must match'],
    ['todos', 2, { link: '//evil.example' }, 'link format: link must match'],
    [
      'todos',
      3,
      { lead_time_days: -1 },
      'lead_time_days out_of_range: lead_time_days must lie between 0 and 3650',
    ],
    ['documents', 1, { type: 'ghost' }, 'type unknown_value: type is no link type'],
    ['comments', 1, { mentions: [null] }, 'mentions wrong_type: mentions is no list'],
    ['comments', 2, { content: ' ' }, 'content required: content must not be blank'],
  ];
  let broken = parts;
  for (const [table, line, values] of faults) broken = change(broken, table, line, values);
  await onEmptyService(async (other) => {
    const found = (await preview(other, broken)).diff!.conflicts.map(
      ({ kind, line, field, code, message }) => `${kind} ${line} ${field} ${code}: ${message}`,
    );
    const expected = faults.map(([table, line, , reason]) =>
      expect.stringContaining(`${table} ${line} ${reason}`),
    );
    expect(found.toSorted()).toEqual(
      expected.toSorted((a, b) => (String(a.sample) < String(b.sample) ? -1 : 1)),
    );
  });
});

it('removes users from lists who exist neither here nor in the archive, and retains the others', async () => {
  let stale = change(parts, 'bookmarks', 1, {
    shared_with: [...archiveRows(parts, 'bookmarks')[0]!.shared_with, { user_id: NOBODY, can_edit: false }],
  });
  stale = change(stale, 'saved_reports', 2, { shared_with: [NOBODY], editors: [NOBODY] });
  stale = change(stale, 'diagrams', 1, { shared_with: [{ user_id: NOBODY, can_edit: true }] });
  stale = change(stale, 'comments', 2, { mentions: [NOBODY] });
  const archive = await pack(stale);
  await onEmptyService(async (other) => {
    const { id, diff } = await uploadArchive(other.services, await other.ctx(), archive);
    expect(diff!.totals.conflict).toBe(0);
    await applyArchive(await other.ctx(), id);
    const db = other.services.db;
    const { job_id } = await db('workspace_transfers').where({ id }).first('job_id');
    const { row_count } = await db('mutation_batches').where({ id: job_id }).first('row_count');
    expect(row_count).toBe(diff!.totals.create + diff!.totals.update);
    const { id: user } = await db('users').where({ email: member.email }).first('id');
    expect(await db('bookmarks').orderBy('name').pluck('shared_with')).toEqual([
      [{ user_id: user, can_edit: true }],
      [],
    ]);
    expect(await db('saved_reports').orderBy('name').pluck('shared_with')).toEqual([[user], []]);
    expect(await db('saved_reports').orderBy('name').pluck('editors')).toEqual([[user], []]);
    expect(await db('diagrams').pluck('shared_with')).toEqual([[]]);
    expect(await db('comments').orderBy('id').pluck('mentions')).toEqual([[user], []]);
    const again = await uploadArchive(other.services, await other.ctx(), archive);
    expect(again.diff!.totals).toMatchObject({ create: 0, update: 0, conflict: 0 });
  });
});
