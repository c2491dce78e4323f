import Type, { type Static } from 'typebox';
import type { QueryMeasure, ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { arrayOf, Nullable, object } from '../../../domain/kernel/shapes.ts';
import { EstateError } from '../../../platform/errors.ts';
import { completeNow, toClientError } from './models.complete.ts';
import type { ModelServices } from './models.types.ts';

const Text = (maxLength: number) => Type.String({ maxLength });
const oneOf = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(values.map((value) => Type.Literal(value))));

const Answer = object({
  answerable: Type.Boolean(),
  reason: Text(500),
  from: Type.Array(Text(100), { maxItems: 50 }),
  filter: Text(4_000),
  dimensions: arrayOf(
    { field: Text(300), bucket: Nullable(oneOf(['year', 'quarter', 'month', 'day'])) },
    { maxItems: 8 },
  ),
  measures: arrayOf(
    {
      fn: oneOf(['count', 'sum', 'avg', 'min', 'max', 'distinct', 'percentile']),
      field: Nullable(Text(300)),
      p: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
    },
    { maxItems: 20 },
  ),
  sort: arrayOf(
    { column: Type.Integer({ minimum: 0, maximum: 27 }), dir: oneOf(['asc', 'desc']) },
    { maxItems: 28 },
  ),
  limit: Nullable(Type.Integer({ minimum: 1, maximum: 10_000 })),
});
type ModelAnswer = Static<typeof Answer>;

/** Maximum number of tag names in a request. */
const MOST_TAGS = 300;

export interface QuestionForModel {
  question: string;
  tags: readonly { group: string; tag: string }[];
  /** Returns the errors of a query against the metamodel. @throws EstateError for fields that the caller may not read. */
  errorsOf(query: ReportQuery): Promise<string[]>;
}

/** A model's interpretation of a question. */
export interface ModelReading {
  query: ReportQuery;
  limit?: number;
  reading: string[];
  model: { provider: string; model: string; prompt: string };
}

/**
 * Converts a question into a query by a model. It gets the question and the names of metamodel and tags, but no cards. Its
 * answer is only a query, which runs with the rights of the caller.
 * @throws EstateError `question_not_understood`, `ai_not_configured`, `ai_budget_spent`, `upstream_failed`.
 */
export async function readByModel(
  ctx: Ctx,
  services: ModelServices,
  { question, tags, errorsOf }: QuestionForModel,
): Promise<ModelReading> {
  const today = new Date().toISOString().slice(0, 10);
  const data = { question, today, ...namesOf(ctx), tags: tags.slice(0, MOST_TAGS) };
  let isInvalid = false;
  const check = async (answer: ModelAnswer) => {
    const errors = answer.answerable ? await errorsOf(queryOf(answer)) : [];
    isInvalid = errors.length > 0;
    return errors;
  };
  try {
    const request = { data, schema: Answer, check };
    const { answer, provider, model, prompt } = await completeNow(services, 'question', request);
    if (!answer.answerable) throw new EstateError('question_not_understood', answer.reason);
    return {
      query: queryOf(answer),
      ...(answer.limit === null ? {} : { limit: answer.limit }),
      reading: [answer.reason],
      model: { provider, model, prompt },
    };
  } catch (error) {
    if (!isInvalid) throw toClientError(error);
    const detail = 'The model found no query that is valid for the metamodel.';
    throw new EstateError('question_not_understood', detail);
  }
}

function queryOf({ from, filter, dimensions, measures, sort }: ModelAnswer): ReportQuery {
  const asked: QueryMeasure[] = measures.map(({ fn, field, p }, at) => ({
    fn,
    ...(field === null ? {} : { field }),
    ...(p === null ? {} : { p }),
    as: `m${at + 1}`,
  }));
  const counted = asked.length > 0 ? asked : [{ fn: 'count' as const, as: 'm1' }];
  const columns = [...dimensions.map((_, at) => `d${at + 1}`), ...counted.map(({ as }) => as!)];
  return {
    from,
    filter,
    dimensions: dimensions.map(({ field, bucket }, at) => ({
      field,
      ...(bucket === null ? {} : { bucket }),
      as: `d${at + 1}`,
    })),
    measures: counted,
    having: [],
    sort: sort.flatMap(({ column, dir }) =>
      columns[column] === undefined ? [] : [{ column: columns[column], dir }],
    ),
  };
}

/** The parts of the visible metamodel that a query needs. */
function namesOf({ metamodel }: Ctx) {
  return {
    types: metamodel.visibleTypes.map((key) => {
      const { label, subtypes, fields, stakeholderRoles } = metamodel.cardTypes.get(key)!;
      return {
        key,
        label,
        subtypes: subtypes.map((subtype) => ({ key: subtype.key, label: subtype.label })),
        fields: [...fields.values()].map((field) => ({
          field: `attributes.${field.key}`,
          label: field.label,
          type: field.type,
          ...(field.options.size > 0 ? { options: Object.fromEntries(field.optionLabels) } : {}),
        })),
        roles: stakeholderRoles.map((role) => role.key),
      };
    }),
    relations: metamodel.visibleRelationTypes.map((key) => {
      const { label, source_type_key: source, target_type_key: target } = metamodel.relationTypes.get(key)!;
      return { key, label, source, target };
    }),
  };
}
