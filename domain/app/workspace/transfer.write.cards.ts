import { query } from '../../../platform/database.ts';
import { cardEvent, cardsTopic } from '../../inventory/cards/cards.events.ts';
import { lockCards, lockHierarchy } from '../../inventory/cards/cards.load.ts';
import { findCyclicMoves, levelsAfter, requireDepths } from '../../inventory/cards/cards.tree.ts';
import { type CardState, diffCard } from '../../inventory/cards/rules/diff.ts';
import { loadCompeting } from '../../inventory/relations/relations.load.ts';
import type { StoredRelation } from '../../inventory/relations/relations.model.ts';
import { type NamedEnd, relationEvent, relationsTopic } from '../../inventory/relations/relations.save.ts';
import { createWorkingSet } from '../../inventory/relations/relations.working-set.ts';
import { tagEvent } from '../../inventory/tags/tags.cards.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { type Page, type PageRow, RowRefused, readPage, writeRows } from './transfer.write.ts';
import { cardErrors, relationErrors } from './workspace.fields.ts';

/** A stored card in the form of events. */
function stateOf(row: StoredRow | null): CardState | null {
  if (!row) return null;
  const archived = row.archived_at as string | null;
  return {
    ...(row as unknown as CardState),
    archived_at: archived === null ? null : new Date(archived).toISOString(),
  };
}

function verbOf(before: StoredRow | null, after: StoredRow): EventType {
  if (before === null) return 'card.created';
  if (before.status === after.status) return 'card.updated';
  return after.status === 'ARCHIVED' ? 'card.archived' : 'card.restored';
}

/** Writes cards with the computed values of the archive, each with an event. */
export async function writeCards(page: Page): Promise<void> {
  const { work } = page;
  const { cardTypes } = work.metamodel;
  await lockHierarchy(work.sql, 'exclusive');
  const rows = await readPage(page);
  for (const { content } of rows) {
    const errors = cardErrors(cardTypes, content);
    if (errors.length > 0) throw new RowRefused(errors);
  }
  const written = await writeRows(page, rows);
  const moved = written.filter(({ before, after }) => before && before.parent_id !== after.parent_id);
  const movedIds = moved.map(({ after }) => after.id as string);
  const loops = await findCyclicMoves(work.sql, movedIds);
  if (loops.size > 0) {
    throw new RowRefused([
      { field: 'parent_id', code: 'parent_cycle', message: 'It would lie below itself.' },
    ]);
  }
  const placed = written.filter(({ before, after }) => after.parent_id !== (before?.parent_id ?? null));
  const ids = placed.map(({ after }) => after.id as string);
  await requireDepths(work.sql, ids);
  // Checks capabilities, also those below the moved ones; cards retain the levels of the archive.
  await levelsAfter(work, {
    moved: new Map(placed.map(({ after }) => [after.id as string, after.parent_id as string | null])),
  });
  for (const { before, after } of written) {
    const type = cardTypes.get(after.type as string)!;
    const changes = diffCard(stateOf(before), stateOf(after));
    if (Object.keys(changes).length === 0) continue;
    const verb = verbOf(before, after);
    const batch = before?.archive_batch_id ?? after.archive_batch_id;
    const more = verb === 'card.archived' || verb === 'card.restored' ? { archive_batch_id: batch } : {};
    work.emit(cardEvent(verb, type, after as unknown as CardState, changes, more));
    work.raise(cardsTopic(type.key));
  }
}

/** Writes relations, within the cardinality of their types. */
export async function writeRelations(page: Page): Promise<void> {
  const { work } = page;
  const { relationTypes } = work.metamodel;
  const named = await query(work.sql).rows`select distinct unnest(array[content ->> 'source_id',
    content ->> 'target_id'])::uuid as id
     from workspace_transfer_rows where transfer_id = ${page.applying.job.payload.transfer_id}::uuid
     and kind = 'relations' and line = any(${page.lines}::integer[])`;
  const ids: string[] = named.map(({ id }: { id: string }) => id);
  await lockCards(work, ids);
  const cards = await query(work.sql).rows`select id, name, type from cards where id = any(${ids}::uuid[])`;
  const ends = new Map<string, NamedEnd>(cards.map((card: NamedEnd) => [card.id, card]));
  const rows = await readPage(page);
  for (const { content } of rows) {
    const [source, target] = [endOf(ends, content.source_id), endOf(ends, content.target_id)];
    const errors = relationErrors(relationTypes, content, { source, target });
    if (errors.length > 0) throw new RowRefused(errors);
  }
  await requireCardinality(page, rows);
  for (const { before, after } of await writeRows(page, rows)) {
    const type = relationTypes.get(after.type as string)!;
    const target = ends.get(after.target_id as string)!;
    const between = { source: ends.get(after.source_id as string)!, target };
    const event = relationEvent(
      type,
      between,
      before as StoredRelation | null,
      after as unknown as StoredRelation,
    );
    if (Object.keys(event.data.changes as object).length === 0 && before !== null) continue;
    work.emit(event);
    work.raise(relationsTopic(type.key));
  }
}

const endOf = (ends: ReadonlyMap<string, NamedEnd>, id: unknown): string | null =>
  ends.get(String(id))?.type ?? null;

/** @throws EstateError `cardinality_exceeded` */
async function requireCardinality({ work }: Page, rows: readonly PageRow[]): Promise<void> {
  const limited = rows.flatMap(({ content, before }) => {
    const type = work.metamodel.relationTypes.get(content.type as string)!;
    return type.cardinality === 'n:m' || before
      ? []
      : [{ type, relation: content as unknown as StoredRelation }];
  });
  if (limited.length === 0) return;
  const wanted = limited.map(({ type, relation: { source_id, target_id } }) => ({
    type,
    source_id,
    target_id,
  }));
  const relations = createWorkingSet(await loadCompeting(work.sql, wanted));
  for (const { type, relation } of limited) {
    relations.requireCardinality(type, relation);
    relations.put(relation);
  }
}

/** Adds tags to cards. */
export async function writeCardTags(page: Page): Promise<void> {
  const { work } = page;
  const rows = await readPage(page);
  const named = await query(work.sql).rows`select v.card_id, v.tag_id, c.type, c.name, t.name as tag,
    g.name as "group"
     from jsonb_to_recordset(${JSON.stringify(rows.map(({ content }) => content))}::jsonb) as v(card_id uuid,
     tag_id uuid)
     join cards c on c.id = v.card_id join tags t on t.id = v.tag_id
     join tag_groups g on g.id = t.tag_group_id`;
  const byKey = new Map(named.map((row: Record<string, string>) => [`${row.card_id} ${row.tag_id}`, row]));
  const added = rows.filter(({ before }) => before === null);
  for (const { after } of await writeRows(page, added)) {
    const row = byKey.get(`${after.card_id} ${after.tag_id}`) as Record<string, string>;
    const card = { id: row.card_id!, type: row.type!, name: row.name! };
    work.emit(tagEvent(card, { id: row.tag_id!, name: row.tag!, group: row.group! }, true));
    work.raise(cardsTopic(card.type));
  }
}
