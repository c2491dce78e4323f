import { isObject } from '../../../kernel/shapes.ts';
import type { References } from './references.ts';

/** The parameters of reports and pages that name card types. */
export const typeParams: readonly string[] = ['type', 'row_type', 'col_type', 'boxes', 'inside', 'from'];
/** Those that name fields by their keys, and fields or related types. */
export const fieldParams: readonly string[] = [
  'x_axis',
  'y_axis',
  'size_field',
  'color_field',
  'cost_field',
  'fields',
];
export const groupParams: readonly string[] = ['group_by', 'aggregate', 'colour'];
/** Those whose values are in the filter language. */
const filterParams: readonly string[] = ['filter', 'expression'];

/** The words of a parameter, which are texts or lists of texts, separated by commas. */
export const wordsOf = (value: unknown): string[] =>
  [value]
    .flat()
    .flatMap((one) => (typeof one === 'string' ? one.split(',') : []))
    .map((one) => one.trim());

/**
 * What the parameters of a report refer to. Configurations are open, and pages add parameters of their own: a name that is no
 * key of the metamodel now refers to nothing.
 * @param within the card types to which the parameters are limited, unless they name some.
 * @returns the card types that they name.
 */
export function readParams(
  found: References,
  params: Readonly<Record<string, unknown>>,
  within?: readonly string[],
): readonly string[] {
  const types = typeParams.flatMap((name) => wordsOf(params[name])).filter((key) => found.hasType(key));
  const scope = types.length > 0 ? types : within;
  found.type(...types);
  for (const name of filterParams) if (typeof params[name] === 'string') found.filter(params[name], scope);
  for (const name of [...fieldParams, ...groupParams]) {
    for (const key of wordsOf(params[name])) {
      const bare = key.replace(/^(own|attributes)\./, '');
      if (groupParams.includes(name) && found.hasType(bare)) found.type(bare);
      else if (found.hasField(bare)) found.field(bare, scope);
    }
  }
  for (const member of ['dimensions', 'measures']) {
    for (const one of [params[member]].flat()) {
      if (isObject(one) && typeof one.field === 'string') found.path(one.field, scope);
    }
  }
  return types;
}
