import type { JSONSchema7 } from '@ai-sdk/provider';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';

const ajv = new Ajv2020({ allErrors: true, strict: false });
const compiled = new WeakMap<TSchema, ReturnType<typeof ajv.compile>>();

/** What a provider's grammar does not take; answers are checked against the whole schema all the same. */
const dropped = new Set([
  '$id',
  'default',
  'examples',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'uniqueItems',
]);

/** The schema as providers take it, with whether every object is closed and complete, as strict decoding wants it. */
export function outgoingSchema(schema: TSchema): { schema: JSONSchema7; strict: boolean } {
  let strict = true;
  const plain = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(plain);
    if (typeof part !== 'object' || part === null) return part;
    const { properties, required, additionalProperties, patternProperties } = part as Record<string, never>;
    if (properties !== undefined || patternProperties !== undefined) {
      const names = Object.keys(properties ?? {});
      const all = names.every((name) => ((required ?? []) as string[]).includes(name));
      if (!all || additionalProperties !== false || patternProperties !== undefined) strict = false;
    }
    return Object.fromEntries(
      Object.entries(part)
        .filter(([name]) => !dropped.has(name))
        .map(([name, inner]) => [name, name === 'properties' ? members(inner) : plain(inner)]),
    );
  };
  // a member may be called as one of the words of the schema language
  const members = (given: object): object =>
    Object.fromEntries(Object.entries(given).map(([name, inner]) => [name, plain(inner)]));
  return { schema: plain(schema) as JSONSchema7, strict };
}

/** How an answer does not fit, in sentences for the model; none when it does. */
export function schemaFaults(schema: TSchema, answer: unknown): string[] {
  let check = compiled.get(schema);
  if (!check) {
    check = ajv.compile(schema);
    compiled.set(schema, check);
  }
  if (check(answer)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'The answer'} ${message}`,
  );
}

/** The JSON of an answer, also where a model has put a fence around it; undefined when it is none. */
export function readJson(text: string): unknown {
  const inner = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(inner);
  } catch {
    return undefined;
  }
}
