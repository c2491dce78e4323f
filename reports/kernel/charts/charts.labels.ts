import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { BubbleAxis, ChartUnit } from './charts.types.ts';

/** The metamodel and day for the labels of a chart. */
export interface ChartContext {
  metamodel: Pick<Metamodel, 'cardTypes'>;
  /** `YYYY-MM-DD`: the day of the data. */
  today: string;
}

const phaseNames: Record<LifecyclePhase, string> = {
  plan: 'Plan',
  phaseIn: 'Phase in',
  active: 'Active',
  phaseOut: 'Phase out',
  endOfLife: 'End of life',
};

/** The labels of the lifecycle phases, in order. */
export const phaseLabels: string[] = lifecyclePhases.map((phase) => phaseNames[phase]);

/** The label of a phase; an unknown key is returned unchanged. */
export const phaseLabel = (key: string): string => phaseNames[key as LifecyclePhase] ?? key;

/** The label of a lifecycle's phase on a day. */
export function phaseOn(lifecycle: Partial<Record<LifecyclePhase, string>> | null, today: string): string {
  const current = lifecyclePhases.findLast((phase) => (lifecycle?.[phase] ?? '9999') <= today);
  if (current) return phaseNames[current];
  return lifecyclePhases.some((phase) => lifecycle?.[phase]) ? 'Not started' : 'No lifecycle';
}

/** The label of a card type, its key if it is unknown. */
export const typeLabel = ({ metamodel }: ChartContext, key: string): string =>
  metamodel.cardTypes.get(key)?.label ?? key;

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

/** The axis of a field: a category axis for select fields, otherwise a numeric axis. */
export function fieldAxis(context: ChartContext, type: string, key: string): BubbleAxis {
  const field = context.metamodel.cardTypes.get(type)?.fields.get(key);
  const axis = { name: fieldLabel(context, type, key), unit: fieldUnit(context, type, key) };
  if (field?.type === 'single_select') return { ...axis, steps: [...field.optionLabels.values()] };
  return field?.type === 'boolean' ? { ...axis, steps: ['no', 'yes'] } : axis;
}

/** The position of a value on the axis of its field; undefined if it has none. */
export function positionOnAxis(
  { metamodel }: ChartContext,
  type: string,
  key: string,
  value: unknown,
): number | undefined {
  const field = metamodel.cardTypes.get(type)?.fields.get(key);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return value;
  if (field?.type !== 'single_select' || typeof value !== 'string') return undefined;
  const place = [...field.optionLabels.keys()].indexOf(value);
  return place < 0 ? undefined : place;
}

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
