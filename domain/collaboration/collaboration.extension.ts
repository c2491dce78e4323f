import { query } from '../../platform/database.ts';
import { deleteRowsOfCards } from '../inventory/cards/cards.attached.ts';
import { cardsTopic } from '../inventory/cards/cards.events.ts';
import { loadCards, lockCards } from '../inventory/cards/cards.load.ts';
import { rescoreCards } from '../inventory/cards/cards.save.ts';
import type { Ctx, DeletedCard, DeletedUser, Work } from '../kernel/context.ts';
import { rowEvents } from '../kernel/events/row-changes.ts';
import type { Extension } from '../kernel/extensions.ts';
import type { Resource } from '../kernel/resources/resource.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../kernel/resources/rows.ts';
import { needs, type UndoneEvent, type UndoRefusal } from '../kernel/undo/undo.types.ts';
import {
  type AttachmentRow,
  Comment,
  type CommentRow,
  Document,
  type DocumentRow,
  FileAttachment,
  Stakeholder,
  type StakeholderRow,
  Todo,
  type TodoRow,
} from './collaboration.model.ts';
import { commentEvent } from './comments/comments.rules.ts';
import { documentEvent } from './documents/documents.ts';
import { expireFiles, fileEvent } from './files/files.attach.ts';
import { emitStakeholder, stakeholderEvent } from './stakeholders/stakeholders.commands.ts';
import { todosDueJob } from './todos/todos.due.ts';
import { todoEvent } from './todos/todos.events.ts';
import { unassignTodos } from './todos/todos.system.ts';
import { APPROVAL_TOPIC, signatureTopics } from './todos/todos.topics.ts';

/** The row before the write of an event; complete for deleted rows. */
function rowBefore<R extends { id: string }>({ id, data }: UndoneEvent): R {
  const values = Object.entries(data.changes).map(([column, change]) => [column, change.old]);
  return { id, ...Object.fromEntries(values) } as R;
}

/** Restores a comment. One that has replies by now is not deleted. */
async function undoComment({ sql, emit }: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} was deleted.` };
  if (event.event_type === 'comment.deleted') {
    const row = rowBefore<CommentRow>(event);
    const parent = row.parent_id ? await sql('comments').where({ id: row.parent_id }).first('id') : row;
    if (!parent) return { code: 'missing_parent', message: 'The parent comment was deleted.' };
    emit(commentEvent(card, null, await insertRow(sql, Comment, row)));
    return null;
  }
  const present = await lockRow(sql, Comment, { id: event.id });
  if (!present) return null;
  if (event.event_type === 'comment.updated') {
    const { id: _, ...values } = rowBefore<CommentRow>(event);
    emit(commentEvent(card, present, await updateRow(sql, Comment, { id: event.id }, values)));
    return null;
  }
  if (await sql('comments').where({ parent_id: event.id }).first('id')) {
    return { code: 'has_replies', message: 'Others have replied to the comment.' };
  }
  await deleteRows(sql, Comment, (query) => query.where({ id: event.id }));
  emit(commentEvent(card, present, null));
  return null;
}

/** Restores an assignment and the card's score; refused where the user or the card was deleted. */
async function undoStakeholder(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const cardId = event.card_id!;
  await lockCards(work, [cardId]);
  const card = (await loadCards(work, ctx, [cardId])).get(cardId);
  if (!card) return { code: 'missing_card', message: `The card ${cardId} was deleted.` };
  const present = await lockRow(sql, Stakeholder, { id: event.id });
  const userId = String(event.data.user_id);
  const user = await sql('users').where({ id: userId }).first('display_name');
  if (!user) return { code: 'missing_user', message: `The user ${userId} was deleted.` };

  let after: StakeholderRow | null = null;
  if (event.event_type === 'stakeholder.added') {
    await deleteRows(sql, Stakeholder, (query) => query.where({ id: event.id }));
  } else if (event.event_type === 'stakeholder.removed') {
    after = await insertRow(sql, Stakeholder, rowBefore<StakeholderRow>(event));
  } else if (present) {
    const role = String(event.data.changes.role!.old);
    after = await updateRow(sql, Stakeholder, { id: event.id }, { role });
  }
  if (!present && !after) return null;
  await emitStakeholder(work, ctx, card, user.display_name, present ?? null, after);
  return null;
}

/** Deletes an uploaded file, restores a deleted one while its content is retained, or the former category. */
async function undoFile({ sql, emit }: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const card = await sql('cards').where({ id: event.card_id }).first('id', 'type', 'name').forKeyShare();
  if (event.event_type === 'file.uploaded') {
    const row = await lockRow(sql, FileAttachment, { id: event.id });
    if (!row) return null;
    await deleteRows(sql, FileAttachment, (query) => query.where({ id: row.id }));
    await expireFiles(sql, [row.file_id]);
    emit(fileEvent(card, row, null));
    return null;
  }
  if (!card) return { code: 'missing_card', message: `The card ${event.card_id} was deleted.` };
  const row = rowBefore<AttachmentRow>(event);
  if (event.event_type === 'file.updated') {
    const present = await lockRow(sql, FileAttachment, { id: event.id });
    if (!present) return null;
    const { category } = row;
    emit(fileEvent(card, present, await updateRow(sql, FileAttachment, { id: event.id }, { category })));
    return null;
  }
  if ((await sql('files').where({ id: row.file_id }).update({ expires_at: null })) === 0) {
    return { code: 'content_purged', message: `The content of ${row.name} is no longer retained.` };
  }
  emit(fileEvent(card, null, await insertRow(sql, FileAttachment, row)));
  return null;
}

const documentsRight = needs({ app: 'documents.manage', card: 'card.manage_documents' });
const cardReferences = [{ column: 'card_id' }];

const resources: readonly Resource[] = [
  {
    model: Stakeholder,
    name: 'stakeholder',
    events: {
      created: ['stakeholder.added'],
      updated: ['stakeholder.role_changed'],
      deleted: ['stakeholder.removed'],
    },
    card: 'card_id',
    undo: {
      right: needs({ app: 'stakeholders.manage', card: 'card.manage_stakeholders' }),
      undo: undoStakeholder,
    },
    cardReferences: [
      {
        column: 'card_id',
        once: {
          by: ['user_id', 'role'],
          event: (card, type, row, user) => stakeholderEvent(card, type, user, row as StakeholderRow, null),
        },
      },
    ],
    transfer: { matches: [['%.card_id', '%.user_id', '%.role']], label: `t.role || '/' || t.id` },
    asOf: true,
  },
  {
    model: Comment,
    name: 'comment',
    events: rowEvents('comment'),
    card: 'card_id',
    undo: {
      right: {
        needs: [{ app: 'comments.create', card: 'card.create_comments' }],
        others: [{ app: 'comments.manage', card: 'card.manage_comments' }],
      },
      undo: undoComment,
    },
    cardReferences: [{ column: 'card_id', follows: [{ column: 'parent_id', table: 'comments' }] }],
    transfer: {},
    asOf: true,
  },
  {
    model: Todo,
    name: 'todo',
    events: rowEvents('todo'),
    card: 'card_id',
    undo: { right: { needs: [{ app: 'inventory.view', card: 'card.view' }], others: ['admin.todos'] } },
    cardReferences: [{ column: 'card_id', follows: [{ column: 'series_id', table: 'todos' }] }],
    transfer: {
      // the importing service opens those again, for its own users who can sign or approve
      where: () =>
        `not coalesce(t.is_system and t.status <> 'done'
           and t.topic in ('${[APPROVAL_TOPIC, ...signatureTopics].join("', '")}'), false)`,
    },
    asOf: true,
  },
  {
    model: Document,
    name: 'document',
    events: { created: ['document.added'], updated: ['document.updated'], deleted: ['document.removed'] },
    card: 'card_id',
    undo: { right: documentsRight },
    cardReferences,
    transfer: { label: 't.name' },
    asOf: true,
  },
  {
    model: FileAttachment,
    name: 'file',
    events: { created: ['file.uploaded'], updated: ['file.updated'], deleted: ['file.deleted'] },
    card: 'card_id',
    undo: { right: documentsRight, undo: undoFile },
    cardReferences,
    transfer: { label: 't.name' },
    asOf: true,
  },
];

async function deleteWithCards(work: Work, cards: readonly DeletedCard[]): Promise<void> {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const ids = [...byId.keys()];
  await deleteStakeholdersOfCards(work, byId);
  const comments = await deleteRowsOfCards<CommentRow>(work, 'comments', ids);
  // replies first: undone in reverse order, each finds the comment that it replies to
  for (const row of comments.sort((a, b) => b.depth - a.depth)) {
    work.emit(commentEvent(byId.get(row.card_id)!, row, null));
  }
  for (const row of await deleteRowsOfCards<TodoRow>(work, 'todos', ids)) {
    work.emit(todoEvent(byId.get(row.card_id!)!, row, null));
  }
  for (const row of await deleteRowsOfCards<DocumentRow>(work, 'documents', ids)) {
    work.emit(documentEvent(byId.get(row.card_id)!, row, null));
  }
  const files = await deleteRowsOfCards<AttachmentRow>(work, 'file_attachments', ids);
  if (files.length > 0) {
    const fileIds = files.map(({ file_id }) => file_id);
    await expireFiles(work.sql, fileIds);
  }
  for (const row of files) work.emit(fileEvent(byId.get(row.card_id)!, row, null));
}

async function deleteStakeholdersOfCards(work: Work, cards: ReadonlyMap<string, DeletedCard>): Promise<void> {
  const rows = await deleteRowsOfCards<StakeholderRow>(work, 'stakeholders', [...cards.keys()]);
  const users: DeletedUser[] = await work
    .sql('users')
    .whereIn('id', [...new Set(rows.map(({ user_id }) => user_id))])
    .select('id', 'display_name');
  const names = new Map(users.map((user) => [user.id, user.display_name]));
  for (const row of rows) {
    const card = cards.get(row.card_id)!;
    const type = work.metamodel.cardTypes.get(card.type)!;
    work.emit(stakeholderEvent(card, type, names.get(row.user_id) ?? '', row, null));
  }
}

async function deleteWithUsers(work: Work, ctx: Ctx, users: readonly DeletedUser[]): Promise<void> {
  const userIds = users.map(({ id }) => id);
  await unassignTodos(work, userIds);
  const names = new Map(users.map((user) => [user.id, user.display_name]));
  const deleted = await query(work.sql).rows<
    DeletedCard & { row: StakeholderRow }
  >`with deleted as (delete from stakeholders where user_id = any(${userIds}::uuid[]) returning *)
     select to_jsonb(d) as row, c.id, c.type, c.name from deleted d join cards c on c.id = d.card_id
     order by d.id`;
  for (const { row, id, type, name } of deleted) {
    const cardType = work.metamodel.cardTypes.get(type)!;
    work.emit(stakeholderEvent({ id, name }, cardType, names.get(row.user_id)!, row, null));
    work.raise(cardsTopic(type));
  }
  const cardIds = deleted.map(({ id }) => id);
  await rescoreCards(work, ctx, cardIds);
}

/** Stakeholders, comments, to-dos, documents and files of cards. */
export const collaborationExtension: Extension = {
  resources,
  jobs: [todosDueJob],
  deleteWithCards,
  deleteWithUsers,
};
