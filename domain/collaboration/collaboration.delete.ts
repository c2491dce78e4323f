import { type AdrCardRow, adrCardEvent } from '../adr/adr.links.events.ts';
import { deleteOfProcesses, unlinkCards } from '../bpm/bpm.leave.ts';
import type { Work } from '../command.ts';
import type { FindingRow } from '../compliance/compliance.types.ts';
import { findingEvent } from '../compliance/findings.events.ts';
import { linkEvent } from '../diagrams/diagrams.events.ts';
import type { LinkRow } from '../diagrams/diagrams.types.ts';
import { ownersOf } from '../diagrams/diagrams.visible.ts';
import type { EventDraft } from '../events/events.types.ts';
import type { StoredRow } from '../events/row-changes.ts';
import type { CardType } from '../metamodel/metamodel.compile.ts';
import { ppmEvent } from '../ppm/ppm.events.ts';
import { inLeavingOrder, ppmLeaving } from '../ppm/ppm.leaving.ts';
import type { PpmRow } from '../ppm/ppm.types.ts';
import { leaveRisks } from '../risks/risks.cards.ts';
import { soawEvent } from '../soaw/soaw.events.ts';
import type { SoawRow } from '../soaw/soaw.types.ts';
import { responseEvent } from '../surveys/surveys.events.ts';
import type { ResponseRow } from '../surveys/surveys.types.ts';
import { favoriteEvent } from '../views/favorites.events.ts';
import { type CommentRow, commentEvent } from './comments/comments.events.ts';
import { type DocumentRow, documentEvent } from './documents/documents.events.ts';
import { expireFiles } from './files/files.attach.ts';
import { type AttachmentRow, fileEvent } from './files/files.events.ts';
import { type StakeholderRow, stakeholderEvent } from './stakeholders/stakeholders.events.ts';
import { type TodoRow, todoEvent } from './todos/todos.events.ts';

/** A card that is about to be deleted. */
interface LeavingCard {
  id: string;
  name: string;
  type: string;
}

/**
 * Deletes what people attached to cards that are deleted with it, with an event for each, in one statement a kind. The
 * cards must be locked. Answers come before what they answer, so that the events, undone backwards, find it there.
 */
export async function deleteAttached(work: Work, cards: readonly LeavingCard[]): Promise<void> {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const typeOf = (card: LeavingCard): CardType => work.metamodel.cardTypes.get(card.type)!;
  const tell = <T extends { card_id: string | null }>(
    rows: T[],
    event: (card: LeavingCard, row: T) => EventDraft,
  ) => {
    for (const row of rows) work.emit(event(byId.get(row.card_id!)!, row));
  };

  const holders = await leaving<StakeholderRow>(work, 'stakeholders', [...byId.keys()]);
  const users = await work
    .sql('users')
    .whereIn('id', [...new Set(holders.map(({ user_id }) => user_id))])
    .select('id', 'display_name');
  const names = new Map(
    users.map((user: { id: string; display_name: string }) => [user.id, user.display_name]),
  );
  tell(holders, (card, row) => stakeholderEvent(card, typeOf(card), names.get(row.user_id) ?? '', row, null));

  const comments = await leaving<CommentRow>(work, 'comments', [...byId.keys()]);
  tell(
    comments.sort((a, b) => b.depth - a.depth),
    (card, row) => commentEvent(card, row, null),
  );
  tell(await leaving<TodoRow>(work, 'todos', [...byId.keys()]), (card, row) => todoEvent(card, row, null));
  tell(await leaving<DocumentRow>(work, 'documents', [...byId.keys()]), (card, row) =>
    documentEvent(card, row, true),
  );
  const files = await leaving<AttachmentRow>(work, 'file_attachments', [...byId.keys()]);
  if (files.length > 0) {
    await expireFiles(
      work.sql,
      files.map(({ file_id }) => file_id),
    );
  }
  tell(files, (card, row) => fileEvent(card, row, true));
  tell(await leaving<ResponseRow>(work, 'survey_responses', [...byId.keys()]), (card, row) =>
    responseEvent(card, row, null),
  );
  tell(await leaving<FindingRow>(work, 'compliance_findings', [...byId.keys()]), (card, row) =>
    findingEvent(card, row, null),
  );
  const links = await leaving<LinkRow>(work, 'diagram_cards', [...byId.keys()]);
  const owners = await ownersOf(
    work.sql,
    links.map(({ diagram_id }) => diagram_id),
  );
  tell(links, (card, row) => linkEvent(card, row, true, owners.get(row.diagram_id) ?? null));
  for (const kind of ppmLeaving) {
    const rows = await leaving<PpmRow>(work, kind.table, [...byId.keys()]);
    tell(inLeavingOrder(kind, rows), (card, row) => ppmEvent(kind, card, row, null));
  }
  await leaveRisks(work, byId);
  await deleteOfProcesses(work, [...byId.keys()]);
  await unlinkCards(work, [...byId.keys()]);
  tell(await leaving<AdrCardRow>(work, 'adr_cards', [...byId.keys()]), (card, row) =>
    adrCardEvent(card, null, row, null),
  );
  await freeStatements(work, byId);
  for (const row of await leaving<StoredRow>(work, 'favorites', [...byId.keys()])) {
    work.emit(favoriteEvent(row, null));
  }
}

/** Statements of architecture work outlive their initiative. */
async function freeStatements(work: Work, cards: ReadonlyMap<string, LeavingCard>): Promise<void> {
  const { rows } = await work.sql.raw(
    `update soaws t set initiative_id = null, updated_at = clock_timestamp() where initiative_id = any(?::uuid[])
     returning old.initiative_id, to_jsonb(t) as row`,
    [[...cards.keys()]],
  );
  for (const { initiative_id, row } of rows as { initiative_id: string; row: SoawRow }[]) {
    work.emit(soawEvent(cards.get(initiative_id)!, { ...row, initiative_id }, row));
  }
}

async function leaving<T>(work: Work, table: string, cardIds: string[]): Promise<T[]> {
  const { rows } = await work.sql.raw(
    `with gone as (delete from ${table} t where t.card_id = any(?::uuid[]) returning t.id, to_jsonb(t) as row)
     select row from gone order by id`,
    [cardIds],
  );
  return rows.map(({ row }: { row: T }) => row);
}
