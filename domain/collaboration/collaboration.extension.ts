import { deleteRowsOfCards } from '../inventory/cards/cards.attached.ts';
import { cardsTopic } from '../inventory/cards/cards.events.ts';
import { rescoreCards } from '../inventory/cards/cards.save.ts';
import type { Ctx, DeletedCard, DeletedUser, Work } from '../kernel/context.ts';
import type { Extension } from '../kernel/extensions.ts';
import { collaborationUndo } from './collaboration.undo.ts';
import { type CommentRow, commentEvent } from './comments/comments.events.ts';
import { type DocumentRow, documentEvent } from './documents/documents.events.ts';
import { expireFiles } from './files/files.attach.ts';
import { type AttachmentRow, fileEvent } from './files/files.events.ts';
import { type StakeholderRow, stakeholderEvent } from './stakeholders/stakeholders.events.ts';
import { todosDueJob } from './todos/todos.due.job.ts';
import { type TodoRow, todoEvent } from './todos/todos.events.ts';

async function deleteWithCards(work: Work, cards: readonly DeletedCard[]): Promise<void> {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const ids = [...byId.keys()];
  await deleteStakeholdersOfCards(work, byId);
  const comments = await deleteRowsOfCards<CommentRow>(work, 'comments', ids);
  // replies first: undone in reverse order, each finds the comment that it replies to
  for (const row of comments.sort((a, b) => b.depth - a.depth)) {
    work.emit(commentEvent(byId.get(row.card_id)!, row, null));
  }
  for (const row of await deleteRowsOfCards<TodoRow & { card_id: string }>(work, 'todos', ids)) {
    work.emit(todoEvent(byId.get(row.card_id)!, row, null));
  }
  for (const row of await deleteRowsOfCards<DocumentRow>(work, 'documents', ids)) {
    work.emit(documentEvent(byId.get(row.card_id)!, row, true));
  }
  const files = await deleteRowsOfCards<AttachmentRow>(work, 'file_attachments', ids);
  if (files.length > 0) {
    await expireFiles(
      work.sql,
      files.map(({ file_id }) => file_id),
    );
  }
  for (const row of files) work.emit(fileEvent(byId.get(row.card_id)!, row, true));
}

async function deleteStakeholdersOfCards(work: Work, cards: ReadonlyMap<string, DeletedCard>): Promise<void> {
  const rows = await deleteRowsOfCards<StakeholderRow>(work, 'stakeholders', [...cards.keys()]);
  const users = await work
    .sql('users')
    .whereIn('id', [...new Set(rows.map(({ user_id }) => user_id))])
    .select('id', 'display_name');
  const names = new Map(users.map((user: DeletedUser) => [user.id, user.display_name]));
  for (const row of rows) {
    const card = cards.get(row.card_id)!;
    const type = work.metamodel.cardTypes.get(card.type)!;
    work.emit(stakeholderEvent(card, type, names.get(row.user_id) ?? '', row, null));
  }
}

async function deleteWithUsers(work: Work, ctx: Ctx, users: readonly DeletedUser[]): Promise<void> {
  const names = new Map(users.map((user) => [user.id, user.display_name]));
  const { rows } = await work.sql.raw(
    `with deleted as (delete from stakeholders where user_id = any(?::uuid[]) returning *)
     select to_jsonb(d) as row, c.id, c.type, c.name from deleted d join cards c on c.id = d.card_id order by d.id`,
    [[...names.keys()]],
  );
  for (const { row, id, type, name } of rows as (DeletedCard & { row: StakeholderRow })[]) {
    const cardType = work.metamodel.cardTypes.get(type)!;
    work.emit(stakeholderEvent({ id, name }, cardType, names.get(row.user_id)!, row, null));
    work.raise(cardsTopic(type));
  }
  await rescoreCards(
    work,
    ctx,
    (rows as DeletedCard[]).map(({ id }) => id),
  );
}

/** Stakeholders, comments, to-dos, documents and files of cards. */
export const collaborationExtension: Extension = {
  undo: collaborationUndo,
  jobs: [todosDueJob],
  cardReferences: [
    {
      entity: 'stakeholder',
      table: 'stakeholders',
      column: 'card_id',
      once: {
        by: ['user_id', 'role'],
        event: (card, type, row, user, gone) => {
          const stored = row as StakeholderRow;
          return stakeholderEvent(card, type, user, gone ? stored : null, gone ? null : stored);
        },
      },
    },
    { entity: 'comment', table: 'comments', column: 'card_id' },
    { entity: 'todo', table: 'todos', column: 'card_id' },
    { entity: 'document', table: 'documents', column: 'card_id' },
    { entity: 'file', table: 'file_attachments', column: 'card_id' },
  ],
  deleteWithCards,
  deleteWithUsers,
};
