import { embed, fragment, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';

import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { DATA_FLOW } from '../data-flows/data-flows.model.ts';
import { type Dependent, dependentEnd } from './relations.dependence.ts';

/** Up to how many dependent cards an impact is computed. */
const MOST_CARDS = 10_000;

interface AffectedCard {
  id: string;
  name: string;
  type: string;
  lifecycle: unknown;
  /** Relations from the card that is switched off. */
  distance: number;
  /** The nearer card on which it depends, and by which type of relation. */
  via_id: string;
  relation_type_key: string;
}

/** What depends on a card, directly and through others. */
export interface CardImpact {
  /** The card and, unless it is excluded, those below it: they are switched off together. */
  switched_off: { id: string; name: string; type: string }[];
  /** Numbers of affected cards by type. */
  counts: Record<string, { direct: number; all: number }>;
  /** The nearest first, then by name; as many as the page has. */
  items: AffectedCard[];
  total: number;
  /** False if there are more cards than are followed. */
  complete: boolean;
}

interface ImpactOptions {
  depth: number;
  include_children: boolean;
  page_size: number;
}

/**
 * SQL of the relations of which one of the cards is the end on which the other one depends, as `id, via_id, type`; who
 * receives data depends on who sends it.
 */
function dependents(ctx: Ctx, last: readonly string[]): Fragment {
  const { metamodel } = ctx;
  const types = metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const keys = (end: Dependent) =>
    types.filter((type) => dependentEnd(metamodel, type) === end).map(({ key }) => key);
  const flows = keys('flow');
  const flow = fragment`r.attributes ->> 'flowDirection'`;
  // `r.type || ''` makes the planner use the index on the end only, not the one that begins with the type
  return fragment`select r.source_id as id, r.target_id as via_id, r.type from relations r
      where r.target_id = any(${last}::uuid[]) and ((r.type || '') = any(${keys('source')}::text[])
        or (r.type || '') = any(${flows}::text[]) and ${embed(flow)} is distinct from 'forward')
    union all
    select r.target_id, r.source_id, r.type from relations r
      where r.source_id = any(${last}::uuid[]) and ((r.type || '') = any(${keys('target')}::text[])
        or (r.type || '') = any(${flows}::text[]) and ${embed(flow)} is distinct from 'reverse')
    union all
    select f.target_id, f.source_id, ${DATA_FLOW} from data_flows f where f.source_id = any(${last}::uuid[])
    union all
    select f.source_id, f.target_id, ${DATA_FLOW} from data_flows f
      where f.target_id = any(${last}::uuid[]) and f.direction = 'bidirectional'`;
}

/**
 * The visible, active cards that depend on a card, found relation by relation in the direction of dependence.
 * @throws EstateError `not_found`, `forbidden` if the card is not visible.
 */
export async function readCardImpact(ctx: Ctx, id: string, options: ImpactOptions): Promise<CardImpact> {
  const visible = fragment`(${embed(visibleCards(ctx))})`;
  const own = await query(ctx.db).rows<CardImpact['switched_off'][number]>`with recursive own as (
      select c.id, 0 as level from cards c where c.id = ${id}::uuid and ${embed(visible)}
      union
      select c.id, own.level + 1 from own join cards c on c.parent_id = own.id
      where ${options.include_children} and c.status = 'ACTIVE' and own.level < 100 and ${embed(visible)}
    )
    select c.id, c.name, c.type from own join cards c on c.id = own.id
    order by own.level, c.name_key, c.id limit ${MOST_CARDS}`;
  if (own.length === 0) throw invisibleCardError(ctx, notFound('card', id));
  const seen = new Set(own.map((card) => card.id));
  const affected: AffectedCard[] = [];
  let last = [...seen];
  let complete = own.length < MOST_CARDS;
  for (let distance = 1; distance <= options.depth && last.length > 0; distance += 1) {
    const room = MOST_CARDS - affected.length;
    const found = await query(ctx.db).rows<AffectedCard>`select c.id, c.name, c.type, c.lifecycle,
        ${distance}::int as distance, d.via_id, d.type as relation_type_key
      from (select distinct on (id) id, via_id, type from (${embed(dependents(ctx, last))}) r
        where not id = any(${[...seen]}::uuid[]) order by id, via_id, type) d
      join cards c on c.id = d.id
      where c.status = 'ACTIVE' and ${embed(visible)} order by c.name_key, c.id limit ${room + 1}`;
    if (found.length > room) {
      complete = false;
      found.length = room;
    }
    affected.push(...found);
    last = found.map((card) => card.id);
    for (const card of last) seen.add(card);
    if (!complete) break;
  }
  const counts: CardImpact['counts'] = {};
  for (const { type, distance } of affected) {
    counts[type] ??= { direct: 0, all: 0 };
    counts[type].all += 1;
    if (distance === 1) counts[type].direct += 1;
  }
  const items = affected.slice(0, options.page_size);
  return { switched_off: own.slice(0, options.page_size), counts, items, total: affected.length, complete };
}
