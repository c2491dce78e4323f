import Type from 'typebox';
import { plain } from './settings.definition.ts';

/** Who may receive scheduled files by mail besides users. */
export const mailRecipients = plain(
  Type.Array(Type.String({ maxLength: 253 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Domains of addresses that may receive scheduled files; users may in any case',
    examples: [['estate.example']],
  }),
  [],
  ['mail-recipients', 'MailRecipients', 'who may receive scheduled files by mail', 'domains'],
  { example: ['estate.example'] },
);
