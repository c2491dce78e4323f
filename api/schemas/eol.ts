import Type from 'typebox';
import { EolCycle, EolProduct } from '../../domain/governance/eol/eol.model.ts';
import {
  component,
  DateOnly,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { listQuery } from './common.ts';

const {
  name: Product,
  label: Label,
  category,
  aliases,
  link: Link,
  source,
  checked_at,
  changed_at,
} = EolProduct.columns;
const Cycle = EolCycle.columns.cycle;

export const EolProductSchema = itemComponent('EolProduct', {
  name: Product,
  label: Label,
  category,
  aliases,
  link: Link,
  cycles: Type.Integer({ minimum: 0, description: 'The number of known release cycles' }),
  source,
  checked_at,
  changed_at,
});

const Score = Type.Number({ minimum: 0, maximum: 1, description: '1 for an exact match' });

export const EolProductMatchSchema = itemComponent('EolProductMatch', {
  name: Product,
  label: Label,
  score: Score,
});

/** A date if it is known, otherwise a boolean; null if the product has no such phase. */
const dateOrFlag = (description: string) =>
  Type.Union([DateOnly, Type.Boolean(), Type.Null()], { description });

export const EolCycleSchema = itemComponent('EolCycle', {
  cycle: Cycle,
  releaseDate: Nullable(DateOnly),
  eol: dateOrFlag('First day without support, or whether support has ended'),
  latest: Nullable(Type.String({ description: 'The newest version' })),
  latestReleaseDate: Nullable(DateOnly),
  lts: dateOrFlag('Start of long-term support, or whether there is any'),
  support: dateOrFlag('End of active support, or whether it continues'),
  discontinued: dateOrFlag('When it was discontinued, or whether it was'),
  codename: Nullable(Type.String()),
  link: Link,
});

const card = { card_id: Uuid, card_name: Type.String(), card_type: Type.String() };

const MassEolCandidateSchema = component('MassEolCandidate', {
  ...card,
  eol_product: Product,
  eol_cycle: Nullable(Type.String({ description: 'The cycle by name, alias or version' })),
  score: Score,
});

export const MassEolResultSchema = itemComponent('MassEolResult', {
  ...card,
  current_eol_product: Nullable(Product),
  current_eol_cycle: Nullable(Cycle),
  candidates: Type.Array(MassEolCandidateSchema, { description: 'At most 5, best match first' }),
});

export const EolProductParams = object({
  product: Type.String({ minLength: 1, maxLength: 100, pattern: '^[a-z0-9][a-z0-9._+-]*$' }),
});

const { search: _, ...matchQuery } = listQuery(['score', 'name'], 'score', {}).properties;
export const EolMatchQuery = object({
  search: Type.String({
    minLength: 2,
    maxLength: 200,
    description: 'A name; it can be misspelt or contain a version',
  }),
  ...matchQuery,
});

export const MassSearchQuery = listQuery(['name', 'created_at'], 'name', {
  type_key: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The type of the cards: `Application` or `ITComponent`',
    examples: ['ITComponent'],
  }),
  unlinked_only: Type.Boolean({ default: false, description: 'Only cards that are linked to no product' }),
});

const MAX_LINKS = 10_000;

export const MassLinkBody = Type.Array(
  object({
    card_id: Uuid,
    eol_product: Type.String({ minLength: 1, maxLength: 100 }),
    eol_cycle: Type.String({ minLength: 1, maxLength: 100 }),
  }),
  { minItems: 1, maxItems: MAX_LINKS },
);

export const MassLinkAnswerSchema = component('MassEolLinkAnswer', {
  dry_run: Type.Boolean(),
  linked: Type.Integer({ minimum: 0, description: 'Cards that have the requested link' }),
  unchanged: Type.Integer({ minimum: 0, description: 'Those of them that had it before' }),
  errors: Type.Array(
    object({
      row_index: Type.Integer({ minimum: 0, description: 'The index in the request, from 0' }),
      card_id: Uuid,
      code: Type.String({ examples: ['unknown_cycle'] }),
      message: Type.String(),
    }),
  ),
});

const MAX_PRODUCTS = 5_000;

/** The response of the public API's `/products/full`. */
export const FactsBody = object({
  schema_version: Type.Optional(Type.String({ maxLength: 50 })),
  generated_at: Type.Optional(Type.String({ maxLength: 50 })),
  total: Type.Optional(Type.Integer()),
  result: Type.Array(OpenObject, {
    minItems: 1,
    maxItems: MAX_PRODUCTS,
    description: 'Products with their `releases`; unknown members are ignored',
  }),
});

export const LoadedFactsSchema = component('LoadedEolFacts', {
  products: Type.Integer({ minimum: 0 }),
  cycles: Type.Integer({ minimum: 0 }),
  changed: Type.Integer({ minimum: 0, description: 'Products whose facts differ from what was known' }),
});
