import type { Knex } from 'knex';
import type { Work } from '../../../kernel/context.ts';
import { cardEvent, cardsTopic } from '../cards.events.ts';
import { loadCards, type StoredCard, typeOf } from '../cards.load.ts';
import { type CardWrite, saveCards } from '../cards.save.ts';
import { guardUnique } from '../cards.unique.ts';
import type { CardState, Lifecycle } from '../rules/card.types.ts';
import { type Changes, diffCard, sameValue } from '../rules/diff.ts';
import { mergeAttributes } from '../rules/merge.ts';
import { changed, type MergeConflict, missing } from './merge.conflicts.ts';
import type { MergeJournal } from './merge.journal.ts';
import type { Undoing } from './merge.undo.types.ts';

/** What follows by itself, and is looked at in the end. */
const derived = new Set(['data_quality']);

/** Takes back what the merge changed in the cards that stayed, where it is still as the merge left it. */
export async function revertCards(undoing: Undoing): Promise<void> {
  const { work, ctx, journal, conflict, mayLieBelow } = undoing;
  const cards = await loadCards(
    work,
    ctx,
    journal.saved.map((card) => card.id),
  );
  const writes = journal.saved.flatMap(({ id, changes }): CardWrite[] => {
    const before = cards.get(id);
    if (!before) {
      conflict(missing('card', id));
      return [];
    }
    const type = typeOf(work.metamodel, before);
    const present = diffCard(null, before);
    const reverted: Changes = {};
    for (const [field, change] of Object.entries(changes)) {
      const isDerived =
        derived.has(field) || type.fields.get(field.replace(/^attributes\./, ''))?.readonly === true;
      if (sameValue(present[field]?.new ?? null, change.new)) reverted[field] = change;
      else if (!isDerived) conflict(changed('card', id, field));
    }
    const parent = (reverted.parent_id?.old ?? null) as string | null;
    if (!mayLieBelow(parent, (reverted.status?.old as string | undefined) ?? before.status)) {
      conflict(parentGone(id, parent));
      delete reverted.parent_id;
    }
    // lines move back later, and are added up anew in the end
    return [{ before, after: { ...withOld(before, reverted), sums: {} } }];
  });
  await saveCards(work, ctx, writes);
}

const parentGone = (id: string, parent: string | null): MergeConflict =>
  missing('card', id, `its parent ${parent} is no longer there or no longer active`);

/**
 * Parents may have been deleted, archived or merged since the merge.
 * @returns whether a card of a status may lie below a parent, counting those that come back with the undoing.
 */
export async function placesToReturnTo(
  { sql }: Pick<Work, 'sql'>,
  { cards, saved }: MergeJournal,
): Promise<Undoing['mayLieBelow']> {
  const parents = [
    ...cards.map((card) => card.parent_id),
    ...saved.map(({ changes }) => changes.parent_id?.old ?? null),
  ].filter((id) => id !== null);
  const standing: { id: string; status: string }[] = await sql('cards')
    .whereIn('id', parents as string[])
    .select('id', 'status');
  const statuses = new Map(standing.map(({ id, status }) => [id, status]));
  for (const card of cards) statuses.set(String(card.id), String(card.status));
  return (parent, status) => {
    if (parent === null) return true;
    const above = statuses.get(parent);
    return above === 'ACTIVE' || (above !== undefined && status === 'ARCHIVED');
  };
}

/** The card with the old values of changes. */
function withOld(card: StoredCard, changes: Changes): StoredCard {
  const after: Record<string, unknown> = { ...card };
  const attributes: Record<string, unknown> = {};
  const lifecycle: Record<string, unknown> = { ...card.lifecycle };
  for (const [field, { old }] of Object.entries(changes)) {
    if (field.startsWith('attributes.')) attributes[field.slice('attributes.'.length)] = old;
    else if (!field.startsWith('lifecycle.')) after[field] = old;
    else if (old === null) delete lifecycle[field.slice('lifecycle.'.length)];
    else lifecycle[field.slice('lifecycle.'.length)] = old;
  }
  after.attributes = mergeAttributes(card.attributes, attributes);
  after.lifecycle = Object.keys(lifecycle).length > 0 ? (lifecycle as Lifecycle) : null;
  return after as unknown as StoredCard;
}

const columns = `id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status, approval_status,
  data_quality, external_id, archived_at, archive_batch_id, created_by, updated_by, created_at, updated_at`;

/**
 * Makes the merged cards again as their rows were.
 * @throws EstateError `sibling_name_taken`, `external_id_taken`.
 */
export async function bringBackCards(undoing: Undoing): Promise<void> {
  const { work, journal, conflict, mayLieBelow } = undoing;
  const { sql, metamodel } = work;
  const rows = journal.cards.map(({ tag_ids: _, ...row }) => {
    const parent = row.parent_id as string | null;
    if (mayLieBelow(parent, String(row.status))) return row;
    conflict(parentGone(String(row.id), parent));
    return { ...row, parent_id: null };
  });
  const insert = async (trx: Knex.Transaction) =>
    await trx.raw(
      `insert into cards (${columns}) select ${columns} from jsonb_populate_recordset(null::cards, ?::jsonb)
       returning id, utc(archived_at) as archived_at`,
      [JSON.stringify(rows)],
    );
  const cards = rows as unknown as CardState[];
  const answer = await guardUnique(sql, cards, insert);
  const archivedAt = new Map<string, string | null>(
    answer.rows.map((row: { id: string; archived_at: string | null }) => [row.id, row.archived_at]),
  );
  for (const row of cards) {
    const type = metamodel.cardTypes.get(row.type)!;
    const card = { ...row, archived_at: archivedAt.get(row.id) ?? null };
    work.emit(cardEvent('card.created', type, card, diffCard(null, card)));
    work.raise(cardsTopic(type.key));
  }
}
