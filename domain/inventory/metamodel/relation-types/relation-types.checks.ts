import { queryRows } from '../../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { RelationTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import type { Cardinality } from '../../../kernel/metamodel/metamodel.types.ts';
import type { RelationTypeInput } from './relation-types.rules.ts';

/** Checks that the ends are card types, hidden or not. */
export function requireKnownEnds(metamodel: Metamodel, input: RelationTypeInput): FieldError[] {
  return (['source_type_key', 'target_type_key'] as const).flatMap((field) => {
    const key = input[field];
    if (key === undefined || metamodel.cardTypes.has(key)) return [];
    return [{ field, code: 'unknown_type', message: 'is no card type' }];
  });
}

/**
 * Checks that no other visible relation type connects the same card types in the same direction, types of successors
 * excepted. Called after the row is written.
 * @throws EstateError `pair_taken`.
 */
export async function requireFreePair({ sql }: Work, row: RelationTypeRow): Promise<void> {
  if (row.is_hidden || /Successor$/.test(row.key)) return;
  const [taken] = await queryRows<{ key: string }>(
    sql,
    `select key from relation_types where source_type_key = ? and target_type_key = ? and key <> ?
       and not is_hidden and key not like '%Successor' limit 1`,
    [row.source_type_key, row.target_type_key, row.key],
  );
  if (!taken) return;
  throw new EstateError(
    'pair_taken',
    `The relation type ${taken.key} joins ${row.source_type_key} and ${row.target_type_key} already.`,
    { extra: { existing_key: taken.key } },
  );
}

/** The sides on which a card may have one relation only. */
const limited: Record<Cardinality, ('source_id' | 'target_id')[]> = {
  'n:m': [],
  '1:n': ['target_id'],
  '1:1': ['target_id', 'source_id'],
};

/**
 * Checks that the relations there are fit a cardinality.
 * @throws EstateError `cardinality_violated` naming some cards with too many.
 */
export async function requireCardinality(
  { sql }: Work,
  key: string,
  cardinality: Cardinality,
): Promise<void> {
  for (const side of limited[cardinality]) {
    const rows = await queryRows<{ id: string; cards: number }>(
      sql,
      `select ${side} as id, count(*) over () as cards from relations where type = ?
       group by ${side} having count(*) > 1 order by ${side} limit 10`,
      [key],
    );
    const [first] = rows;
    if (!first) continue;
    const { cards } = first;
    throw new EstateError(
      'cardinality_violated',
      `${cards} cards have several relations of the type as their ${side.slice(0, 6)}, which ${cardinality} does not allow.`,
      { extra: { card_count: cards, card_ids: rows.map(({ id }) => id) } },
    );
  }
}
