import type { Ctx, Work } from '../../../kernel/context.ts';
import type { StoredRow } from '../../../kernel/events/row-changes.ts';
import type { RelationWrite } from '../../relations/relations.save.ts';
import type { Changes } from '../rules/diff.ts';
import type { MergedCards, MovedRow, RemovedRow } from './merge.attached.ts';

/** What a merge did, as far as undoing it needs to know. */
export interface MergeJournal {
  /** The merged cards as their rows were, with their tags. */
  cards: (StoredRow & { tag_ids: string[] })[];
  /** Relations that were deleted, as their rows were. */
  relations: StoredRow[];
  /** Relations that were changed. */
  changed: { id: string; before: StoredRow; after: StoredRow }[];
  /** The survivor and the cards that followed it. */
  saved: { id: string; changes: Changes }[];
  moved: MovedRow[];
  removed: RemovedRow[];
  /** Tags that the survivor was given. */
  tags: string[];
}

/** Reads the rows that a merge is about to delete or change. */
export async function readImages(
  { sql }: Work,
  { cards, relations }: { cards: string[]; relations: RelationWrite[] },
): Promise<Pick<MergeJournal, 'cards' | 'relations' | 'changed'>> {
  const deleted = relations.flatMap(({ before, after }) => (before && !after ? before.id : []));
  const { rows } = await sql.raw(
    `select (select json_agg(to_jsonb(c) - 'name_key' || jsonb_build_object('tag_ids',
               array(select k.tag_id from card_tags k where k.card_id = c.id order by k.tag_id))
               order by array_position(?::uuid[], c.id)) from cards c where c.id = any(?::uuid[])) as cards,
            (select coalesce(json_agg(to_jsonb(r) order by r.id), '[]')
             from relations r where r.id = any(?::uuid[])) as relations`,
    [cards, cards, deleted],
  );
  return {
    ...rows[0],
    changed: relations.flatMap(({ before, after }) =>
      before && after ? [{ id: before.id, before: { ...before }, after: { ...after } }] : [],
    ),
  };
}

/** Stores a merge with the redirects of the merged cards. */
export async function storeMerge(
  { sql }: Work,
  ctx: Ctx,
  { id, cards, journal }: { id: string; cards: MergedCards; journal: MergeJournal },
): Promise<void> {
  const { survivor, merged } = cards;
  const named = merged.map((card) => ({ id: card.id, name: card.name, external_id: card.external_id }));
  await sql('card_merges').insert({
    id,
    survivor_id: survivor.id,
    card_type: survivor.type,
    merged: JSON.stringify(named),
    journal: JSON.stringify(journal),
    created_by: ctx.caller.userId,
  });
  await sql('card_redirects').insert(
    merged.map((card) => ({ card_id: card.id, survivor_id: survivor.id, merge_id: id })),
  );
}
