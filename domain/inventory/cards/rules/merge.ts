import { type LifecyclePhase, lifecyclePhases } from '../../../kernel/metamodel/metamodel.types.ts';
import type { CardInput, CardValues, Lifecycle } from './diff.ts';

/** Whether a valid value represents "not set": an empty text or list clears its field like null. */
function isBlank(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * Merges attributes key by key (RFC 7396, on one level: no field has an object as value). Absent keys remain, null and
 * empty values remove a key, and `null` for all of them removes every key except those in `keep`.
 */
export function mergeAttributes(
  stored: Record<string, unknown>,
  sent: Record<string, unknown> | null | undefined,
  keep: readonly string[] = [],
): Record<string, unknown> {
  if (sent === undefined) return stored;
  if (sent === null) return Object.fromEntries(Object.entries(stored).filter(([key]) => keep.includes(key)));
  const merged = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    if (isBlank(value)) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

/** Merges a lifecycle phase by phase; null if no phase is left. */
export function mergeLifecycle(
  stored: Lifecycle | null,
  sent: Record<string, unknown> | null | undefined,
): Lifecycle | null {
  if (sent === undefined) return stored;
  if (sent === null) return null;
  const merged: Lifecycle = {};
  for (const phase of lifecyclePhases) {
    const day = phase in sent ? (sent as Record<LifecyclePhase, string | null>)[phase] : stored?.[phase];
    if (day) merged[phase] = day;
  }
  return Object.keys(merged).length > 0 ? merged : null;
}

/** The values of a new card from its cleaned, valid input. */
export function newCardValues(input: CardInput): CardValues {
  return {
    subtype: input.subtype ?? null,
    name: input.name!,
    alias: input.alias ?? null,
    description: input.description ?? null,
    parent_id: input.parent_id ?? null,
    lifecycle: mergeLifecycle(null, input.lifecycle),
    attributes: mergeAttributes({}, input.attributes),
    external_id: input.external_id ?? null,
  };
}

/**
 * The values after a cleaned, valid patch: absent members remain, null clears. `keep` names the attributes that a
 * cleared `attributes` retains, such as costs that the caller may not see and values that the service sets.
 */
export function patchedValues(
  stored: CardValues,
  input: CardInput,
  keep: readonly string[] = [],
): CardValues {
  const pick = <T>(sent: T | undefined, old: T): T => (sent === undefined ? old : sent);
  return {
    subtype: pick(input.subtype, stored.subtype),
    name: input.name ?? stored.name,
    alias: pick(input.alias, stored.alias),
    description: pick(input.description, stored.description),
    parent_id: pick(input.parent_id, stored.parent_id),
    lifecycle: mergeLifecycle(stored.lifecycle, input.lifecycle),
    attributes: mergeAttributes(stored.attributes, input.attributes, keep),
    external_id: pick(input.external_id, stored.external_id),
  };
}
