import Type from 'typebox';
import { productLanguages } from '../metamodel/languages.ts';
import { Choice } from '../shapes.ts';
import { plain } from './settings.definition.ts';

/** The languages of the pages that users can choose. */
export const languages = plain(
  Type.Array(Choice(productLanguages), {
    minItems: 1,
    maxItems: productLanguages.length,
    uniqueItems: true,
    description: 'The languages that users can choose, the first one for users of others',
    examples: [['de', 'en']],
  }),
  [...productLanguages],
  ['languages', 'Languages', 'the languages that users can choose', 'languages'],
  {
    isOptional: true,
    readableBy: 'public',
    isPortable: true,
    example: ['de', 'en'],
  },
);
