import Type from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { CardType, CompiledField } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { Nullable, object } from '../../../domain/kernel/shapes.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { WELL_FILLED } from '../../kernel/charts/charts.labels.ts';
import { literal } from '../../kernel/report.sql.ts';

export const portfolioFields = ['x_axis', 'y_axis', 'size_field', 'color_field'] as const;
export type PortfolioField = (typeof portfolioFields)[number];

/** A field of the portfolio. */
export const ChosenField = object({
  field: Nullable(Type.String({ description: 'Null if the type has no such field' })),
  filled: Type.Integer({ description: 'The number of cards with a value' }),
  is_default: Type.Boolean({ description: 'Whether the report chose it, since the request names none' }),
});

/** The keys of the chosen fields. */
type ChosenKeys = Record<PortfolioField, string | null>;

/** The fields that are used where they are filled well enough. */
const preferred: Record<PortfolioField, string> = {
  x_axis: 'functionalSuitability',
  y_axis: 'technicalSuitability',
  size_field: 'costTotalAnnual',
  color_field: 'businessCriticality',
};

/** Whether an axis has one of these fields. */
export const isPreferredAxis = (key: string | null): boolean =>
  key === preferred.x_axis || key === preferred.y_axis;

/** Number of cards by which the fields of a type are compared. */
const SAMPLE = 5_000;

/** Fewer cards do not tell which fields a workspace fills. */
const FEW = 10;

const isOption = ({ type }: CompiledField): boolean => type === 'single_select';

/** An axis of options says more than one of numbers, which is used where no field of options is filled. */
const isAxis = (field: CompiledField): boolean =>
  isOption(field) || ['boolean', 'number', 'cost'].includes(field.type);

/** Whether a field can be used as each parameter by default. */
const fits: Record<PortfolioField, (field: CompiledField) => boolean> = {
  x_axis: isAxis,
  y_axis: isAxis,
  size_field: ({ type }) => type === 'cost' || type === 'number',
  color_field: isOption,
};

/**
 * Chooses the fields that a request does not name: the preferred one if it is filled for 30 % of the cards, else the
 * best-filled one of the kind; an axis has a number or a yes or no if no field of options is filled that well.
 * @param cards the condition of the cards. @param given the fields of the request.
 */
export async function chooseFields(
  sql: Sql,
  ctx: Ctx,
  type: CardType,
  cards: Fragment,
  given: Partial<Record<PortfolioField, string>>,
): Promise<ChosenKeys> {
  const isComplete = portfolioFields.every((param) => given[param] !== undefined);
  const seesCosts = may(ctx.caller, 'costs.view');
  const fields = [...type.fields].filter(([, field]) => seesCosts || field.type !== 'cost');
  const keys = fields.map(([key]) => key);
  const counts = isComplete ? [] : await countFilled(sql, cards, keys, SAMPLE);
  const filled = new Map(keys.map((key, n) => [key, counts[n + 1] ?? 0]));
  const enough = (counts[0] ?? 0) * WELL_FILLED;
  const chosen: Partial<ChosenKeys> = { ...given };
  const isFree = (key: string) => !Object.values(chosen).includes(key);
  const candidates = (param: PortfolioField) =>
    fields.filter(([key, field]) => fits[param](field) && isFree(key)).map(([key]) => key);
  const open = () => portfolioFields.filter((param) => chosen[param] === undefined);
  for (const param of open()) {
    const key = preferred[param];
    if (candidates(param).includes(key) && filled.get(key)! >= enough) chosen[param] = key;
  }
  const best = (param: PortfolioField): string | null => {
    const rank = (key: string) => {
      const count = filled.get(key)!;
      const isFirst = isOption(type.fields.get(key)!) && count > 0 && count >= enough;
      return count + (isFirst ? SAMPLE : 0) + (key === preferred[param] ? 0.5 : 0);
    };
    return candidates(param).toSorted((a, b) => rank(b) - rank(a))[0] ?? null;
  };
  for (const param of open()) chosen[param] = best(param);
  // without both axes no card is drawn: an empty one takes the field of the colour or the size
  const count = (param: PortfolioField) => filled.get(chosen[param] ?? '') ?? 0;
  for (const axis of ['x_axis', 'y_axis'] as const) {
    if ((counts[0] ?? 0) < FEW || given[axis] !== undefined || count(axis) > 0) continue;
    const donor = (['color_field', 'size_field'] as const).find(
      (param) =>
        given[param] === undefined && count(param) > 0 && fits[axis](type.fields.get(chosen[param]!)!),
    );
    if (donor === undefined) continue;
    chosen[axis] = chosen[donor]!;
    chosen[donor] = best(donor);
  }
  return chosen as ChosenKeys;
}

/** The number of cards, and of those with a value of each field. @param limit maximum number of cards that are read. */
async function countFilled(
  sql: Sql,
  cards: Fragment,
  keys: readonly string[],
  limit: number | null,
): Promise<number[]> {
  const counts = keys.map((key) => `count(c.attributes -> ${literal(key)})`);
  return (
    await query(sql).value<string[]>`select array[${embed(['count(*)', ...counts].join(', '))}]
      from (select c.attributes from cards c where ${embed(cards)} order by c.id limit ${limit}::int) c`
  ).map(Number);
}

/** The number of cards with a value of each field, and their groups. */
export interface PortfolioFigures {
  filled: Record<PortfolioField, number>;
  /** The text of an array; of fields with many values none are made. */
  groups: string;
}

/** Counts the cards by their values of the chosen fields in one scan. */
export async function portfolioFigures(
  sql: Sql,
  cards: Fragment,
  chosen: ChosenKeys,
  isGrouped: boolean,
): Promise<PortfolioFigures> {
  if (!isGrouped) {
    const keys = portfolioFields.map((param) => chosen[param] ?? '');
    const [, ...counts] = await countFilled(sql, cards, keys, null);
    const filled = Object.fromEntries(portfolioFields.map((param, n) => [param, counts[n]]));
    return { filled: filled as PortfolioFigures['filled'], groups: 'null' };
  }
  const value = (param: PortfolioField) =>
    chosen[param] === null ? 'null::jsonb' : `c.attributes -> ${literal(chosen[param])}`;
  const size = value('size_field');
  const filledIn = (column: string) => `coalesce(sum(g.count) filter (where g.${column} is not null), 0)`;
  const figures = await query(sql).row<PortfolioFigures>`with g as (
      select ${embed(value('x_axis'))} as x, ${embed(value('y_axis'))} as y, ${embed(value('color_field'))} as color,
        count(*) as count, count(${embed(size)}) as sized,
        coalesce(sum(case when jsonb_typeof(${embed(size)}) = 'number' then (${embed(size)})::numeric end), 0) as size
      from cards c where ${embed(cards)} group by 1, 2, 3)
    select json_build_object('x_axis', ${embed(filledIn('x'))}, 'y_axis', ${embed(filledIn('y'))},
        'size_field', coalesce(sum(g.sized), 0), 'color_field', ${embed(filledIn('color'))}) as filled,
      coalesce(jsonb_agg(to_jsonb(g) - 'sized' order by g.count desc, g.x, g.y, g.color), '[]')::text as groups
    from g`;
  return figures!;
}
