import { embed, fragment, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';

import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { DATA_FLOW } from '../data-flows/data-flows.model.ts';

/** How many relations a search follows before it gives up. */
const MOST_RELATIONS = 100_000;

interface Step {
  /** Of the relation or data flow. */
  relation_id: string;
  relation_type_key: string;
  source_id: string;
  target_id: string;
}

/** The shortest paths between two cards along relations and data flows in any direction. */
export interface CardPaths {
  /** Relations on each path; null if there is no path of the requested length. */
  length: number | null;
  /** By the relations from the first card to the second. */
  paths: Step[][];
  /** The cards on the paths. */
  cards: { id: string; name: string; type: string }[];
  /** False if the search was given up: there can be a path that it has not found. */
  complete: boolean;
}

interface PathOptions {
  to: string;
  /** Maximum relations on a path. */
  length: number;
  /** Maximum number of paths. */
  limit: number;
}

/** One side of the search: the cards found from its end, by their distance, with the relations that lead back to it. */
interface Side {
  back: Map<string, { card: string; step: Step }[]>;
  last: string[];
}

const sideOf = (id: string): Side => ({ back: new Map([[id, []]]), last: [id] });

/**
 * Searches from both cards, always from the side with fewer cards, over visible, active cards.
 * @throws EstateError `not_found`, `forbidden` if one of the cards is not visible.
 */
export async function findCardPaths(ctx: Ctx, id: string, options: PathOptions): Promise<CardPaths> {
  const visible = fragment`(${embed(visibleCards(ctx))})`;
  const ends = await query(ctx.db).column<string>`select c.id from cards c
    where c.id = any(${[id, options.to]}::uuid[]) and ${embed(visible)}`;
  for (const end of [id, options.to].map((one) => one.toLowerCase())) {
    if (!ends.includes(end)) throw invisibleCardError(ctx, notFound('card', end));
  }
  const near = sideOf(id.toLowerCase());
  const far = sideOf(options.to.toLowerCase());
  let room = MOST_RELATIONS;
  const links = fragment`(select r.id, r.source_id, r.target_id, r.type from relations r
      where (r.type || '') = any(${ctx.metamodel.visibleRelationTypes}::text[])
    union all select f.id, f.source_id, f.target_id, ${DATA_FLOW} from data_flows f)`;
  let met = near.last.filter((card) => far.back.has(card));
  for (let length = 0; met.length === 0 && length < options.length; length += 1) {
    const side = near.last.length <= far.last.length ? near : far;
    const steps = await query(ctx.db).rows<Step>`select r.id as relation_id, r.type as relation_type_key,
        r.source_id, r.target_id
      from ${embed(links)} r join cards c on c.id = case when r.source_id = any(${side.last}::uuid[])
        then r.target_id else r.source_id end
      where (r.source_id = any(${side.last}::uuid[]) or r.target_id = any(${side.last}::uuid[]))
        and c.status = 'ACTIVE' and ${embed(visible)} limit ${room + 1}`;
    if (steps.length > room) return { length: null, paths: [], cards: [], complete: false };
    room -= steps.length;
    extend(side, steps);
    met = side.last.filter((card) => (side === near ? far : near).back.has(card));
    if (side.last.length === 0) break;
  }
  const paths: Step[][] = [];
  for (const middle of met) {
    for (const before of routes(near, middle, options.limit - paths.length)) {
      for (const after of routes(far, middle, options.limit - paths.length)) {
        paths.push([...before.toReversed(), ...after]);
        if (paths.length === options.limit) break;
      }
    }
    if (paths.length === options.limit) break;
  }
  const onPaths = new Set([
    id,
    options.to,
    ...paths.flat().flatMap((step) => [step.source_id, step.target_id]),
  ]);
  const cards = await query(ctx.db).rows<CardPaths['cards'][number]>`select c.id, c.name, c.type from cards c
    where c.id = any(${[...onPaths]}::uuid[]) order by c.name_key, c.id`;
  return { length: paths[0]?.length ?? null, paths, cards, complete: true };
}

/** Moves a side by one relation. */
function extend(side: Side, steps: readonly Step[]): void {
  const last = new Set(side.last);
  const found = new Map<string, { card: string; step: Step }[]>();
  for (const step of steps) {
    for (const [card, other] of [
      [step.source_id, step.target_id],
      [step.target_id, step.source_id],
    ] as const) {
      if (!last.has(card) || side.back.has(other)) continue;
      found.set(other, [...(found.get(other) ?? []), { card, step }]);
    }
  }
  for (const [card, back] of found) side.back.set(card, back);
  side.last = [...found.keys()];
}

/** The ways from a card back to the end of a side, at most so many. */
function* routes(side: Side, card: string, most: number): Generator<Step[]> {
  const back = side.back.get(card)!;
  if (back.length === 0) {
    yield [];
    return;
  }
  let count = 0;
  for (const { card: nearer, step } of back) {
    for (const rest of routes(side, nearer, most - count)) {
      yield [step, ...rest];
      count += 1;
      if (count >= most) return;
    }
  }
}
