import type { Schema } from './document.ts';
import { absent, byName, examplesByMember, mapKeys, moments } from './examples.data.ts';
import { singular } from './schema-names.ts';

const byFormat: Record<string, string> = {
  'date-time': '2026-02-03T09:15:00.000Z',
  date: '2026-02-03',
  email: 'ada@example.org',
  uri: 'https://example.org/claims',
};

/** Maximum depth of examples of recursive schemas. */
const MAX_DEPTH = 12;

/** The location of an example: the component or operation and the member. */
interface Place {
  owner: string;
  /** The member that contains its object. */
  parent: string;
  name: string;
  /** Whether it is an item of an array. */
  isItem: boolean;
  depth: number;
}

/**
 * Derives an example of a schema: its own if it has one, otherwise composed of its parts; deterministic.
 * @param schemas the named schemas of the document, which `$ref`s point to.
 * @param owner the operation that the schema belongs to, if it is not a component.
 * @returns an example without the texts whose meaning is not known, undefined if it is one itself: `examples.data.ts` has
 *   to name examples of those that the schema requires.
 */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>, owner: string): unknown {
  const make = (part: Schema, place: Place): unknown => {
    const { depth } = place;
    const name = place.isItem ? singular(place.name) : place.name;
    if (depth > MAX_DEPTH) return null;
    if (part.$ref) {
      const component = part.$ref.split('/').at(-1)!;
      return make(schemas[component] ?? {}, {
        ...place,
        owner: component.replace(/Item$/, ''),
        depth: depth + 1,
      });
    }
    const known = examplesByMember[`${place.parent}.${name}`] ?? examplesByMember[`${place.owner}.${name}`];
    if (known !== undefined && fits(part, known)) return known;
    if (part.example !== undefined) return part.example;
    if (part.examples?.length) return part.examples[0];
    if (part.const !== undefined) return part.const;
    if (absent.has(name) && typesOf(part).includes('null')) return null;
    if (part.enum?.length) return part.enum[0];
    const choice = part.anyOf?.[0] ?? part.oneOf?.[0];
    if (choice) return make(choice, { ...place, depth: depth + 1 });
    if (part.allOf)
      return Object.assign({}, ...part.allOf.map((one) => make(one, { ...place, depth: depth + 1 })));
    switch (typesOf(part)[0]) {
      case 'object':
        return objectExample(part, place);
      case 'array':
        return [make(part.items ?? {}, { ...place, depth: depth + 1, isItem: true })].filter(isKnown);
      case 'string':
        return stringExample(part, name);
      case 'integer':
      case 'number':
        return numberExample(part, name);
      case 'boolean':
        return part.default ?? byName[name] !== false;
      default:
        return null;
    }
  };

  const objectExample = (part: Schema, place: Place): unknown => {
    const { owner: above, name, depth } = place;
    const members = Object.entries(part.properties ?? {});
    const rest = part.additionalProperties;
    if (members.length === 0) {
      const open = typeof rest === 'object' && Object.keys(rest).length > 0;
      if (!open) return typeof byName[name] === 'object' && rest !== false ? byName[name] : {};
      const key = mapKeys[`${above}.${name}`] ?? mapKeys[name] ?? 'Application';
      return { [key]: make(rest, { ...place, depth: depth + 1, isItem: true }) };
    }
    // a list response has either a page or a cursor
    const isList = part.properties?.page !== undefined;
    return Object.fromEntries(
      members
        .filter(([member]) => !(isList && member === 'next_cursor'))
        .map(([member, one]) => [
          member,
          make(one, { owner: above, parent: name, name: member, depth: depth + 1, isItem: false }),
        ])
        .filter(([, value]) => isKnown(value)),
    );
  };

  return make(schema, { owner, parent: '', name: '', isItem: false, depth: 0 });
}

const isKnown = (value: unknown): boolean => value !== undefined;

/** The types that a schema allows, including its alternatives. */
const typesOf = ({ type, anyOf }: Schema): (string | undefined)[] =>
  anyOf ? anyOf.flatMap(typesOf) : Array.isArray(type) ? type : [type];

function fits(schema: Schema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((part) => fits(part, value));
  if (schema.enum) return schema.enum.includes(value);
  const types = typesOf(schema);
  if (value === null) return types.includes('null');
  if (typeof value === 'number') {
    const isInRange = value >= (schema.minimum ?? value) && value <= Number(schema.maximum ?? value);
    return isInRange && (types.includes('number') || (types.includes('integer') && Number.isInteger(value)));
  }
  if (typeof value !== 'string') return types.includes(Array.isArray(value) ? 'array' : typeof value);
  const isInLength = value.length <= Number(schema.maxLength ?? value.length);
  return (
    types.includes('string') && isInLength && (!schema.pattern || new RegExp(schema.pattern).test(value))
  );
}

function numberExample(schema: Schema, name: string): unknown {
  const known = byName[name];
  if (typeof known === 'number' && fits(schema, known)) return known;
  return schema.default ?? Math.max(schema.minimum ?? 1, 1);
}

function stringExample(schema: Schema, name: string): unknown {
  if (schema.format === 'uuid') return idOf(name);
  const known = moments[name] ?? byName[name];
  if (schema.format) {
    const ofFormat = byFormat[schema.format];
    return typeof known === 'string' && ofFormat && sameForm(known, ofFormat) ? known : ofFormat;
  }
  if (schema.default !== undefined) return schema.default;
  if (byName[name] !== undefined && fits(schema, byName[name])) return byName[name];
  return undefined;
}

/** Whether both have the same pattern of digits, such as two dates or two timestamps. */
const sameForm = (a: string, b: string): boolean => a.replace(/\d/g, '0') === b.replace(/\d/g, '0');

/** Derives an id from a name, so that examples have different ids for a user and a card. */
function idOf(name: string): string {
  if (name === 'id' || name === 'card_id') return '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11';
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 0x1000000;
  return `0199a3c4-5f10-7c3e-8a51-2f6f0e${hash.toString(16).padStart(6, '0')}`;
}
