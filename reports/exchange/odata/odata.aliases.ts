import { type Deprecations, presentKey } from '../../../domain/kernel/metamodel/deprecations.ts';
import type { ODataModel } from './model/model.types.ts';
import type { SentOptions } from './query/query.options.ts';

const named = ['$select', '$filter', '$orderby'] as const;
const NAME_OR_TEXT = /'(?:[^']|'')*'|(?<![\w/.@])[A-Za-z_]\w*(?![\w/(])/g;

/**
 * The options of a request to a set of cards, with the present names of properties that were renamed; names of expanded entities
 * stay as they are.
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
  const present = (text: string) =>
    text.replace(NAME_OR_TEXT, (word) => {
      const key = presentKey(metamodel, set.key, word);
      if (key === undefined || set.properties.has(word)) return word;
      former.add(`field:${set.key}.${word}`);
      return key;
    });
  const changed = named.flatMap((option) => {
    const text = options[option];
    return text === undefined ? [] : [[option, present(text)]];
  });
  return { options: { ...options, ...Object.fromEntries(changed) }, former: [...former] };
}
