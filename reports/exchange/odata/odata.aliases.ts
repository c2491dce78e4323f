import { type Deprecations, presentKey, presentPart } from '../../../domain/kernel/metamodel/deprecations.ts';
import type { EntitySet, ODataModel } from './model/model.types.ts';
import type { SentOptions } from './query/query.options.ts';

const named = ['$select', '$filter', '$orderby'] as const;
const NAME_OR_TEXT = /'(?:[^']|'')*'|(?<![\w/.@])[A-Za-z_]\w*(?![\w/(])/g;

/**
 * The options of a request to a set of cards, with the present names of properties and of their options that were renamed; names
 * of expanded entities stay as they are.
 * @returns the options, and the paths of the former names.
 */
export function presentOptions(
  metamodel: Deprecations,
  model: ODataModel,
  [name = '']: readonly (string | undefined)[],
  options: SentOptions,
): { options: SentOptions; former: string[] } {
  const set = metamodel.aliases.size > 0 ? model.sets.get(name) : undefined;
  if (set?.kind !== 'card') return { options, former: [] };
  const former = new Set<string>();
  const keyOf = (word: string) => {
    const key = presentKey(metamodel, set.key, word);
    if (key === undefined || set.properties.has(word)) return word;
    former.add(`field:${set.key}.${word}`);
    return key;
  };
  const present = (text: string) => {
    const fields = (text.match(NAME_OR_TEXT) ?? []).flatMap((word) => (word[0] === "'" ? [] : keyOf(word)));
    return text.replace(NAME_OR_TEXT, (word) =>
      word[0] === "'" ? `'${optionOf(metamodel, set, fields, word.slice(1, -1), former)}'` : keyOf(word),
    );
  };
  const changed = named.flatMap((option) => {
    const text = options[option];
    return text === undefined ? [] : [[option, present(text)]];
  });
  return { options: { ...options, ...Object.fromEntries(changed) }, former: [...former] };
}

/** The present key of an option of one of the fields; a text that is an option of any of them stays as it is. */
function optionOf(
  metamodel: Deprecations,
  set: Pick<EntitySet, 'key' | 'properties'>,
  fields: readonly string[],
  text: string,
  former: Set<string>,
): string {
  if (fields.some((field) => set.properties.get(field)?.options.has(text))) return text;
  for (const field of fields) {
    const path = `option:${set.key}.${field}.${text}`;
    const present = presentPart(metamodel, path);
    if (present === undefined) continue;
    former.add(path);
    return present;
  }
  return text;
}
