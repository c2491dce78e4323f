import { relatedPath } from '../../../domain/exchange/itsm/mappings.related.ts';
import {
  type BulkOperation,
  bulkRelationsWithin,
} from '../../../domain/inventory/relations/relations.bulk.ts';
import type { Ctx, Work } from '../../../domain/kernel/context.ts';
import type { Path } from '../engine/model.types.ts';
import type { Value } from '../engine/values.ts';
import { type RelatedField, relatedFields } from './related.cards.ts';

/** Relations that a card is to have: exactly those to the cards of the value. */
export interface WantedRelated {
  /** The write that it belongs to. */
  n: number;
  cardId: string;
  path: Path;
  value: Value;
}

/** Values of a write that are the card's own, and those that are its relations. */
export function withoutRelated(values: Record<Path, Value>): {
  own: Record<Path, Value>;
  related: Record<Path, Value>;
} {
  const own: Record<Path, Value> = {};
  const related: Record<Path, Value> = {};
  for (const [path, value] of Object.entries(values)) (relatedPath(path) ? related : own)[path] = value;
  return { own, related };
}

/** Ids of cards in a value of relations. */
export const idsIn = (value: Value): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string' && id !== '');

interface Present {
  type: string;
  source_id: string;
  target_id: string;
  attributes: Record<string, unknown>;
  description: string | null;
}

/**
 * Leads the relations of cards to where they are wanted, by the rules that hold for everybody's. What is refused of one card
 * leaves its relations as they were, and stops no other.
 * @returns by place in `wanted`, why it was refused.
 */
export async function relateWithin(
  work: Work,
  ctx: Ctx,
  wanted: readonly WantedRelated[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>();
  if (wanted.length === 0) return refused;
  const steps = await stepsOf(work, wanted);
  const operations = steps.map(({ operation }, row_index): BulkOperation => ({ ...operation, row_index }));
  for (const { row_index, error } of await bulkRelationsWithin(work, ctx, operations)) {
    const { at } = steps[row_index]!;
    if (error !== null && !refused.has(at)) refused.set(at, error);
  }
  // what went to make room comes back
  const back = steps
    .filter(({ at, before }) => before !== undefined && refused.has(at))
    .map(({ operation, before }, row_index): BulkOperation => {
      const { attributes, description } = before!;
      return { ...operation, row_index, action: 'upsert', attributes, description } as BulkOperation;
    });
  if (back.length > 0) await bulkRelationsWithin(work, ctx, back);
  return refused;
}

interface Step {
  at: number;
  operation: Omit<BulkOperation, 'row_index'>;
  /** What a step takes away. */
  before?: Present;
}

/** First what goes, then what comes, so that there is room for it. */
async function stepsOf({ sql }: Work, wanted: readonly WantedRelated[]): Promise<Step[]> {
  const gone: Step[] = [];
  const come: Step[] = [];
  for (const [path, ofPath] of Map.groupBy(
    wanted.map((one, at) => ({ ...one, at })),
    ({ path }) => path,
  )) {
    const field = relatedFields([path])[0]!;
    const { relationType: type, own, other } = field;
    const { rows } = await sql.raw(
      `select type, source_id, target_id, attributes, description from relations
       where type = ? and ${own} = any(?::uuid[]) order by id`,
      [type, ofPath.map(({ cardId }) => cardId)] as never,
    );
    const present = Map.groupBy(rows as Present[], (row) => row[own]);
    for (const { at, cardId, value } of ofPath) {
      const there = present.get(cardId) ?? [];
      const ids = new Set(idsIn(value));
      for (const before of there) {
        if (!ids.has(before[other]))
          gone.push({ at, operation: operationOf('delete', field, cardId, before[other]), before });
      }
      for (const id of ids) {
        if (!there.some((row) => row[other] === id))
          come.push({ at, operation: operationOf('upsert', field, cardId, id) });
      }
    }
  }
  return [...gone, ...come];
}

function operationOf(
  action: BulkOperation['action'],
  { relationType: type, own }: RelatedField,
  cardId: string,
  otherId: string,
): Step['operation'] {
  const [source, target] = own === 'source_id' ? [cardId, otherId] : [otherId, cardId];
  return { action, type, source: { id: source }, target: { id: target } };
}
