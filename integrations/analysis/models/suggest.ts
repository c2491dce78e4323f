import Type, { type Static } from 'typebox';
import { type OutgoingCard, readOutgoingCards } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { type AiSettings, requireAi, typeNotEnabled } from '../../../domain/analysis/ai/ai.provider.ts';
import { visibleCards } from '../../../domain/inventory/cards/cards.projection.ts';
import { searchCards } from '../../../domain/inventory/cards/cards.search.ts';
import { checkText, checkValue } from '../../../domain/inventory/cards/rules/values.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { CardType, CompiledField } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { WorkspaceSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { arrayOf, Nullable, NullableText, object } from '../../../domain/kernel/shapes.ts';
import { invalidField } from '../../../platform/errors.ts';
import { completeNow, toClientError } from './models.complete.ts';
import type { ModelServices } from './models.types.ts';
import { searchWeb } from './web-search.ts';

/** Maximum number of similar cards in the request. */
const SIMILAR = 5;
/** Maximum characters of a similar card; larger cards are omitted. */
const MAX_SIMILAR = 40_000;

const text = (maxLength: number, minLength = 0) => Type.String({ minLength, maxLength });

/** The card to suggest values for. */
export const suggestBody = object({
  type_key: text(100, 1),
  subtype: Type.Optional(Nullable(text(100))),
  name: Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }),
  context: Type.Optional(Nullable(text(500))),
});

const suggestion = object({
  value: Nullable(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  source: NullableText('The name of the card, or the title of the page, that the value was derived from'),
});

type SuggestInput = Static<typeof suggestBody>;

export const SuggestionsSchema = object(
  {
    suggestions: Type.Record(Type.String(), suggestion, {
      description: 'By field: `description`, `attributes.<key>`',
    }),
    sources: arrayOf(
      { url: Nullable(Type.String()), title: Nullable(Type.String()) },
      { description: 'Cards and web pages that the model received' },
    ),
    model: Nullable(Type.String()),
    search_provider: NullableText('The web search provider; null: no search'),
  },
  { $id: 'AiSuggestions' },
);
type Suggestions = Static<typeof SuggestionsSchema>;

/**
 * Returns a model's suggestions for a card. Every value is valid for its field; nothing is written.
 * @throws EstateError `ai_not_configured`, `ai_budget_spent`, `upstream_failed`, `validation_failed`.
 */
export async function suggestFields(
  ctx: Ctx,
  services: ModelServices,
  settings: WorkspaceSettings,
  input: SuggestInput,
): Promise<Suggestions> {
  requireAi(settings);
  const { ai } = settings.values;
  const type = typeOf(ctx, ai, input);
  const fields = fieldsToFill(type, input.subtype ?? null);
  const [similar, pages] = await Promise.all([
    cardsLike(ctx, ai, input),
    searchWeb(services, ai, input.name),
  ]);
  const sources: Source[] = [
    ...similar.map(({ id, name: title }) => ({ id, url: `/api/v1/cards/${id}`, title: title ?? id })),
    ...(pages ?? []).map(({ id, url, title }) => ({ id, url, title })),
  ];
  const { subtype, name, context } = input;
  try {
    const { answer, model } = await completeNow(services, 'suggest', {
      data: {
        card: { type: type.label, ...(subtype ? { subtype } : {}), name, ...(context ? { context } : {}) },
        fields: [...fields.values()].map(({ definition: _, ...field }) => field),
        similar,
        ...(pages ? { web: pages.map(({ id, title, text }) => ({ id, title, text })) } : {}),
      },
      schema: answerSchema([...fields.keys()], sources),
    });
    return {
      suggestions: usable(answer, fields, sources),
      sources: sources.map(({ url, title }) => ({ url, title })),
      model,
      search_provider: pages ? ai.search_provider : null,
    };
  } catch (error) {
    throw toClientError(error);
  }
}

/** A source from which a value can be derived. */
interface Source {
  id: string;
  url: string;
  title: string;
}

function typeOf(ctx: Ctx, ai: AiSettings, { type_key, subtype }: SuggestInput): CardType {
  const type = ctx.metamodel.cardTypes.get(type_key);
  if (!type || type.is_hidden) throw invalidField('type_key', 'unknown_type', 'is not a card type');
  if (subtype && !type.subtypeKeys.has(subtype)) {
    throw invalidField('subtype', 'unknown_subtype', `is not a subtype of ${type_key}`);
  }
  if (ai.enabled_types.length > 0 && !ai.enabled_types.includes(type_key)) throw typeNotEnabled(type_key);
  return type;
}

async function cardsLike(
  ctx: Ctx,
  ai: AiSettings,
  { type_key, name }: SuggestInput,
): Promise<OutgoingCard[]> {
  const ofType = { sql: "c.type = ? and c.status = 'ACTIVE'", bindings: [type_key] };
  const where = [visibleCards(ctx), ofType];
  const { ids } = await searchCards({ sql: ctx.db, where, plain: false, text: name });
  const cards = await readOutgoingCards(ctx, ai, ids.slice(0, SIMILAR));
  return cards.filter((card) => JSON.stringify(card).length <= MAX_SIMILAR);
}

function answerSchema(keys: string[], sources: readonly Source[]) {
  const oneOf = (texts: string[]) => Type.Union(texts.map((text) => Type.Literal(text)));
  return object({
    suggestions: arrayOf(
      {
        field: oneOf(keys),
        value: Type.Union([Type.String({ maxLength: 5_000 }), Type.Number(), Type.Boolean()]),
        confidence: Type.Number({ minimum: 0, maximum: 1 }),
        source: Type.Union([...sources.map(({ id }) => Type.Literal(id)), Type.Null()]),
      },
      { maxItems: 200 },
    ),
  });
}

/** The valid suggestions of an answer; of several for a field the one with the highest confidence. */
function usable(
  { suggestions }: Static<ReturnType<typeof answerSchema>>,
  fields: ReadonlyMap<string, FieldToFill>,
  sources: readonly Source[],
): Suggestions['suggestions'] {
  const names = new Map(sources.map(({ id, title }) => [id, title]));
  const found: Suggestions['suggestions'] = {};
  for (const { field, value, confidence, source } of suggestions) {
    const given = typeof value === 'string' ? value.trim() : value;
    if (valueError(fields.get(field)!, given) !== undefined) continue;
    if ((found[field]?.confidence ?? -1) >= confidence) continue;
    found[field] = { value: given, confidence, source: source === null ? null : (names.get(source) ?? null) };
  }
  return found;
}

/** A field as the model receives it. */
interface FieldToFill {
  key: string;
  label: string;
  type: string;
  options?: { key: string; label: string }[];
  /** Absent for the description. */
  definition?: CompiledField;
}

/** Maximum characters of a description. */
const MAX_DESCRIPTION = 3_000;

/** Maximum characters of all field definitions; further fields are not suggested. */
const MAX_FIELDS = 100_000;

/** Field types that are never suggested, since models would invent values: amounts, dates, URLs. */
const never: ReadonlySet<FieldType> = new Set(['cost', 'date', 'url', 'multiple_select']);

/** Fields that can be suggested for the type: the description, and editable attributes, by their API names. */
function fieldsToFill(type: CardType, subtype: string | null): Map<string, FieldToFill> {
  const hidden = subtype === null ? undefined : type.hiddenFields.get(subtype);
  const fields: FieldToFill[] = [{ key: 'description', label: 'Description', type: 'text' }];
  for (const definition of type.fields.values()) {
    const { key, label, type: kind, readonly, optionLabels } = definition;
    if (readonly || never.has(kind) || hidden?.has(key)) continue;
    fields.push({
      key: `attributes.${key}`,
      label,
      type: kind,
      ...(optionLabels.size === 0
        ? {}
        : { options: [...optionLabels].map(([option, name]) => ({ key: option, label: name })) }),
      definition,
    });
  }
  let length = 0;
  const offered = fields.filter(({ definition: _, ...field }) => {
    length += JSON.stringify(field).length;
    return length <= MAX_FIELDS;
  });
  return new Map(offered.map((field) => [field.key, field]));
}

/** Why a suggested value is discarded, or undefined. Links and markup could come from a hostile text. */
function valueError({ definition }: FieldToFill, value: unknown): string | undefined {
  if (typeof value === 'string' && definition?.type !== 'single_select') {
    if (value === '') return 'is empty';
    if (/:\/\/|\bwww\.|<\/?[a-z!]|\]\(|\p{Cf}/iu.test(value)) return 'contains a link or markup';
  }
  if (!definition) {
    if (typeof value !== 'string') return 'is no text';
    return checkText('description', value, MAX_DESCRIPTION)?.message;
  }
  return checkValue(definition, definition.key, value)?.message;
}
