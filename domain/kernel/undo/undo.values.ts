import type { Change } from '../events/events.types.ts';

/** An object's values as they are and become, nested ones by prefix. */
export type Values = Record<string, unknown>;

const text = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * Sets the changed fields back to their old values. With `careful`, only those whose present value is still what was
 * written; the others are answered.
 */
export function setBack(values: Values, changes: Record<string, Change>, careful: boolean): string[] {
  const kept: string[] = [];
  for (const [field, change] of Object.entries(changes)) {
    const dot = /^(attributes|lifecycle)\.(.+)$/s.exec(field);
    const holder = dot ? { ...((values[dot[1]!] as Values | null) ?? {}) } : values;
    const key = dot ? dot[2]! : field;
    if (careful && text(holder[key]) !== text(change.new)) {
      kept.push(field);
      continue;
    }
    if (!dot) {
      holder[key] = change.old;
      continue;
    }
    if (change.old === null) delete holder[key];
    else
      Object.defineProperty(holder, key, {
        value: change.old,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    values[dot[1]!] = dot[1] === 'lifecycle' && Object.keys(holder).length === 0 ? null : holder;
  }
  return kept;
}
