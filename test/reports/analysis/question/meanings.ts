import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import type { FilterCondition, FilterNode } from '../../../../domain/inventory/filters/filters.types.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../../domain/kernel/metamodel/metamodel.types.ts';
import type { ReadQuestion, UnreadQuestion } from '../../../../reports/analysis/question/question.draft.ts';

/** The day on which the questions of the files are asked. */
export const TODAY = '2026-07-15';

interface Meaning {
  ask: 'list' | 'count' | 'sum' | 'avg' | 'min' | 'max' | 'median';
  of: string[];
  field?: string;
  where?: string[];
  by?: string[];
  having?: string;
  order?: string;
  top?: number;
  show?: string[];
}

/** A question of a file; without `ask` it cannot be answered by a query. With `in` it is only about one landscape. */
export type AskedQuestion = { q: string; in?: string; or?: Partial<Meaning>[] } & Partial<Meaning>;

const folder = new URL('./questions/', import.meta.url);

/** The questions about a landscape in the files whose names begin with `prefix`. */
export function questionsOf(prefix: string, landscape: string): AskedQuestion[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => parse(readFileSync(new URL(name, folder), 'utf8')) as AskedQuestion[])
    .filter((asked) => (asked.in ?? landscape) === landscape);
}

export type Outcome = 'understood' | 'refused' | 'misread';

/** Whether what was read is one of the right meanings of a question. */
export function outcomeOf(asked: AskedQuestion, found: ReadQuestion | UnreadQuestion): Outcome {
  if (!('query' in found)) return 'refused';
  if (asked.ask === undefined) return 'misread';
  const { or = [], in: _, ...meaning } = asked;
  const isRight = [{}, ...or].some((other) => expresses(found, { ...meaning, ...other } as Meaning));
  return isRight ? 'understood' : 'misread';
}

function expresses({ query, limit }: ReadQuestion, meaning: Meaning): boolean {
  const { ask, of, where = [], by = [], show = [], having, order, top } = meaning;
  const dimensions = query.dimensions.map(({ field, bucket }) =>
    (bucket ? `${field} ${bucket}` : field).replaceAll('"', ''),
  );
  const isList = dimensions.includes('id');
  const [measure, ...others] = query.measures;
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (!same([...query.from].sort(), [...of].sort())) return false;
  if (!same(canonical(query.filter), canonical(where.map(withPhase).join(' and ')))) return false;
  if (isList !== (ask === 'list') || others.length > 0) return false;
  const shown = [...dimensions, measure!.field];
  if (isList ? !show.every((field) => shown.includes(field)) : !same([...dimensions].sort(), [...by].sort()))
    return false;
  const fn = measure!.fn === 'percentile' ? 'median' : measure!.fn;
  if (!isList && (fn !== (ask === 'count' ? 'count' : ask) || measure!.field !== meaning.field)) return false;
  const counted = measure!.field?.replace(/\.(name|id)$/, '');
  const tests = query.having.map(({ op, value }) => `${counted} ${op} ${value}`);
  if (!same(tests, having === undefined ? [] : [having])) return false;
  if (top !== undefined && top !== limit) return false;
  if (order === undefined) return limit === undefined;
  return `${counted ?? fn} ${query.sort[0]?.dir}` === order;
}

/** `phase = active` as conditions of the lifecycle's days. */
function withPhase(condition: string): string {
  const phase = /^phase = (\w+)$/.exec(condition)?.[1];
  if (!phase) return condition;
  const later = lifecyclePhases.slice(lifecyclePhases.indexOf(phase as LifecyclePhase) + 1);
  return [`lifecycle.${phase} <= ${TODAY}`, ...later.map((name) => `not lifecycle.${name} <= ${TODAY}`)].join(
    ' and ',
  );
}

/** The conditions of a filter in one form and order, which all have to be met. */
function canonical(filter: string): string[] {
  const node = parseFilter(filter);
  return node ? [...new Set(conjuncts(node))].sort() : [];
}

function conjuncts(node: FilterNode): string[] {
  if (node.kind === 'and') return node.items.flatMap(conjuncts);
  if (node.kind === 'or')
    return [
      node.items
        .map((item) => conjuncts(item).join(' & '))
        .sort()
        .join(' | '),
    ];
  if (node.kind === 'condition') return simple(node);
  const { item } = node as Extract<FilterNode, { kind: 'not' }>;
  if (item.kind === 'not') return conjuncts(item.item);
  if (item.kind === 'or') return item.items.flatMap((one) => conjuncts({ kind: 'not', item: one }));
  const [only, ...more] = conjuncts(item);
  if (more.length > 0) return [`not (${[only, ...more].join(' & ')})`];
  return [only!.endsWith(' is not empty') ? only!.replace(' is not empty', ' is empty') : `not ${only}`];
}

function simple({ path, operator, values }: FilterCondition): string[] {
  const field = path.map(({ text }) => text).join('.');
  const [first = '', second = ''] = values.map(({ text }) => text);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(first);
  if (operator === 'between')
    return isDay
      ? [`${field} >= ${first}`, `${field} < ${dayAfter(second)}`]
      : [`${field} >= ${first}`, `${field} <= ${second}`];
  if (isDay && operator === '<=') return [`${field} < ${dayAfter(first)}`];
  if (isDay && operator === '>') return [`${field} >= ${dayAfter(first)}`];
  if (operator === '!=') return [`not ${field} = ${first}`];
  if (operator === 'in')
    return [
      `${field} in ${values
        .map(({ text }) => text)
        .sort()
        .join(', ')}`,
    ];
  return [`${field} ${operator} ${operator === '~' ? first.toLowerCase() : first}`.trim()];
}

const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
