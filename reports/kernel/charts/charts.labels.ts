import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { BubbleAxis, ChartUnit } from './charts.types.ts';

/** What makes an answer readable as a picture. */
export interface ChartContext {
  metamodel: Pick<Metamodel, 'cardTypes'>;
  /** `YYYY-MM-DD`: the day that the answer shows. */
  today: string;
}

const phaseNames: Record<LifecyclePhase, string> = {
  plan: 'Plan',
  phaseIn: 'Phase in',
  active: 'Active',
  phaseOut: 'Phase out',
  endOfLife: 'End of life',
};

/** The phases of a lifecycle in words, in their order. */
export const phaseLabels: string[] = lifecyclePhases.map((phase) => phaseNames[phase]);

/** A phase in words; what is none stays as it is. */
export const phaseLabel = (key: string): string => phaseNames[key as LifecyclePhase] ?? key;

/** The phase that a lifecycle is in on a day, in words. */
export function phaseOn(lifecycle: Partial<Record<LifecyclePhase, string>> | null, today: string): string {
  const begun = lifecyclePhases.findLast((phase) => (lifecycle?.[phase] ?? '9999') <= today);
  if (begun) return phaseNames[begun];
  return lifecyclePhases.some((phase) => lifecycle?.[phase]) ? 'Not begun' : 'No lifecycle';
}

/** The label of a card type, its key where there is none. */
export const typeLabel = ({ metamodel }: ChartContext, key: string): string =>
  metamodel.cardTypes.get(key)?.label ?? key;

/** The label of a field of a card type. */
export const fieldLabel = ({ metamodel }: ChartContext, type: string, key: string): string =>
  metamodel.cardTypes.get(type)?.fields.get(key)?.label ?? key;

/** How the values of a field are written. */
export function fieldUnit({ metamodel }: ChartContext, type: string, key: string): ChartUnit {
  const field = metamodel.cardTypes.get(type)?.fields.get(key);
  if (field?.type === 'cost') return 'currency';
  return 'number';
}

/** The label of an option of a select field. */
export const optionLabel = ({ metamodel }: ChartContext, type: string, key: string, option: string): string =>
  metamodel.cardTypes.get(type)?.fields.get(key)?.optionLabels.get(option) ?? option;

/** An axis of a field: steps for what is chosen from options, numbers otherwise. */
export function fieldAxis(context: ChartContext, type: string, key: string): BubbleAxis {
  const field = context.metamodel.cardTypes.get(type)?.fields.get(key);
  const axis = { name: fieldLabel(context, type, key), unit: fieldUnit(context, type, key) };
  if (field?.type === 'single_select') return { ...axis, steps: [...field.optionLabels.values()] };
  return field?.type === 'boolean' ? { ...axis, steps: ['no', 'yes'] } : axis;
}

/** Where a value stands on the axis of its field; undefined where it has no place there. */
export function placeOnAxis(
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
 * A label for each item: its name, and where several share one, what lies above each in brackets, as far up as they
 * need it to differ.
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
