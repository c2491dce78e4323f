import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { forbidden } from '../../kernel/permissions/policy.ts';

/**
 * Refuses cost values from callers who may not see costs; their patches retain the stored values.
 * @throws EstateError `forbidden` naming `costs.view`.
 */
export function refuseHiddenCosts(
  costKeys: readonly string[],
  attributes: Record<string, unknown> | null | undefined,
  seesCosts: boolean,
): void {
  if (seesCosts || !attributes) return;
  if (costKeys.some((key) => Object.hasOwn(attributes, key))) throw forbidden('costs.view');
}

/**
 * The costs of a card as SQL over the alias `c` of `cards`: the sum of all its cost fields, 0 if there are none.
 * @param types the card types that can occur.
 */
export function costsOfCard(metamodel: Metamodel, types: readonly string[]): string {
  const branches = types.flatMap((type) => {
    const keys = metamodel.cardTypes.get(type)?.costKeys ?? [];
    const sum = keys.map((key) => numberOf(textLiteral(key))).join(' + ');
    return sum === '' ? [] : [`when ${textLiteral(type)} then ${sum}`];
  });
  return branches.length === 0 ? '0::numeric' : `(case c.type ${branches.join(' ')} else 0 end)`;
}

const numberOf = (key: string): string =>
  `case when jsonb_typeof(c.attributes -> ${key}) = 'number' then (c.attributes -> ${key})::numeric else 0 end`;
