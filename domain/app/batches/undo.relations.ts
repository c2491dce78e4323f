import { query } from '../../../platform/database.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import type { NamedEnd } from '../../inventory/relations/relations.save.ts';
import { saveRelations } from '../../inventory/relations/relations.save.ts';
import type { StoredRelation } from '../../inventory/relations/relations.types.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import {
  type BatchEvent,
  changedLater,
  missing,
  type NotUndone,
  revertFields,
  type Values,
} from '../../kernel/undo/undo.rows.ts';

/** The cards at the ends of a relation, before and after the write: a merge moves ends. */
export function endsOf({ data }: BatchEvent): string[] {
  const { source_id, target_id } = data.changes;
  const ends = [
    data.source_id,
    data.target_id,
    source_id?.old,
    source_id?.new,
    target_id?.old,
    target_id?.new,
  ];
  return [...new Set(ends.filter((end) => typeof end === 'string'))];
}

/** Undoes events of relations, newest first, as one write; the data quality of their cards is updated. */
export async function undoRelations(
  work: Work,
  ctx: Ctx,
  events: BatchEvent[],
  careful: ReadonlySet<string>,
): Promise<NotUndone[]> {
  const { sql, metamodel } = work;
  const endIds = new Set(events.flatMap(endsOf));
  await lockCards(work, endIds);
  const cards = await query(sql).rows`select id, name, type from cards
    where id = any(${[...endIds]}::uuid[])`;
  const ends = new Map<string, NamedEnd>(cards.map((card: NamedEnd) => [card.id, card]));
  const rows = await query(sql).rows`select id, type, source_id, target_id, attributes,
    description from relations
     where id = any(${[...new Set(events.map(({ id }) => id))]}::uuid[]) order by id for update`;
  const stored = new Map<string, StoredRelation>(rows.map((row: StoredRelation) => [row.id, row]));
  const wanted = new Map<string, StoredRelation | null>(stored);
  const deleted = new Map<string, BatchEvent>();
  const all: NotUndone[] = [];
  for (const event of events) {
    const { data, id } = event;
    const relation = wanted.get(id) ?? null;
    const type = String(data.type);
    const [source_id, target_id] = [String(data.source_id), String(data.target_id)];
    if (!metamodel.relationTypes.has(type)) all.push(missing(event, 'relation type'));
    else if (!endsOf(event).every((end) => ends.has(end))) all.push(missing(event, 'card'));
    else if (event.event_type === 'relation.deleted') {
      if (relation) all.push(changedLater(event));
      else {
        const values = { id, type, source_id, target_id, attributes: {}, description: null };
        revertFields(values as Values, data.changes, false);
        wanted.set(id, values);
        deleted.set(id, event);
      }
    } else if (!relation) all.push(missing(event, 'relation'));
    else if (event.event_type === 'relation.created') wanted.set(id, null);
    else {
      const values = { ...relation, attributes: { ...relation.attributes } };
      const kept = revertFields(values as never as Values, data.changes, careful.has(`relation/${id}`));
      if (kept.length > 0) all.push(changedLater(event, kept));
      wanted.set(id, values);
    }
  }
  const writes = [...wanted.keys()].map((id) => ({
    before: stored.get(id) ?? null,
    after: wanted.get(id) ?? null,
  }));
  await saveRelations(
    work,
    ctx,
    writes.filter(({ before, after }) => before || after),
    ends,
  );
  const made = [...deleted].filter(([id]) => wanted.get(id) && !stored.has(id));
  if (made.length > 0) {
    await sql.raw(
      `update relations r set created_by = v.created_by, created_at = coalesce(v.created_at, r.created_at)
       from jsonb_to_recordset(?::jsonb) as v(id uuid, created_by uuid, created_at timestamptz) where r.id = v.id`,
      [
        JSON.stringify(
          made.map(([id, { data }]) => ({
            id,
            created_at: data.created_at ?? null,
            created_by: data.created_by ?? null,
          })),
        ),
      ],
    );
  }
  return all;
}
