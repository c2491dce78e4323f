import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { type Anchors, readAnchors } from '../../kernel/lists/lists.anchors.ts';
import {
  columnMembers,
  columnSorts,
  count,
  filterConditions,
  readItem,
  runList,
} from '../../kernel/lists/lists.run.ts';
import { orderOf, whereClause } from '../../kernel/lists/lists.sql.ts';
import type {
  Condition,
  Filters,
  Fragment,
  JsonText,
  ListOptions,
  ListParamsOf,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import type { ResultCache } from '../../kernel/lists/result.cache.ts';
import { hasCostRole, may, requirePermission } from '../../kernel/permissions/policy.ts';
import { FilledText, Uuid } from '../../kernel/shapes.ts';
import { visibleCards } from '../cards/cards.projection.ts';
import { Relation } from './relations.model.ts';

export const relationSorts: Record<string, SortField> = {
  ...columnSorts('r', Relation, 'created_at'),
  type: { sql: 'r.type', type: 'text', immutable: true },
  source: { sql: 's.name_key', type: 'text', filled: true },
  target: { sql: 't.name_key', type: 'text', filled: true },
};

export const relationFilters = {
  card_id: [
    Type.String({ ...Uuid, description: 'A card at either end' }),
    'r.source_id = ?::uuid or r.target_id = ?::uuid',
  ],
  card_ids: [
    Type.Array(Uuid, { maxItems: 200, description: 'Cards, of which a relation has one at either end' }),
    'r.source_id = any(?::uuid[]) or r.target_id = any(?::uuid[])',
  ],
  type: Type.Optional(FilledText(2000, 'Relation types, comma-separated')),
} satisfies Filters;

/** What the list needs besides its request. */
interface RelationListNeeds {
  /** The topic versions, read after the request arrived. */
  topics: ReadonlyMap<string, number>;
  /** Totals that the process caches between lists. */
  totals: ResultCache<number>;
  /** Anchors that the process caches between lists. */
  anchors: Anchors;
}

const FROM = 'relations r join cards s on s.id = r.source_id join cards t on t.id = r.target_id';

/** The attributes of the relation `r` that the caller may see: costs by permission, or by a role on either end. */
export function visibleRelationAttributes(ctx: Ctx): Fragment {
  const costs: Record<string, string[]> = {};
  for (const type of ctx.metamodel.relationTypes.values()) {
    if (type.costKeys.length > 0) costs[type.key] = type.costKeys;
  }
  if (may(ctx.caller, 'costs.view')) return fragment`r.attributes`;
  return fragment`case when ${embed(hasCostRole(ctx.caller, 'r.source_id, r.target_id'))}
          then r.attributes
          else r.attributes - array(select jsonb_array_elements_text(${JSON.stringify(costs)}::jsonb -> r.type)) end`;
}

/** That both cards are active; archived ones are few, so that this reads a whole list faster than a join of all cards. */
const BETWEEN_ACTIVE = ['source_id', 'target_id']
  .map((end) => `not exists (select from cards a where a.id = r.${end} and a.status = 'ARCHIVED')`)
  .join(' and ');

const end = (alias: string) =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'name', ${alias}.name)`;

/** An end in lists. */
const wideEnd = (alias: string) =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'name', ${alias}.name, 'subtype', ${alias}.subtype,
    'lifecycle', ${alias}.lifecycle, 'approval_status', ${alias}.approval_status)`;

function relationList(ctx: Ctx): ListSpec {
  return {
    name: 'relations',
    from: FROM,
    id: 'r.id',
    sorts: relationSorts,
    filters: relationFilters,
    defaultSort: 'created_at',
    members: {
      ...columnMembers('r', Relation.shown),
      source: end('s'),
      target: end('t'),
      attributes: visibleRelationAttributes(ctx),
    },
    search: "s.name_key || ' ' || t.name_key",
  };
}

/** The condition that a card at an end is visible. */
function visibleEnd(ctx: Ctx, end: 'source_id' | 'target_id'): Condition {
  const visible = visibleCards(ctx);
  // For a caller who sees every card, cards need not be checked.
  if (visible.sql === 'true') return visible;
  return {
    sql: `exists (select from cards c where c.id = r.${end} and (${visible.sql}))`,
    bindings: visible.bindings,
    visibility: true,
  };
}

/** Relations that are visible to the caller: of visible types, with both ends visible. */
function visibleRelations(ctx: Ctx): Condition[] {
  const shown: Condition = {
    sql: 'r.type = any(?::text[])',
    bindings: [ctx.metamodel.visibleRelationTypes],
    visibility: true,
  };
  return [shown, visibleEnd(ctx, 'source_id'), visibleEnd(ctx, 'target_id')];
}

/**
 * The relations between active cards, filtered by card or types if given.
 * @throws EstateError `forbidden` without `inventory.view` and `relations.view`.
 */
export async function listRelations(
  ctx: Ctx,
  params: ListParamsOf<typeof relationFilters>,
  needs: RelationListNeeds,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
  const conditions = visibleRelations(ctx);
  if (params.type !== undefined) {
    const types = [...new Set(params.type.split(',').map((key) => key.trim()))].sort();
    const unknown = types.find((key) => !ctx.metamodel.relationTypes.has(key));
    if (unknown !== undefined) throw invalidField('type', 'unknown_value', `"${unknown}" is not known`);
    conditions.push(fragment`r.type = any(${types}::text[])`);
  }
  const single = relationList(ctx);
  const spec = { ...single, members: { ...single.members, source: wideEnd('s'), target: wideEnd('t') } };
  const where = [...conditions, ...filterConditions(spec, params), fragment`${embed(BETWEEN_ACTIVE)}`];
  const active = fragment`s.status = 'ACTIVE' and t.status = 'ACTIVE'`;
  return await runList(ctx, spec, [...conditions, active], params, {
    // Counts of searches are not cached: the same search is rarely repeated.
    ...(params.search ? {} : cachedOf({ ...spec, from: 'relations r' }, where, params, needs)),
  });
}

/**
 * The number of relations and the anchors of their order, read again only after a change to relations or cards.
 * @param spec reads the relations alone.
 */
function cachedOf(
  spec: ListSpec,
  where: Condition[],
  params: ListParamsOf<typeof relationFilters>,
  { topics, totals, anchors }: RelationListNeeds,
): Pick<ListOptions, 'total' | 'anchors'> {
  const versions = [...topics].filter(([topic]) => /^(relations|cards):/.test(topic)).sort();
  const key = [versions, whereClause(where)];
  const order = orderOf(spec, params);
  return {
    total: (sql) => totals.get(JSON.stringify(key), () => count({ sql, spec, where })),
    anchors: (read, sql) =>
      anchors.get(JSON.stringify([...key, order.key, order.dir]), () =>
        order.key === 'created_at' ? readAnchors({ sql, spec, where, order }) : read(),
      ),
  };
}

/**
 * One relation, also with an archived end.
 * @throws EstateError `not_found`, `forbidden` without `inventory.view` and `relations.view`.
 */
export async function readRelation(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
  return await readItem(ctx.db, relationList(ctx), 'relation', id, visibleRelations(ctx));
}

/** A relation as its JSON text after a write, equal to what reads return; its ETag is computed from it. */
export const writtenRelation = (sql: Sql, ctx: Ctx, id: string): Promise<JsonText> =>
  readItem(sql, relationList(ctx), 'relation', id);
