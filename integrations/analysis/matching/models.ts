import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { BINS } from './bits.ts';
import { type MatchModel, MODEL_FORMAT } from './matching.types.ts';

const number = Type.Number();
const count = Type.Integer({ minimum: 0 });
const texts = Type.Array(Type.String());
const strict = { additionalProperties: false };
const AspectSchema = Type.Object(
  {
    aspect: Type.String(),
    bits: Type.Array(number, { minItems: BINS, maxItems: BINS }),
    seen: Type.Array(Type.Number({ minimum: 0 }), { minItems: BINS + 1, maxItems: BINS + 1 }),
  },
  strict,
);
const TermsSchema = Type.Object({ rows: count, terms: texts, counts: Type.Array(count) }, strict);
const FieldSchema = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum([
      'name',
      'list',
      'address',
      'text',
      'code',
      'version',
      'choice',
      'set',
      'number',
      'date',
    ]),
    weight: Type.Optional(number),
    without: Type.Optional(Type.String()),
  },
  strict,
);
const ModelSchema = Type.Object(
  {
    format: Type.Literal(MODEL_FORMAT),
    fields: Type.Array(FieldSchema),
    aspects: Type.Array(AspectSchema),
    priorBits: number,
    exclusive: Type.Boolean(),
    transitivity: Type.Number({ minimum: 0, maximum: 1 }),
    dictionary: Type.Object(
      {
        acronyms: Type.Record(Type.String(), Type.String()),
        joints: texts,
        umlauts: texts,
        alone: Type.Record(Type.String(), texts),
        leading: Type.Record(Type.String(), texts),
        series: texts,
      },
      strict,
    ),
    terms: Type.Record(Type.String(), TermsSchema),
    learned: Type.Object({ records: count, pairs: count, decisions: count, newWords: number }, strict),
  },
  strict,
);

/**
 * Validates a stored model.
 *
 * @throws RangeError for an invalid model or another format
 */
export function readModel(stored: unknown): MatchModel {
  const [error] = Value.Errors(ModelSchema, stored);
  if (error) throw new RangeError(`Invalid model: ${error.instancePath || 'it'} ${error.message}.`);
  const model = stored as MatchModel;
  for (const [name, { terms, counts }] of Object.entries(model.terms)) {
    if (terms.length !== counts.length)
      throw new RangeError(`Invalid model: terms and counts of ${name} differ.`);
    if (terms.some((term, at) => at > 0 && terms[at - 1]! >= term))
      throw new RangeError(`Invalid model: the terms of ${name} are not in order.`);
  }
  return model;
}

/** The hash of a model's content, independent of the order of members. */
export const modelId = (model: MatchModel): string =>
  createHash('sha256').update(canonical(model)).digest('hex').slice(0, 32);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    .join()}}`;
}
