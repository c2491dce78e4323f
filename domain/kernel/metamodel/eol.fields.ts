import type { Field } from './metamodel.types.ts';

/** The attribute with the name of the product that a card is linked to. */
export const EOL_PRODUCT = 'eol_product';
/** The attribute with the release cycle. */
export const EOL_CYCLE = 'eol_cycle';

/** Types of cards that represent products. */
const linkedTypes: readonly string[] = ['Application', 'ITComponent'];

const field = (key: string, label: string): Field => ({ key, label, type: 'text', weight: 0 });
const linkFields: readonly Field[] = [
  field(EOL_PRODUCT, 'End-of-life product'),
  field(EOL_CYCLE, 'End-of-life cycle'),
];

/**
 * The attributes by which cards of a type are linked to products. They exist without being declared, belong to no
 * section and do not count for the data quality.
 */
export const eolFieldsOf = (type: string): readonly Field[] => (linkedTypes.includes(type) ? linkFields : []);
