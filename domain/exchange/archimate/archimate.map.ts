import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import map from './archimate.map.json' with { type: 'json' };

/** The namespace of The Open Group's model exchange file format, 3.0 to 3.2. */
export const NAMESPACE = 'http://www.opengroup.org/xsd/archimate/3.0/';

/** The element that represents a card type; custom types are exported as groupings. */
const elementOf: Readonly<Record<string, string>> = map.elementOf;

/** The card types of the elements of other tools' models; other elements have none. */
const typeOfElement: Readonly<Record<string, string>> = map.typeOfElement;

/**
 * Relation types that correspond to an ArchiMate relationship, in their own direction; all others are exported as
 * associations, which may have any ends.
 */
const relationshipOf: Readonly<Record<string, string>> = map.relationshipOf;

export const elementType = (cardType: string): string =>
  Object.hasOwn(elementOf, cardType) ? elementOf[cardType]! : 'Grouping';

export const relationshipType = (relationType: string): string =>
  Object.hasOwn(relationshipOf, relationType) ? relationshipOf[relationType]! : 'Association';

/** The visible card type that an element of another tool represents. */
export function cardTypeOf(metamodel: Metamodel, element: string): string | undefined {
  const key = Object.hasOwn(typeOfElement, element) ? typeOfElement[element]! : undefined;
  return key !== undefined && metamodel.visibleTypes.includes(key) ? key : undefined;
}

/** Characters that XML cannot contain (XML 1.0, 2.2), or that parsers change. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** Whether XML preserves the text. */
export const isWritable = (text: string): boolean => !UNWRITABLE.test(text);

/**
 * A value as a property: texts as they are; other values, and texts that XML cannot contain, as JSON under
 * `<key>.json`.
 */
export function propertyOf(key: string, value: unknown): { key: string; text: string } {
  if (typeof value === 'string' && isWritable(value)) return { key, text: value };
  const text = JSON.stringify(value).replace(
    /[\ufffe\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16)}`,
  );
  return { key: `${key}.json`, text };
}

/** The values of properties; the text of a property that is not valid JSON. */
export function valuesOf(properties: ReadonlyMap<string, string>): Map<string, unknown> {
  return new Map(
    [...properties].map(([key, text]): [string, unknown] => {
      if (!key.endsWith('.json')) return [key, text];
      try {
        return [key.slice(0, -5), JSON.parse(text)];
      } catch {
        return [key.slice(0, -5), text];
      }
    }),
  );
}

/** The prefix of the names of this service's properties. */
export const PREFIX = 'estate:';
