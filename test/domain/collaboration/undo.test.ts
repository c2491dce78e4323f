import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { undoSpecs } from '../../../domain/app/resources.ts';
import { eventRow } from '../../../domain/collaboration/event.rows.ts';
import { attachFile } from '../../../domain/collaboration/files/files.attach.ts';
import { fileKinds } from '../../../domain/collaboration/files/files.types.ts';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import { command } from '../../../domain/kernel/command.ts';
import { systemCaller } from '../../../domain/kernel/context.ts';
import { storeContent } from '../../../domain/kernel/files/files.store.ts';
import { insertRows, type RowModel, updateRow } from '../../../domain/kernel/resources/rows.ts';
import type { UndoneEvent } from '../../../domain/kernel/undo/undo.types.ts';
import { make } from '../../api/cards/write.fixture.ts';
import { closeAfterAll, createTestApp, ok } from '../../support/harness.ts';

const t = closeAfterAll(await createTestApp());
const [admin, viewer] = await t.clients('admin', 'viewer');

const newest = async (): Promise<number> =>
  (await t.services.db('events').max('position as p').first())!.p ?? 0;

/** The attached rows of all cards, but for when they were changed. */
async function attached(): Promise<unknown> {
  const tables = ['stakeholders', 'comments', 'todos', 'documents', 'file_attachments'];
  const parts = tables.map(
    (name) => `(select coalesce(jsonb_agg(to_jsonb(t) - 'updated_at' order by id), '[]') from ${name} t)`,
  );
  const { rows } = await t.services.db.raw(
    `select jsonb_build_array(${parts.join(', ')},
       (select coalesce(jsonb_agg(jsonb_build_array(id, expires_at is null) order by id), '[]') from files),
       (select coalesce(jsonb_agg(jsonb_build_array(id, data_quality) order by id), '[]') from cards)) as state`,
  );
  return rows[0].state;
}

/** Undoes what was told after a position, backwards, card rows by the values that their deletion told. */
async function undoAfter(position: number): Promise<(string | undefined)[]> {
  const events = await t.services.db('events').where('position', '>', position).orderBy('position', 'desc');
  const ctx = await t.ctx(systemCaller);
  const codes: (string | undefined)[] = [];
  await command(ctx, async (work) => {
    for (const event of events) {
      const undone: UndoneEvent = { ...event, id: event.data.id };
      if (event.event_type === 'card.deleted') {
        const { name, type } = event.data;
        const { data_quality, approval_status } = event.data.changes;
        await insertRows<RowModel>(work.sql, Card, [
          {
            id: undone.id,
            name,
            type,
            data_quality: data_quality?.old ?? 0,
            approval_status: approval_status.old,
          },
        ]);
        continue;
      }
      const spec = undoSpecs.find(({ events }) => Object.values(events).flat().includes(event.event_type));
      if (event.event_type.startsWith('card.') || !spec) continue;
      if (spec.undo) codes.push((await spec.undo(work, ctx, undone))?.code);
      else if (spec.events.created?.includes(event.event_type)) {
        await work.sql(spec.model!.tableName).where({ id: undone.id }).delete();
      } else if (spec.events.deleted?.includes(event.event_type)) {
        await insertRows<RowModel>(work.sql, spec.model!, [eventRow(undone, 'old')]);
      } else {
        const { id: _, ...values } = eventRow(undone, 'old');
        await updateRow<RowModel>(work.sql, spec.model!, { id: undone.id }, values);
      }
    }
  });
  return codes;
}

async function attachAll(card: string) {
  const url = `/api/v1/cards/${card}`;
  const stakeholder = await ok(
    admin.post(`${url}/stakeholders`, { user_id: viewer.userId, role: 'responsible' }),
    201,
  );
  const root = await ok(admin.post(`${url}/comments`, { content: `@[v](user:${viewer.userId})` }), 201);
  const reply = await ok(admin.post(`${url}/comments`, { content: 'reply', parent_id: root.id }), 201);
  await ok(admin.post(`${url}/comments`, { content: 'deeper', parent_id: reply.id }), 201);
  const todo = await ok(
    admin.post(`${url}/todos`, {
      description: 'Do',
      due_date: '2026-01-31',
      recurrence_unit: 'months',
      assigned_to: viewer.userId,
    }),
    201,
  );
  const document = await ok(admin.post(`${url}/documents`, { name: 'Link', url: 'https://a.example' }), 201);
  const content = await storeContent(t.services.blobs, Readable.from([Buffer.from('text')]));
  const file = await attachFile(await t.ctx(systemCaller), card, content, {
    name: 'a.txt',
    kind: fileKinds.txt,
    category: null,
  });
  return { stakeholder, root, reply, todo, document, file };
}

it('everything that was attached can be taken off again, by its events alone', async () => {
  const app = await make(admin);
  const [before, position] = [await attached(), await newest()];
  const made = await attachAll(app.id);
  await ok(admin.patch(`/api/v1/stakeholders/${made.stakeholder.id}`, { role: 'observer' }));
  await ok(admin.patch(`/api/v1/comments/${made.reply.id}`, { content: 'edited' }));
  await ok(admin.delete(`/api/v1/comments/${made.root.id}`), 204);
  await ok(admin.patch(`/api/v1/todos/${made.todo.id}`, { status: 'done' }));
  await undoAfter(position);
  const [after] = [await attached()];
  // the content of the file is about to expire, all else is as it was
  const files = (state: unknown) => (state as unknown[][])[5]!.length;
  expect(files(after)).toBe(files(before) + 1);
  expect((after as unknown[]).toSpliced(5, 1)).toEqual((before as unknown[]).toSpliced(5, 1));
});

it('everything that went with a deleted card comes back by its events, as it was', async () => {
  const app = await make(admin);
  const made = await attachAll(app.id);
  await ok(admin.delete(`/api/v1/comments/${made.root.id}`), 204);
  const [before, position] = [await attached(), await newest()];
  await ok(admin.delete(`/api/v1/cards/${app.id}`));
  const kinds = await t.services
    .db('events')
    .where('position', '>', position)
    .orderBy('position')
    .pluck('event_type');
  expect(kinds).toEqual([
    'stakeholder.removed',
    'comment.deleted',
    'comment.deleted',
    'comment.deleted',
    'todo.deleted',
    'document.removed',
    'file.deleted',
    'card.deleted',
  ]);
  const codes = await undoAfter(position);
  expect(codes.filter(Boolean)).toEqual([]);
  expect(await attached()).toEqual(before);
  const download = await admin.get(`/api/v1/file-attachments/${made.file.id}/download`);
  expect([download.status, download.text]).toEqual([200, 'text']);
});

it('a deletion that cannot be undone says why', async () => {
  const app = await make(admin);
  const made = await attachAll(app.id);
  let position = await newest();
  await ok(admin.delete(`/api/v1/file-attachments/${made.file.id}`), 204);
  await t.services.db.raw(
    `delete from files where id in (select (data #>> '{changes,file_id,old}')::uuid from events where position > ?)`,
    [position],
  );
  expect(await undoAfter(position)).toEqual(['content_purged']);

  const comments = `/api/v1/cards/${app.id}/comments`;
  const asked = await ok(admin.post(comments, { content: 'asked' }), 201);
  const asking = await t.services
    .db('events')
    .where({ event_type: 'comment.created' })
    .orderBy('position', 'desc')
    .first();
  await ok(admin.post(comments, { content: 'answered', parent_id: asked.id }), 201);
  const comment = undoSpecs.find(({ entity }) => entity === 'comment')!;
  const by = await t.ctx(systemCaller);
  const kept = await command(by, (work) => comment.undo!(work, by, { ...asking, id: asked.id }));
  expect(kept?.code).toBe('has_replies');

  position = await newest();
  await ok(admin.delete(`/api/v1/stakeholders/${made.stakeholder.id}`), 204);
  const removal = await t.services.db('events').where('position', '>', position).first();
  await ok(admin.delete(`/api/v1/cards/${app.id}`));
  const spec = undoSpecs.find(({ entity }) => entity === 'stakeholder')!;
  const ctx = await t.ctx(systemCaller);
  const refusal = await command(ctx, (work) => spec.undo!(work, ctx, { ...removal, id: removal.data.id }));
  expect(refusal?.code).toBe('missing_card');
});
