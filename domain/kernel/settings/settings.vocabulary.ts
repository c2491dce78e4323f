import Type from 'typebox';
import { group, member } from './settings.definition.ts';

const Term = Type.String({ minLength: 1, maxLength: 60 });
const Synonyms = Type.Array(Type.Array(Term, { minItems: 2, maxItems: 20 }), {
  maxItems: 2_000,
  description:
    'Groups of equal words and phrases of at most four words: names are compared as if they contained the first one instead of another',
  examples: [[['Order Management', 'Bestellwesen', 'Ordering']]],
});
const Vendors = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 2_000,
  description: 'Vendors that are ignored at the beginning of names, besides well-known ones',
  examples: [['Acme']],
});

/** What a workspace adds to the word lists with which names of cards are compared. */
export const matchingVocabulary = group(
  { synonyms: member(Synonyms, []), vendors: member(Vendors, []) },
  ['matching-vocabulary', 'MatchingVocabulary', 'the words with which names of cards are compared'],
  {
    description:
      'A list is replaced as a whole. After a change, the next search for duplicates compares all cards.',
    isPortable: true,
    example: { synonyms: [['Order Management', 'Bestellwesen', 'Ordering']], vendors: ['Acme'] },
  },
);
