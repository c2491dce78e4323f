import type { ChartContext } from '../../../../reports/kernel/charts/charts.labels.ts';
import {
  optionLegend,
  phaseLegend,
  worseOptions,
  worstFirst,
} from '../../../../reports/kernel/charts/charts.labels.ts';
import type { Paint } from '../../../../reports/kernel/charts/charts.types.ts';
import type { Rule } from './map.search.ts';
import type { MapBox, Member } from './map.tree.ts';

/** An entry of the legend. */
interface LegendKey {
  key: string;
  name: string;
  paint: Paint;
}

/** What colours the boxes. */
export interface Measure {
  key: string;
  label: string;
  kind: 'options' | 'number' | 'money' | 'percent' | 'count';
  /** Whether the value is that of the box itself, not of the cards in it. */
  isOwn: boolean;
  /** The card type whose field it is. */
  type: string;
  /** The key of the field. */
  field: string;
}

/** How boxes get their colours. */
export interface Colouring {
  legend: LegendKey[];
  /** The value of a box; null without one. */
  readValue(box: MapBox): string | number | null;
  /** The entry of the legend of a value. */
  keyOf(value: string | number | null): string;
  paintOf(value: string | number | null): Paint;
  /** Orders cards in a box: those that decide its colour come first. */
  compare(a: Member, b: Member): number;
}

const NO_VALUE = 'none';

/** The rules that a measure supports; the first is the default. */
export function rulesOf({ kind, isOwn }: Measure): readonly Rule[] {
  if (isOwn || kind === 'count') return [];
  if (kind === 'options') return ['worst', 'mean', 'share'];
  return kind === 'percent' ? ['mean', 'max'] : ['sum', 'mean', 'max'];
}

/** The weight of a card in a mean: its cost; cards without a cost count as the cheapest. */
const weightOf = ({ cost }: Member): number => Math.max(1, cost ?? 1);

/** Names of the parts of a scale. */
export type WriteRange = (from: number, to: number) => string;

interface ColouringInput {
  measure: Measure;
  rule: Rule | undefined;
  context: ChartContext;
  /** The boxes that are drawn without parts: their values span the scale. */
  leaves: readonly MapBox[];
  noValue: string;
  writeRange: WriteRange;
}

/** The colours of a measure. */
export function colouringOf(input: ColouringInput): Colouring {
  const { measure, rule } = input;
  return measure.kind === 'options' && rule !== 'share' ? byOptions(input) : byScale(input);
}

/** The entries of a field with options, the worst first. */
function entriesOf({ measure, context }: ColouringInput): LegendKey[] {
  if (measure.field === 'phase')
    return phaseLegend(context)
      .flatMap(({ name, paint }) =>
        typeof paint === 'object' && 'phase' in paint ? [{ key: paint.phase, name, paint }] : [],
      )
      .toReversed();
  const entries = new Map(optionLegend(context, measure.type, measure.field).map((one) => [one.key, one]));
  return worstFirst(context, measure.type, measure.field).map((key) => entries.get(key)!);
}

/** A value for each box, found once. */
function once<T>(read: (box: MapBox) => T): (box: MapBox) => T {
  const known = new Map<MapBox, T>();
  return (box) => {
    if (!known.has(box)) known.set(box, read(box));
    return known.get(box)!;
  };
}

function byOptions(input: ColouringInput): Colouring {
  const { measure, rule, noValue } = input;
  const entries = entriesOf(input);
  const rank = new Map(entries.map(({ key }, at) => [key, at]));
  const rankOf = (value: string | number | null) => rank.get(String(value)) ?? entries.length;
  const paints = new Map(entries.map(({ key, paint }) => [key, paint]));
  const known = (box: MapBox) => [...box.all.values()].filter(({ value }) => rank.has(String(value)));
  const worst = (box: MapBox) => {
    let least = entries.length;
    for (const { value } of box.all.values()) least = Math.min(least, rankOf(value));
    return entries[least]?.key ?? null;
  };
  const mean = (box: MapBox) => {
    const members = known(box);
    const total = members.reduce((sum, member) => sum + weightOf(member), 0);
    if (total === 0) return null;
    const at = members.reduce((sum, member) => sum + rankOf(member.value) * weightOf(member), 0) / total;
    return entries[Math.round(at)]!.key;
  };
  const read = measure.isOwn ? ({ value }: MapBox) => value : rule === 'mean' ? mean : worst;
  return {
    legend: [...entries.toReversed(), { key: NO_VALUE, name: noValue, paint: 'others' }],
    readValue: once<string | number | null>(read),
    keyOf: (value) => (rank.has(String(value)) ? String(value) : NO_VALUE),
    paintOf: (value) => paints.get(String(value)) ?? 'others',
    compare: (a, b) => rankOf(a.value) - rankOf(b.value) || (b.cost ?? 0) - (a.cost ?? 0),
  };
}

/** Parts of a scale. */
const STEPS = 5;

function byScale(input: ColouringInput): Colouring {
  const { measure, rule, leaves, noValue, writeRange } = input;
  const options = entriesOf(input).map(({ key }) => key);
  const worse = new Set(options.slice(0, worseOptions(options)));
  const readValue = once((box: MapBox): number | null => {
    if (measure.isOwn) return typeof box.value === 'number' ? box.value : null;
    if (measure.kind === 'count') return box.all.size;
    const members = [...box.all.values()].filter(({ value }) => value !== null);
    if (members.length === 0) return null;
    if (measure.kind === 'options')
      return members.filter(({ value }) => worse.has(String(value))).length / members.length;
    const numbers = members.map(({ value }) => Number(value));
    if (rule === 'max') return numbers.reduce((most, value) => Math.max(most, value));
    const sum = numbers.reduce((total, value) => total + value, 0);
    return rule === 'mean' ? sum / numbers.length : sum;
  });
  const isShare = measure.kind === 'options';
  const most = isShare ? 1 : leaves.reduce((max, box) => Math.max(max, readValue(box) ?? 0), 0);
  const stepOf = (value: number) => Math.min(STEPS - 1, Math.max(0, Math.ceil((value / most) * STEPS) - 1));
  const keyOf = (value: string | number | null) =>
    typeof value !== 'number' ? NO_VALUE : value === 0 || most === 0 ? 'zero' : `step${stepOf(value)}`;
  const steps = Array.from(
    { length: most > 0 ? STEPS : 0 },
    (_, at): LegendKey => ({
      key: `step${at}`,
      name: writeRange((at / STEPS) * most, ((at + 1) / STEPS) * most),
      paint: { step: at + 1 },
    }),
  );
  return {
    legend: [...steps, { key: NO_VALUE, name: noValue, paint: 'others' }],
    readValue,
    keyOf,
    paintOf: (value) => {
      const key = keyOf(value);
      return key === NO_VALUE ? 'others' : key === 'zero' ? 'none' : { step: stepOf(value as number) + 1 };
    },
    compare: (a, b) =>
      isShare
        ? Number(worse.has(String(b.value))) - Number(worse.has(String(a.value)))
        : Number(b.value) - Number(a.value),
  };
}
