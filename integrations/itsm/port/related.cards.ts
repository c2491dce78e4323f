import { relatedPath } from '../../../domain/exchange/itsm/mappings.related.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Path } from '../engine/model.types.ts';
import type { Value } from '../engine/values.ts';

/** Mapped relations of one type, as the cards of a mapping have them. */
export interface RelatedField {
  path: Path;
  relationType: string;
  /** The columns of a relation that hold the card, and the one at its other end. */
  own: 'source_id' | 'target_id';
  other: 'source_id' | 'target_id';
}

/** Those of the paths that stand for relations. */
export function relatedFields(paths: readonly Path[]): RelatedField[] {
  return paths.flatMap((path): RelatedField[] => {
    const related = relatedPath(path);
    if (!related) return [];
    const { relationType, reversed } = related;
    return [
      reversed
        ? { path, relationType, own: 'target_id', other: 'source_id' }
        : { path, relationType, own: 'source_id', other: 'target_id' },
    ];
  });
}

/** Selects for each of the fields who stands at the other ends, beside the card `c`. */
export function relatedColumns(fields: readonly RelatedField[]): { sql: string; bindings: string[] } {
  return {
    sql: fields
      .map(
        ({ own, other }, n) =>
          `, (select json_agg(r.${other} order by r.${other}) from relations r
            where r.${own} = c.id and r.type = ?) as related_${n}`,
      )
      .join(''),
    bindings: fields.map(({ relationType }) => relationType),
  };
}

/** None, the one card, or all of them: a column holds one alone. */
export function relatedValue(ids: unknown): Value {
  if (!Array.isArray(ids) || ids.length === 0) return null;
  return (ids.length === 1 ? ids[0] : ids) as Value;
}

/** When relations of these cards last came, went or were led elsewhere; RFC 3339 by card and path. */
export async function relatedAt(
  sql: Sql,
  ids: readonly string[],
  fields: readonly RelatedField[],
): Promise<{ id: string; path: Path; at: string }[]> {
  const found: { id: string; path: Path; at: string }[] = [];
  for (const { path, relationType, own } of fields) {
    const { rows } = await sql.raw(
      `select distinct on (q.id) q.id, ? as path, utc(e.at) as at
       from unnest(?::uuid[]) q(id) join events e on e.${own === 'source_id' ? 'card_id' : 'peer_card_id'} = q.id
         and e.relation_type = ? and e.event_type like 'relation.%'
         and jsonb_exists_any(e.data -> 'changes', array['source_id', 'target_id'])
       order by q.id, e.position desc`,
      [path, ids, relationType] as never,
    );
    found.push(...rows);
  }
  return found;
}
