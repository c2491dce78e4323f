import { Readable } from 'node:stream';
import { attachFile } from '../../../domain/collaboration/files/files.attach.ts';
import { fileKinds } from '../../../domain/collaboration/files/files.types.ts';
import { systemCaller } from '../../../domain/kernel/context.ts';
import { storeContent } from '../../../domain/kernel/files/files.store.ts';
import { ok, openApp, pluck } from '../../support/harness.ts';
import { tablesOf } from '../../support/tables.ts';

const { t, db } = await openApp();
const [admin, viewer] = await t.clients('admin', 'viewer');

async function attachAll(card: string) {
  const attach = (items: string, values: object) => admin.create(`/api/v1/cards/${card}/${items}`, values);
  const stakeholder = await attach('stakeholders', { user_id: viewer.userId, role: 'responsible' });
  const root = await attach('comments', { content: `@[v](user:${viewer.userId})` });
  const reply = await attach('comments', { content: 'reply', parent_id: root.id });
  await attach('comments', { content: 'deeper', parent_id: reply.id });
  await attach('todos', {
    description: 'Do',
    due_date: '2026-01-31',
    recurrence_unit: 'months',
    assigned_to: viewer.userId,
  });
  await attach('documents', { name: 'Link', url: 'https://a.example' });
  const content = await storeContent(t.services.blobs, Readable.from([Buffer.from('text')]));
  const file = await attachFile(await t.ctx(systemCaller), card, content, {
    name: 'a.txt',
    kind: fileKinds.txt,
    category: null,
  });
  return { stakeholder, root, file };
}

it('everything that went with a deleted card comes back by its events, as it was', async () => {
  const app = await admin.card();
  const made = await attachAll(app.id);
  await ok(admin.delete(`/api/v1/comments/${made.root.id}`), 204);
  const [before, position] = [await tablesOf(db), await admin.position()];
  await ok(admin.delete(`/api/v1/cards/${app.id}`));
  const told = await admin.changes(position);
  expect(told.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
    'stakeholder.removed',
    'comment.deleted',
    'comment.deleted',
    'comment.deleted',
    'todo.deleted',
    'document.removed',
    'file.deleted',
    'card.deleted',
  ]);
  expect((await admin.undo()).left).toEqual([]);
  expect(await tablesOf(db)).toEqual(before);
  const download = await admin.get(`/api/v1/file-attachments/${made.file.id}/download`);
  expect([download.status, download.text]).toEqual([200, 'text']);
});

it('a deletion that cannot be undone says why', async () => {
  const app = await admin.card();
  const made = await attachAll(app.id);
  /** Why the last write to an object cannot be undone. */
  const refusal = async (id: string) => {
    const events = db('events').where('data', '@>', { id }).orderBy('position', 'desc');
    const url = `/api/v1/mutation-batches/${(await events.first('batch_id')).batch_id}/rollback`;
    const { left } = await ok(admin.post(url, { dry_run: false, force: true }));
    return pluck(
      left.filter((one: { id: string }) => one.id === id),
      'code',
    );
  };
  await ok(admin.delete(`/api/v1/file-attachments/${made.file.id}`), 204);
  await db('files').whereNotNull('expires_at').delete();
  expect(await refusal(made.file.id)).toEqual(['content_purged']);

  const comments = `/api/v1/cards/${app.id}/comments`;
  const asked = await admin.create(comments, { content: 'asked' });
  await admin.create(comments, { content: 'answered', parent_id: asked.id });
  expect(await refusal(asked.id)).toEqual(['has_replies']);

  await ok(admin.delete(`/api/v1/stakeholders/${made.stakeholder.id}`), 204);
  await ok(admin.delete(`/api/v1/cards/${app.id}`));
  expect(await refusal(made.stakeholder.id)).toEqual(['missing_card']);
});
