import { queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { lockCards, mandatoryTypes } from '../cards/cards.load.ts';
import { unseenCard, visibleCards } from '../cards/cards.visible.ts';
import type { RelationEnd, StoredRelation } from './relations.types.ts';

const COLUMNS = 'r.id, r.type, r.source_id, r.target_id, r.attributes, r.description';

/**
 * Reads the cards that may be ends of relations: those that the caller sees; others are left out. Relations of a
 * card are only written with the card's row locked (`lockCards`), so that cardinality holds under concurrency.
 */
export async function loadEnds(sql: Sql, ctx: Ctx, ids: Iterable<string>): Promise<Map<string, RelationEnd>> {
  const visible = visibleCards(ctx);
  const rows = await queryRows<RelationEnd>(
    sql,
    `select c.id, c.type, c.name, c.status,
       array(select s.role from stakeholders s where s.card_id = c.id and s.user_id = ?::uuid) as "myRoles"
     from cards c where c.id = any(?::uuid[]) and (${visible.sql})`,
    [ctx.caller.userId, [...ids], ...visible.bindings],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Locks the cards at the ends of relations of these types that are about to be made. Where nothing of a card follows from
 * such a relation, nor whether there may be one, others may make relations of the same cards beside it.
 */
export async function lockNewEnds(
  work: Pick<Work, 'sql' | 'metamodel'>,
  ids: Iterable<string>,
  types: ReadonlySet<string>,
): Promise<void> {
  const { metamodel } = work;
  const slots = new Set([...mandatoryTypes(metamodel, 'source'), ...mandatoryTypes(metamodel, 'target')]);
  const { formulas } = metamodel.calculations;
  const free = [...types].every(
    (key) =>
      metamodel.relationTypes.get(key)?.cardinality === 'n:m' &&
      !slots.has(key) &&
      !formulas.some(({ reads }) => reads.relations.has(key) || reads.counts.has(key)),
  );
  await lockCards(work, ids, free ? 'share' : 'no key update');
}

/** One side of a relation that is to be written. */
export interface WantedRelation {
  type: RelationType;
  source_id: string;
  target_id: string;
}

/**
 * Reads the relations that stand where the wanted ones would: between the same cards, and, where the type's
 * cardinality limits a side, all of that side's card.
 */
export async function loadCompeting(sql: Sql, wanted: WantedRelation[]): Promise<StoredRelation[]> {
  if (wanted.length === 0) return [];
  const rows = await queryRows<StoredRelation>(
    sql,
    `with q as (
       select * from unnest(?::text[], ?::uuid[], ?::uuid[], ?::text[]) as q(type, source_id, target_id, cardinality)
     )
     select r.* from q cross join lateral (
       -- limited, so that each is looked up whole: a card may have thousands of relations
       select ${COLUMNS} from relations r
       where r.type = q.type and r.source_id = q.source_id and r.target_id = q.target_id limit 1) r
     union
     select ${COLUMNS} from q join relations r on r.type = q.type and r.target_id = q.target_id
     where q.cardinality <> 'n:m'
     union
     select ${COLUMNS} from q join relations r on r.type = q.type and r.source_id = q.source_id
     where q.cardinality = '1:1'`,
    [
      wanted.map((relation) => relation.type.key),
      wanted.map((relation) => relation.source_id),
      wanted.map((relation) => relation.target_id),
      wanted.map((relation) => relation.type.cardinality),
    ],
  );
  return rows;
}

/**
 * One relation with its ends, all of them locked.
 * @throws EstateError `not_found` also for a relation of a hidden type, `forbidden` for cards that the caller does not
 * see.
 */
export async function lockRelation(
  work: Work,
  ctx: Ctx,
  id: string,
): Promise<{ relation: StoredRelation; type: RelationType; source: RelationEnd; target: RelationEnd }> {
  const { sql, metamodel } = work;
  const found = await sql('relations').where({ id }).first('source_id', 'target_id');
  if (!found) throw notFound('relation', id);
  await lockCards(work, [found.source_id, found.target_id]);
  const { rows } = await sql.raw(`select ${COLUMNS} from relations r where r.id = ?::uuid for update`, [id]);
  const relation = rows[0] as StoredRelation | undefined;
  const ends = await loadEnds(sql, ctx, [found.source_id, found.target_id]);
  const source = ends.get(found.source_id);
  const target = ends.get(found.target_id);
  const shown = relation && metamodel.visibleRelationTypes.includes(relation.type);
  if (!shown) throw notFound('relation', id);
  if (!source || !target) throw unseenCard(ctx, notFound('relation', id));
  return { relation, type: metamodel.relationTypes.get(relation.type)!, source, target };
}
