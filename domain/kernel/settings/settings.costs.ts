import Type from 'typebox';
import { TranslationsSchema } from '../metamodel/metamodel.types.ts';
import { arrayOf, itemsUpTo } from '../shapes.ts';
import { plain } from './settings.definition.ts';

/** Options with keys and labels, and the labels in other languages. */
export const optionList = (example: { key: string; label: string }, description: string) =>
  arrayOf(
    {
      key: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]{0,99}$', examples: [example.key] }),
      label: Type.String({ minLength: 1, maxLength: 100, examples: [example.label] }),
      translations: Type.Optional(TranslationsSchema),
    },
    { minItems: 1, maxItems: 100, description },
  );

/** The prices of other currencies in that of the workspace. */
export const exchangeRates = plain(
  arrayOf(
    {
      currency: Type.String({
        pattern: '^[A-Z]{3}$',
        examples: ['USD'],
        description: 'A code of ISO 4217',
      }),
      rate: Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e9,
        examples: [0.92],
        description: 'The price of one unit in the currency of the workspace',
      }),
    },
    itemsUpTo(200, 'Costs in other currencies are refused'),
  ),
  [],
  ['exchange-rates', 'ExchangeRates', 'the exchange rates with which costs are converted', 'rates'],
  {
    readableBy: 'public',
    isPortable: true,
    example: [{ currency: 'GBP', rate: 1.17 }],
  },
);

/** The kinds of costs by period. */
export const costKinds = plain(
  optionList({ key: 'licence', label: 'Licence' }, 'Costs keep a kind that is removed'),
  [
    { key: 'licence', label: 'Licence', translations: { de: 'Lizenz' } },
    { key: 'infrastructure', label: 'Infrastructure', translations: { de: 'Infrastruktur' } },
    { key: 'staff', label: 'Staff', translations: { de: 'Personal' } },
    { key: 'project', label: 'Project', translations: { de: 'Projekt' } },
    { key: 'other', label: 'Other', translations: { de: 'Sonstiges' } },
  ],
  ['cost-kinds', 'CostKinds', 'the kinds of costs', 'kinds'],
  {
    readableBy: 'public',
    isPortable: true,
    example: [{ key: 'licence', label: 'Licence' }],
  },
);
