import type { FieldError } from '../../../platform/errors.ts';
import { fold } from '../../../platform/fold.ts';
import type { SettingValues } from '../../kernel/settings/settings.read.ts';

/** Maximum words of a term. */
const MOST_WORDS = 4;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** The errors of a vocabulary: terms without words or with too many, and terms that occur twice. */
export const vocabularyErrors = ({
  synonyms,
  vendors,
}: SettingValues['matching_vocabulary']): FieldError[] => [
  ...termErrors(
    synonyms.flatMap((group, at) => group.map((term, n) => ({ field: `synonyms.${at}.${n}`, term }))),
    MOST_WORDS,
  ),
  ...termErrors(vendors.map((term, at) => ({ field: `vendors.${at}`, term }))),
];

function termErrors(terms: readonly { field: string; term: string }[], mostWords?: number): FieldError[] {
  const places = new Map<string, string>();
  return terms.flatMap(({ field, term }): FieldError[] => {
    const words = fold(term).match(WORD) ?? [];
    if (words.length === 0) return [{ field, code: 'empty_term', message: 'has no letter or digit' }];
    if (mostWords !== undefined && words.length > mostWords)
      return [{ field, code: 'too_many_words', message: `has more than ${mostWords} words` }];
    const place = places.get(words.join(' '));
    if (place !== undefined) return [{ field, code: 'repeated_term', message: `is the same as ${place}` }];
    places.set(words.join(' '), field);
    return [];
  });
}
