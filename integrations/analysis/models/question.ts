import Type, { type Static } from 'typebox';
import type { QueryMeasure, ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { EstateError } from '../../../platform/errors.ts';
import { complete, toClientError } from './models.complete.ts';
import { promptNamed } from './models.prompts.ts';
import { type ModelServices, requestRetryPolicy } from './models.types.ts';

const closed = { additionalProperties: false };
const Text = (maxLength: number) => Type.String({ maxLength });
const orNull = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T | null>(Type.Union([...values.map((value) => Type.Literal(value)), Type.Null()]));
const oneOf = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(values.map((value) => Type.Literal(value))));

const Answer = Type.Object(
  {
    answerable: Type.Boolean(),
    reason: Text(500),
    from: Type.Array(Text(100), { maxItems: 50 }),
    filter: Text(4_000),
    dimensions: Type.Array(
      Type.Object({ field: Text(300), bucket: orNull(['year', 'quarter', 'month', 'day']) }, closed),
      { maxItems: 8 },
    ),
    measures: Type.Array(
      Type.Object(
        {
          fn: oneOf(['count', 'sum', 'avg', 'min', 'max', 'distinct', 'percentile']),
          field: Type.Union([Text(300), Type.Null()]),
          p: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
        },
        closed,
      ),
      { maxItems: 20 },
    ),
    sort: Type.Array(
      Type.Object({ column: Type.Integer({ minimum: 0, maximum: 27 }), dir: oneOf(['asc', 'desc']) }, closed),
      { maxItems: 28 },
    ),
    limit: Type.Union([Type.Integer({ minimum: 1, maximum: 10_000 }), Type.Null()]),
  },
  closed,
);
type ModelAnswer = Static<typeof Answer>;

/** Maximum number of tag names in a request. */
const MOST_TAGS = 300;

export interface QuestionForModel {
  question: string;
  tags: readonly { group: string; tag: string }[];
  /** Returns the errors of a query against the metamodel. @throws EstateError for fields that the caller may not read. */
  faultsOf(query: ReportQuery): Promise<string[]>;
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
  { question, tags, faultsOf }: QuestionForModel,
): Promise<ModelReading> {
  const data = {
    question,
    today: new Date().toISOString().slice(0, 10),
    ...namesOf(ctx),
    tags: tags.slice(0, MOST_TAGS),
  };
  let refused: { query: ReportQuery; faults: string[] } | undefined;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { answer, provider, model, prompt } = await complete(
      services,
      {
        purpose: 'question',
        runId: null,
        prompt: promptNamed('question'),
        data: refused ? { ...data, refused } : data,
        schema: Answer,
      },
      requestRetryPolicy,
    ).catch((error: unknown) => {
      throw toClientError(error);
    });
    if (!answer.answerable) throw new EstateError('question_not_understood', answer.reason);
    const query = queryOf(answer);
    const faults = await faultsOf(query);
    if (faults.length === 0) {
      return {
        query,
        ...(answer.limit === null ? {} : { limit: answer.limit }),
        reading: [answer.reason],
        model: { provider, model, prompt },
      };
    }
    refused = { query, faults: faults.slice(0, 20) };
  }
  throw new EstateError(
    'question_not_understood',
    'The model found no query that is valid for the metamodel.',
  );
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
