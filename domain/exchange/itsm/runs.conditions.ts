import type { Ctx } from '../../kernel/context.ts';
import type { Condition, Fragment } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** Conditions for the members that are asked for. */
export const equal = (members: Record<string, string | undefined>): Condition[] =>
  Object.entries(members).flatMap(([sql, value]) =>
    value === undefined ? [] : [{ sql: `${sql} = ?`, bindings: [value] }],
  );

/** Paths of fields whose values the caller may not see, as synchronisation names them. */
export function hiddenPaths({ caller, metamodel }: Ctx): string[] {
  if (may(caller, 'costs.view')) return [];
  const keys = [...metamodel.cardTypes.values()].flatMap(({ costKeys }) => costKeys);
  return [...new Set(keys.map((key) => `attributes.${key}`))];
}

/** An SQL expression, or null where the condition over hidden paths holds; the condition has one `?`. */
export const unlessHidden = (value: string, condition: string, hidden: string[]): string | Fragment =>
  hidden.length === 0
    ? value
    : { sql: `case when not coalesce(${condition}, false) then ${value} end`, bindings: [hidden] };

/**
 * Whether a text of a run `r` quotes a value of a hidden path: such texts name the field, or its column outside, in
 * quotes. It has one `?`, for the hidden paths.
 */
export const quotesHidden = (text: string): string => `exists (
  select from jsonb_array_elements(r.mapping #> '{mapping,fields}') f where f ->> 'path' = any(?::text[])
    and (position('''' || (f ->> 'path') || '''' in ${text}) > 0
      or position('''' || (f ->> 'remote') || '''' in ${text}) > 0))`;
