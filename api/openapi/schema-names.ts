import type { Schema } from './document.ts';

/** The location of a schema: the component or operation, and the path of members. */
export interface Place {
  kind: 'component' | 'body' | 'answer' | 'parameter';
  /** The capitalised name of the component, operation or parameter. */
  root: string;
  path: string[];
}

/** Minimum number of values for which an enumeration becomes a component. */
const ENUM_VALUES = 3;

/** Minimum number of members for which an object becomes a component. */
const MEMBERS = 2;

/** `card_type` and `cardType` as `CardType`. */
export const capital = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join('');

/** Identifies equal schemas that can become components, without their annotations; undefined for other schemas. */
export function candidateKey(schema: Schema): string | undefined {
  const { description: _, default: __, example: ___, examples: ____, ...rest } = schema;
  const members = Object.keys(schema.properties ?? {}).length;
  const alternatives = schema.anyOf?.filter((part) => part.type !== 'null').length ?? 0;
  const counts =
    members >= MEMBERS ||
    (schema.enum?.length ?? 0) >= ENUM_VALUES ||
    (alternatives > 1 && JSON.stringify(rest).length > 200);
  return counts ? JSON.stringify(rest) : undefined;
}

/** The JSON body of `createCard` is `CreateCardBody`. */
export const bodyNameOf = ({ root }: Place): string => `${root}Body`;

/** A list of `CardItem` is a `CardList`. */
export function listNameOf({ properties }: Schema): string | undefined {
  const ref = properties?.page_size ? properties.items?.items?.$ref : undefined;
  return ref && `${ref.split('/').at(-1)!.replace(/Item$/, '')}List`;
}

const kinds: Place['kind'][] = ['component', 'body', 'answer', 'parameter'];
const ends = { component: '', body: 'Body', answer: 'Response', parameter: '' };

/** The name of a schema by the most prominent of its locations: `Risk.cards[].role` is `RiskCardRole`. */
export function placeName(places: Place[]): string {
  const [best] = places.toSorted((a, b) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return nameOf(best!);
}

const rank = ({ kind, root, path }: Place): number =>
  kinds.indexOf(kind) * 1000 + (root.endsWith('Item') ? 500 : 0) + path.length;

function nameOf({ kind, root, path }: Place): string {
  const steps = path.filter((step) => step !== '');
  const words = steps.map((step, index) => {
    if (step === '[]' || step === '{}') return '';
    return capital(steps[index + 1] === '[]' || steps[index + 1] === '{}' ? singular(step) : step);
  });
  return root + ends[kind] + words.join('');
}

/** The singular: `batch` of `batches`, `policy` of `policies`. */
export function singular(words: string): string {
  if (/(ss|us|is)$/.test(words)) return words;
  return words
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|ss|us)es$/, '$1')
    .replace(/s$/, '');
}
