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
 * Chooses the fields that a request does not name. The axes are the preferred ones if 30 % of the cards have both, else those
 * that most cards have both; the others, and the axes of few cards, are the preferred one if it is filled for 30 % of the cards,
 * else the best-filled one of the kind.
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
  const fillings = isComplete ? [] : await readFillings(sql, cards, keys);
  const total = fillings.reduce((sum, { count }) => sum + count, 0);
  const filled = new Map(keys.map((key) => [key, countOf(fillings, [keys.indexOf(key)])]));
  const enough = total * WELL_FILLED;
  const chosen: Partial<ChosenKeys> = { ...given };
  const isFree = (key: string) => !Object.values(chosen).includes(key);
  const candidates = (param: PortfolioField) =>
    fields.filter(([key, field]) => fits[param](field) && isFree(key)).map(([key]) => key);
  const open = () => portfolioFields.filter((param) => chosen[param] === undefined);
  if (total >= FEW) Object.assign(chosen, bestAxes(type, given, keys, fillings, enough));
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
  return chosen as ChosenKeys;
}

/** How many cards have values in the same fields. */
interface Filling {
  /** A `1` for each field with a value. */
  has: string;
  count: number;
}

/** The number of cards with values in all fields at these places. */
const countOf = (fillings: readonly Filling[], places: readonly number[]): number =>
  fillings.reduce((sum, { has, count }) => (places.every((at) => has[at] === '1') ? sum + count : sum), 0);

/** The axes that most cards have both, beside those of the request; none if no card has both. Costs come last. */
function bestAxes(
  type: CardType,
  given: Partial<Record<PortfolioField, string>>,
  keys: readonly string[],
  fillings: readonly Filling[],
  enough: number,
): Partial<Pick<ChosenKeys, 'x_axis' | 'y_axis'>> {
  const taken = new Set(Object.values(given));
  const free = keys.filter((key) => isAxis(type.fields.get(key)!) && !taken.has(key));
  const of = (axis: 'x_axis' | 'y_axis') => (given[axis] === undefined ? free : [given[axis]]);
  const places = new Map(keys.map((key, at) => [key, at]));
  let best: { rank: number; x_axis: string; y_axis: string } | undefined;
  for (const x_axis of of('x_axis')) {
    for (const y_axis of of('y_axis')) {
      if (x_axis === y_axis) continue;
      const both = [x_axis, y_axis];
      const count = countOf(
        fillings,
        both.flatMap((key) => places.get(key) ?? []),
      );
      if (count === 0) continue;
      const open = both.filter((key) => !taken.has(key)).map((key) => type.fields.get(key)!);
      const isWell = count >= enough;
      const likes = Number(x_axis === preferred.x_axis) + Number(y_axis === preferred.y_axis);
      let rank = count + likes / 4;
      if (open.every(isOption)) rank += isWell ? SAMPLE : 0.1;
      if (isWell && likes === 2) rank += SAMPLE;
      if (open.some((field) => field.type === 'cost')) rank -= 3 * SAMPLE;
      if (!best || rank > best.rank) best = { rank, x_axis, y_axis };
    }
  }
  return best ? { x_axis: best.x_axis, y_axis: best.y_axis } : {};
}

/** The cards by the fields that have values, in one scan of a sample. */
async function readFillings(sql: Sql, cards: Fragment, keys: readonly string[]): Promise<Filling[]> {
  const has = keys.map((key) => `case when c.attributes -> ${literal(key)} is null then '0' else '1' end`);
  return await query(sql)
    .rows<Filling>`select ${embed(["''", ...has].join(' || '))} as has, count(*)::int as count
    from (select c.attributes from cards c where ${embed(cards)} order by c.id limit ${SAMPLE}::int) c group by 1`;
}

/** The number of cards with a value of each field. */
async function countFilled(sql: Sql, cards: Fragment, keys: readonly string[]): Promise<number[]> {
  const counts = keys.map((key) => `count(c.attributes -> ${literal(key)})`);
  return (
    await query(sql).value<string[]>`select array[${embed(counts.join(', '))}]
      from cards c where ${embed(cards)}`
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
    const counts = await countFilled(sql, cards, keys);
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
