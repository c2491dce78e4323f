import type { JSONSchema7 } from '@ai-sdk/provider';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';

const ajv = new Ajv2020({ allErrors: true, strict: false });
const compiled = new WeakMap<TSchema, ReturnType<typeof ajv.compile>>();

/** Keywords that providers do not support; answers are validated against the complete schema anyway. */
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

/** Converts a schema for providers. `strict`: every object is closed and all members are required. */
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
  // a member can have the name of a schema keyword
  const members = (given: object): object =>
    Object.fromEntries(Object.entries(given).map(([name, inner]) => [name, plain(inner)]));
  return { schema: plain(schema) as JSONSchema7, strict };
}

/** The validation errors of an answer, as sentences for the model. */
export function schemaErrors(schema: TSchema, answer: unknown): string[] {
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

/** Parses the JSON of an answer, with or without a code fence; undefined if it is invalid. */
export function readJson(text: string): unknown {
  const inner = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(inner);
  } catch {
    return undefined;
  }
}
