import { judgement } from './charts.colours.ts';
import { chartText, type InLanguage } from './charts.texts.ts';
import type { PhaseKey } from './charts.tokens.ts';
import type { BubbleAxis, ChartUnit, Paint } from './charts.types.ts';

/** A field of a card type, as far as charts need it. */
interface ChartField {
  label: string;
  type: string;
  optionLabels: ReadonlyMap<string, string>;
  optionColors: ReadonlyMap<string, string>;
  /** Labels of options in the language of the chart, by their own; default: they are the same. */
  renamed?: ReadonlyMap<string, string>;
}

/** A card type, as far as charts need it. */
interface ChartType {
  label: string;
  /** The label of several cards. */
  plural: string;
  color: string;
  /** Tells the layers of the landscape apart. */
  category: string | null;
  /** Its label in the language; default: the category. */
  category_label?: string | undefined;
  is_hidden: boolean;
  fields: ReadonlyMap<string, ChartField>;
  subtypes: readonly { key: string; label: string }[];
}

/** The metamodel and day for the labels and colours of a chart. */
export interface ChartContext extends InLanguage {
  metamodel: { cardTypes: ReadonlyMap<string, ChartType> };
  /** `YYYY-MM-DD`: the day of the data. */
  today: string;
}

/** The lifecycle phases in order. */
export const phaseKeys: readonly PhaseKey[] = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'];

const isPhase = (key: string): key is PhaseKey => (phaseKeys as readonly string[]).includes(key);

/** The label of a phase, or of `none`; an unknown key is returned unchanged. */
export const phaseLabel = (key: string, language: InLanguage = {}): string =>
  isPhase(key) || key === 'none' ? chartText(language, `phase.${key}`) : key;

/** Names and paints of the phases, and of cards without any. */
export const phaseLegend = (language: InLanguage): { name: string; paint: Paint }[] => [
  ...phaseKeys.map((phase) => ({ name: phaseLabel(phase, language), paint: { phase } })),
  { name: chartText(language, 'phase.none'), paint: 'none' },
];

type Lifecycle = Partial<Record<string, string>> | null;

/** The paint of a lifecycle on the day of the chart. */
export function phasePaint(lifecycle: Lifecycle, { today }: Pick<ChartContext, 'today'>): Paint {
  const phase = currentPhase(lifecycle, today);
  return phase === 'none' ? 'none' : { phase };
}

/** The label of a lifecycle's phase on the day of the chart. */
export const phaseOn = (lifecycle: Lifecycle, context: Pick<ChartContext, 'today' | 'language'>): string =>
  chartText(context, `phase.${currentPhase(lifecycle, context.today)}`);

/** The last phase that has begun; `plan` if all begin later, as in lists; `none` without any. */
function currentPhase(lifecycle: Lifecycle, today: string): PhaseKey | 'none' {
  const current = phaseKeys.findLast((phase) => (lifecycle?.[phase] ?? '9999') <= today);
  return current ?? (phaseKeys.some((phase) => lifecycle?.[phase]) ? 'plan' : 'none');
}

/** A label within a sentence: in English in lower case, but for abbreviations. */
export const decapitalised = (label: string, { language = 'en' }: InLanguage = {}): string =>
  language === 'en' ? label.replace(/\p{Lu}\p{Ll}+/gu, (word) => word.toLowerCase()) : label;

/** The label of a card type, its key if it is unknown. */
export const typeLabel = ({ metamodel }: ChartContext, key: string): string =>
  metamodel.cardTypes.get(key)?.label ?? key;

/** The label of several cards of a type. */
export const typePlural = ({ metamodel }: ChartContext, key: string): string =>
  metamodel.cardTypes.get(key)?.plural ?? key;

/** The names of a type in texts about its cards: its label, that of several, and that within a sentence. */
export const typeNames = (context: ChartContext, key: string) => ({
  type: typeLabel(context, key),
  types: typePlural(context, key),
  ofTypes: decapitalised(typePlural(context, key), context),
});

/** The label of a field of a card type. */
export const fieldLabel = ({ metamodel }: ChartContext, type: string, key: string): string =>
  metamodel.cardTypes.get(type)?.fields.get(key)?.label ?? key;

/** The unit of a field's values. */
export function fieldUnit({ metamodel }: ChartContext, type: string, key: string): ChartUnit {
  if (metamodel.cardTypes.get(type)?.fields.get(key)?.type === 'cost') return 'currency';
  return 'number';
}

/** The label of an option of a select field. */
export const optionLabel = ({ metamodel }: ChartContext, type: string, key: string, option: string): string =>
  metamodel.cardTypes.get(type)?.fields.get(key)?.optionLabels.get(option) ?? option;

/** A field of a card type. */
const fieldIn = ({ metamodel }: ChartContext, type: string, key: string): ChartField | undefined =>
  metamodel.cardTypes.get(type)?.fields.get(key);

/** The paint of a card type. */
export const typePaint = ({ metamodel }: ChartContext, key: string): Paint => {
  const color = metamodel.cardTypes.get(key)?.color;
  return color === undefined ? 'others' : { type: color };
};

/** The options of a field in the order of the metamodel, with their stored colours, else those of categories. */
export function optionLegend(
  context: ChartContext,
  type: string,
  key: string,
): { key: string; name: string; paint: Paint }[] {
  const field = fieldIn(context, type, key);
  return [...(field?.optionLabels ?? [])].map(([option, name], at) => {
    const color = field!.optionColors.get(option);
    return { key: option, name, paint: color === undefined ? { category: at } : { option: color } };
  });
}

/** Share of cards with a value from which a field is used by default. */
export const WELL_FILLED = 0.3;

/** The name for cards without a value. */
export const noValue = (language: InLanguage): string => chartText(language, 'noValue');

/** What the colours of the first and the last option of a field say. */
function judgedEnds({ optionLabels, optionColors }: ChartField): [number, number] {
  const keys = [...optionLabels.keys()];
  return [judgement(optionColors.get(keys[0] ?? '')), judgement(optionColors.get(keys.at(-1) ?? ''))];
}

/**
 * Whether the options of a field are listed from the better or higher one to the worse or lower one, by their colours, and
 * whether they judge.
 */
function orderOf(field: ChartField): { reversed: boolean; judged: boolean } {
  const [first, last] = judgedEnds(field);
  const reversed = (first > 0 && last <= 0) || (first < 0 && last === 0);
  return { reversed, judged: first * last < 0 };
}

/** The axis of a field: a category axis for select fields, with the better options last, otherwise a numeric axis. */
export function fieldAxis(context: ChartContext, type: string, key: string): BubbleAxis {
  const field = fieldIn(context, type, key);
  const axis = { name: fieldLabel(context, type, key), unit: fieldUnit(context, type, key) };
  if (field?.type === 'single_select') {
    const { reversed, judged } = orderOf(field);
    const steps = [...field.optionLabels.values()];
    return { ...axis, steps: reversed ? steps.reverse() : steps, judged };
  }
  return field?.type === 'boolean'
    ? { ...axis, steps: [chartText(context, 'axis.no'), chartText(context, 'axis.yes')] }
    : axis;
}

/** The position of a value on the axis of its field; undefined if it has none. */
export function positionOnAxis(
  context: ChartContext,
  type: string,
  key: string,
  value: unknown,
): number | undefined {
  const field = fieldIn(context, type, key);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return value;
  if (field?.type !== 'single_select' || typeof value !== 'string') return undefined;
  const place = optionOrder(context, type, key).indexOf(value);
  return place < 0 ? undefined : place;
}

/** The worse one of options of a judging field; undefined without any. */
export function worstOption(
  context: ChartContext,
  type: string,
  key: string,
  options: readonly unknown[],
): string | undefined {
  return worstFirst(context, type, key).find((option) => options.includes(option));
}

/** The options of a field, the worst first, by the colours of the first and the last one; without, as {@link optionOrder}. */
export function worstFirst(context: Pick<ChartContext, 'metamodel'>, type: string, key: string): string[] {
  const field = context.metamodel.cardTypes.get(type)?.fields.get(key);
  const keys = [...(field?.optionLabels.keys() ?? [])];
  const [first, last] = field ? judgedEnds(field) : [0, 0];
  if (first === last) return optionOrder(context, type, key);
  return first > last ? keys.toReversed() : keys;
}

/** The options of a field, those that are worse or lower first. */
function optionOrder({ metamodel }: Pick<ChartContext, 'metamodel'>, type: string, key: string): string[] {
  const field = metamodel.cardTypes.get(type)?.fields.get(key);
  const keys = [...(field?.optionLabels.keys() ?? [])];
  return field && orderOf(field).reversed ? keys.toReversed() : keys;
}

/** How many options of a field are the worse half of it. */
export const worseOptions = (options: readonly string[]): number => Math.floor(options.length / 2);

/**
 * A label for each item: its name; for equal names also as many ancestors in brackets as are needed to distinguish them.
 * @param above the names above an item, nearest first.
 */
export function distinctLabels<T extends { name: string }>(
  items: readonly T[],
  above: (item: T) => readonly string[],
): string[] {
  const labels = items.map(({ name }) => name);
  const namesAbove = new Map<number, readonly string[]>();
  for (let depth = 1; ; depth += 1) {
    const counts = new Map<string, number>();
    for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
    let hasChanged = false;
    for (const [at, item] of items.entries()) {
      if (counts.get(labels[at]!) === 1) continue;
      const names = namesAbove.get(at) ?? above(item);
      namesAbove.set(at, names);
      if (names.length < depth) continue;
      labels[at] = `${item.name} (${names.slice(0, depth).toReversed().join(' / ')})`;
      hasChanged = true;
    }
    if (!hasChanged) return labels;
  }
}
