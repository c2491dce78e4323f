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

/** Reads the words of a parameter, and replaces in place those of which `read` returns others. */
export function replaceWords(
  params: Record<string, unknown>,
  name: string,
  read: (word: string) => string,
): void {
  const value = params[name];
  const words = (text: string) => {
    const given = text.split(',').map((word) => word.trim());
    const now = given.map(read);
    return now.every((word, n) => word === given[n]) ? text : now.join(',');
  };
  if (typeof value === 'string') params[name] = words(value);
  else if (Array.isArray(value))
    params[name] = value.map((one) => (typeof one === 'string' ? words(one) : one));
}

/**
 * What the parameters of a report refer to. Configurations are open, and pages add parameters of their own: a name that is no
 * key of the metamodel now refers to nothing. Fields that were renamed get their present keys, in place.
 * @param within the card types to which the parameters are limited, unless they name some.
 * @returns the card types that they name.
 */
export function readParams(
  found: References,
  params: Record<string, unknown>,
  within?: readonly string[],
): readonly string[] {
  const types = typeParams.flatMap((name) => wordsOf(params[name])).filter((key) => found.hasType(key));
  const scope = types.length > 0 ? types : within;
  found.type(...types);
  for (const name of filterParams)
    if (typeof params[name] === 'string') params[name] = found.filter(params[name], scope);
  for (const name of [...fieldParams, ...groupParams]) {
    replaceWords(params, name, (key) => {
      const [, root = '', bare = ''] = /^((?:own|attributes)\.)?(.*)$/s.exec(key)!;
      if (groupParams.includes(name) && found.hasType(bare)) found.type(bare);
      else if (found.hasField(bare)) return `${root}${found.field(bare, scope)}`;
      return key;
    });
  }
  for (const member of ['dimensions', 'measures']) {
    for (const one of [params[member]].flat()) {
      if (isObject(one) && typeof one.field === 'string') one.field = found.path(one.field, scope);
    }
  }
  return types;
}
