import type { FieldError } from '../../../platform/errors.ts';
import { loadEnds } from '../../inventory/relations/relations.load.ts';
import type { RelationEnd } from '../../inventory/relations/relations.types.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { LinkTargets } from './bpm.model.ts';
import { linkKinds } from './bpm.types.ts';

/** The links of a request; absent ones are null. */
export type LinkInput = Partial<LinkTargets>;

/** The largest custom fields of an element, in bytes of JSON. */
export const MAX_FIELDS = 16_384;

const NONE: LinkTargets = {
  application_id: null,
  data_object_id: null,
  it_component_id: null,
  custom_fields: null,
};

/** The input with null for absent members. */
export function completeTargets(input: LinkInput): LinkTargets {
  const targets = { ...NONE, custom_fields: input.custom_fields ?? null };
  for (const { column } of linkKinds) targets[column] = input[column]?.toLowerCase() ?? null;
  return targets;
}

/** Whether the element has neither links nor custom fields. */
export const isEmpty = (targets: LinkTargets): boolean =>
  targets.custom_fields === null && linkKinds.every(({ column }) => targets[column] === null);

/**
 * Checks new links: the caller must see the cards, which must be active and of the type of the link. Unchanged links are
 * not checked.
 * @returns the errors.
 */
export async function checkTargets(
  { sql }: Work,
  ctx: Ctx,
  before: LinkTargets | undefined,
  after: LinkTargets,
): Promise<FieldError[]> {
  const changed = linkKinds.filter(({ column }) => after[column] !== (before?.[column] ?? null));
  const ids = changed.flatMap(({ column }) => after[column] ?? []);
  const ends = ids.length > 0 ? await loadEnds(sql, ctx, ids) : new Map<string, RelationEnd>();
  const faults: FieldError[] = [];
  for (const { column, type } of changed) {
    if (after[column] === null) continue;
    const card = ends.get(after[column]);
    if (!card) faults.push({ field: column, code: 'unknown_card', message: 'is no card' });
    else if (card.type !== type) {
      faults.push({ field: column, code: 'end_type', message: `must be a card of the type ${type}` });
    } else if (card.status !== 'ACTIVE') {
      faults.push({ field: column, code: 'end_archived', message: 'is archived' });
    }
  }
  const fields = after.custom_fields;
  if (fields !== null && Buffer.byteLength(JSON.stringify(fields)) > MAX_FIELDS) {
    faults.push({ field: 'custom_fields', code: 'too_long', message: `has more than ${MAX_FIELDS} bytes` });
  }
  return faults;
}
