import { embed, query, queryRows, type Sql } from '../../../platform/database.ts';
import { type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { type CardListNeeds, listCards } from '../../inventory/cards/cards.list.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import type { SessionInput } from './architect.input.ts';
import type { CardName, ScopeCapability } from './architect.types.ts';
import { CAPABILITY, OBJECTIVE, relationTypesBetween } from './architect.words.ts';

/** The maximum number of capabilities of a session. */
const MOST_CAPABILITIES = 500;
/** The maximum number of capabilities found by the words of a requirement. */
const MOST_MEANT = 10;
/** Shorter words are ignored. */
const SHORTEST_WORD = 4;
const MOST_WORDS = 60;

/** The scope of a session. */
export interface Scope {
  objectives: CardName[];
  capabilities: ScopeCapability[];
}

/**
 * The objectives and capabilities that a client chose, the capabilities related to the objectives, and all their
 * descendants. If nothing was chosen, the capabilities whose names occur in the requirement.
 * @throws EstateError naming each id that is not a visible active card of its type.
 */
export async function readScope(sql: Sql, ctx: Ctx, input: SessionInput): Promise<Scope> {
  const objectiveIds = (input.objectiveIds ?? []).map((id) => id.toLowerCase());
  const chosen = input.selectedCapabilities ?? [];
  const storedIds = chosen.flatMap(({ id }) => (id && isUuid(id) ? id.toLowerCase() : []));
  const named = await readNames(sql, ctx, [...objectiveIds, ...storedIds]);
  const errors: FieldError[] = [];
  const objectives = objectiveIds.flatMap((id, n): CardName[] => {
    const card = named.get(id);
    if (card?.type === OBJECTIVE) return objectiveIds.indexOf(id) < n ? [] : [card];
    errors.push({ field: `objectiveIds.${n}`, code: 'unknown_objective', message: 'is no active objective' });
    return [];
  });
  const fresh: string[] = [];
  for (const [n, { id, name }] of chosen.entries()) {
    const field = `selectedCapabilities.${n}`;
    if (id && isUuid(id)) {
      if (named.get(id.toLowerCase())?.type === CAPABILITY) continue;
      errors.push({ field: `${field}.id`, code: 'unknown_capability', message: 'is no active capability' });
    } else if (name?.trim()) fresh.push(name.trim());
    else errors.push({ field, code: 'required', message: 'needs an id or a name' });
  }
  if (errors.length > 0) throw invalidFields(errors);

  const ids = objectives.map(({ id }) => id);
  const around = await capabilitiesOf(sql, ctx, ids);
  const roots = [...new Set([...storedIds, ...around.map(({ id }) => id)])];
  if (roots.length === 0 && fresh.length === 0 && input.requirement) {
    roots.push(...(await meantCapabilities(sql, ctx, input.requirement)));
  }
  const stored = await readBelow(sql, ctx, roots);
  const made = [...new Set(fresh)].map((name, n) => ({ id: `capability-${n + 1}`, name, parent_id: null }));
  return {
    objectives,
    capabilities: [...stored, ...made].map((capability) => ({
      ...capability,
      type: CAPABILITY,
      is_new: capability.id.startsWith('capability-'),
      objective_ids: around.flatMap(({ id, objective_id }) => (id === capability.id ? objective_id : [])),
      application_ids: [],
    })),
  };
}

/** The visible active cards of these ids. */
async function readNames(sql: Sql, ctx: Ctx, ids: string[]): Promise<Map<string, CardName>> {
  if (ids.length === 0) return new Map();
  const rows = await query(sql).rows`select c.id, c.name, c.type from cards c
     where c.id = any(${ids}::uuid[]) and c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})`;
  return new Map(rows.map((row: CardName) => [row.id, row]));
}

/** The capabilities that objectives are related to. */
async function capabilitiesOf(
  sql: Sql,
  ctx: Ctx,
  objectiveIds: string[],
): Promise<{ id: string; objective_id: string }[]> {
  if (objectiveIds.length === 0) return [];
  const visible = visibleCards(ctx);
  return await queryRows(
    sql,
    `select distinct c.id, e.objective_id from (
       select r.source_id as objective_id, r.target_id as peer_id from relations r
       where r.source_id = any(?::uuid[]) and r.type = any(?::text[])
       union all
       select r.target_id, r.source_id from relations r where r.target_id = any(?::uuid[]) and r.type = any(?::text[])
     ) e join cards c on c.id = e.peer_id
     where c.type = ? and c.status = 'ACTIVE' and (${visible.sql})
     order by c.id limit ?`,
    [
      ...twice(objectiveIds, relationTypesBetween(ctx.metamodel, OBJECTIVE, CAPABILITY)),
      CAPABILITY,
      ...visible.bindings,
      MOST_CAPABILITIES,
    ],
  );
}

const twice = (...values: unknown[]): unknown[] => [...values, ...values];

/** The capabilities of whose names the most words occur in the requirement; at least half of the long ones. */
async function meantCapabilities(sql: Sql, ctx: Ctx, requirement: string): Promise<string[]> {
  const rows = await query(sql).rows`with said as (
       select distinct word from regexp_split_to_table(fold(${requirement}), '[^[:alnum:]]+') as w(word)
       where length(word) >= ${embed(SHORTEST_WORD)} limit ${embed(MOST_WORDS)}
     ), named as (
       select c.id, c.name_key, count(distinct w.word) as words, count(distinct said.word) as shared
       from cards c cross join lateral regexp_split_to_table(c.name_key, '[^[:alnum:]]+') as w(word)
         left join said on said.word = w.word
       where c.type = ${CAPABILITY} and c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})
       and length(w.word) >= ${embed(SHORTEST_WORD)}
       group by c.id, c.name_key
     )
     select id from named where shared * 2 >= words and shared > 0
     order by shared desc, words, name_key, id limit ${embed(MOST_MEANT)}`;
  return rows.map(({ id }: { id: string }) => id);
}

/** Capabilities and all their descendants, level by level. */
async function readBelow(
  sql: Sql,
  ctx: Ctx,
  ids: string[],
): Promise<{ id: string; name: string; parent_id: string | null }[]> {
  if (ids.length === 0) return [];
  return await query(sql).rows`with recursive below as (
       select c.id, 0 as depth from cards c where c.id = any(${ids}::uuid[])
       union
       select k.id, b.depth + 1 from below b join cards k on k.parent_id = b.id and k.status = 'ACTIVE'
       where b.depth < 20
     )
     select c.id, c.name, c.parent_id
     from (select id, min(depth) as depth from below group by id) b join cards c on c.id = b.id
     where c.type = ${CAPABILITY} and (${embed(visibleCards(ctx))}) order by b.depth, c.name_key, c.id
     limit ${MOST_CAPABILITIES}`;
}

/** The lists of cards to choose from, with the members of their items. */
export const cardPickers = {
  Objective: ['id', 'name', 'description', 'subtype'],
  BusinessCapability: ['id', 'name', 'description'],
} as const;

/**
 * The active cards of a type from which a session can choose, with the search of the card list.
 * @throws EstateError naming each parameter that is not valid.
 */
export async function pickCards(
  ctx: Ctx,
  type: keyof typeof cardPickers,
  params: ListParams,
  needs: CardListNeeds,
): Promise<JsonText> {
  const fields = params.fields ?? cardPickers[type].join(',');
  const members: readonly string[] = cardPickers[type];
  const unknown = fields.split(',').find((name) => !members.includes(name.trim()));
  if (unknown !== undefined) {
    throw invalidField('fields', 'unknown_field', `"${unknown}" is no member of the items`);
  }
  // A workspace that has hidden the type has no cards to choose from.
  if (!ctx.metamodel.visibleTypes.includes(type)) return noCards(params);
  return await listCards(ctx, { ...params, type, fields }, needs);
}

function noCards({ cursor, page, page_size }: ListParams): JsonText {
  const end = cursor === undefined ? { total: 0, page, page_size } : { page_size, next_cursor: null };
  return JSON.stringify({ items: [], ...end });
}
