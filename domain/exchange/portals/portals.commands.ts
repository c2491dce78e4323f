import { sqlState, violatedConstraint } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { createFilterSchema } from '../../inventory/filters/filters.schema.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differingMembers, rowEvent } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { portalText } from './portals.list.ts';
import {
  PORTALS_TOPIC,
  type PortalConfig,
  type PortalFilters,
  type PortalRow,
  WebPortal,
} from './portals.model.ts';
import {
  displayFieldErrors,
  filterTextErrors,
  normalizeEntry,
  resolveShown,
  sortsOf,
} from './portals.rules.ts';
import { readerPermissions } from './portals.store.ts';

export type PortalInput = Partial<
  Pick<PortalRow, 'name' | 'slug' | 'description' | 'card_type' | 'is_published'>
> & {
  filters?: PortalFilters | null;
  display_fields?: string[] | null;
  card_config?: PortalConfig | null;
};

/**
 * Creates a portal, which is public once it is published.
 * @throws EstateError `forbidden`, `slug_taken`, `validation_failed`.
 */
export async function createPortal(ctx: Ctx, input: PortalInput): Promise<JsonText> {
  requireReading(ctx);
  return await change(ctx, async (work) => {
    const values = await checked(work, input, {});
    const portal = await insertRow(work.sql, WebPortal, { ...values, created_by: ctx.caller.userId });
    emitChange(work, null, portal);
    return await portalText(work.sql, portal.id);
  });
}

/**
 * Changes a portal, with immediate effect for the public.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `slug_taken`, `validation_failed`.
 */
export async function patchPortal(ctx: Ctx, id: string, input: PortalInput): Promise<JsonText> {
  requireReading(ctx);
  return await change(ctx, async (work) => {
    const before = await lockPortal(work, ctx, id);
    const changed = differingMembers(before, await checked(work, input, before));
    if (Object.keys(changed).length > 0) {
      emitChange(work, before, await updateRow(work.sql, WebPortal, { id: before.id }, changed));
    }
    return await portalText(work.sql, before.id);
  });
}

/** Deletes a portal; its slug is free again. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePortal(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, async (work) => {
    const before = await lockPortal(work, ctx, id);
    await deleteRows(work.sql, WebPortal, (query) => query.where({ id: before.id }));
    emitChange(work, before, null);
  });
}

/** Authors need the permissions of the reader: otherwise a portal would show them what they may not see. */
function requireReading({ caller }: Ctx): void {
  requirePermission(caller, 'web_portals.manage');
  for (const permission of readerPermissions) requirePermission(caller, permission);
}

async function change<T>(ctx: Ctx, act: (work: Work) => Promise<T>): Promise<T> {
  requirePermission(ctx.caller, 'web_portals.manage');
  try {
    return await command(ctx, act);
  } catch (error) {
    if (sqlState(error) !== '23505' || violatedConstraint(error) !== 'web_portals_slug') throw error;
    throw new EstateError('slug_taken', 'Another web portal has this slug.', { cause: error });
  }
}

function emitChange(work: Work, before: PortalRow | null, after: PortalRow | null): void {
  const { id, name, slug } = (after ?? before)!;
  work.emit(rowEvent('web_portal', before, after, { id, name, slug }));
  work.raise(PORTALS_TOPIC);
}

async function lockPortal(work: Work, ctx: Ctx, id: string): Promise<PortalRow> {
  const row = await lockRow(work.sql, WebPortal, { id: id.toLowerCase() });
  if (!row) throw notFound('web portal', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await portalText(work.sql, row.id));
  return row;
}

/**
 * The input as it is stored, checked together with the stored values. Stored values are checked again only when the card
 * type changes, as the metamodel may have changed since they were saved.
 */
async function checked(
  work: Work,
  input: PortalInput,
  before: Partial<PortalRow>,
): Promise<Partial<PortalRow>> {
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  const typeGiven = input.card_type !== undefined;
  const key = input.card_type ?? before.card_type!;
  const type = work.metamodel.cardTypes.get(key);
  if (typeGiven && (!type || type.is_hidden)) {
    throw invalidField('card_type', 'unknown_type', `there is no card type "${key}"`);
  }
  const { filters, display_fields, card_config, ...plain } = input;
  const values: Partial<PortalRow> = {
    ...plain,
    ...(plain.name !== undefined && { name: plain.name.trim() }),
  };
  const stored = { display_fields: [], filters: {}, card_config: {}, ...before };
  const errors: FieldError[] = [];
  if (display_fields !== undefined || typeGiven) {
    const entries = display_fields === undefined ? stored.display_fields : (display_fields ?? []);
    values.display_fields = entries.map((entry) => (type ? normalizeEntry(type, entry) : entry));
    errors.push(...displayFieldErrors(work.metamodel, requireType(type, key), values.display_fields));
  }
  if (card_config !== undefined || values.display_fields) {
    values.card_config = card_config === undefined ? stored.card_config : (card_config ?? {});
    const shown = resolveShown(work.metamodel, {
      card_type: key,
      display_fields: values.display_fields ?? stored.display_fields,
    });
    const { sort_by } = values.card_config;
    const sorts = shown ? sortsOf(shown) : [];
    if (sort_by !== undefined && !sorts.includes(sort_by)) {
      const message = `is none of ${sorts.join(', ')}`;
      errors.push({ field: 'card_config.sort_by', code: 'unknown_sort', message });
    }
  }
  if (filters !== undefined || typeGiven) {
    values.filters = filters === undefined ? stored.filters : (filters ?? {});
    errors.push(...(await filterErrors(work, requireType(type, key), values.filters)));
  }
  if (errors.length > 0) throw invalidFields(errors);
  return values;
}

function requireType(type: CardType | undefined, key: string): CardType {
  if (type) return type;
  throw invalidField('card_type', 'unknown_type', `there is no card type "${key}" any more`);
}

/** Errors of filters, which must not refer to what the public may not see, such as costs and people. */
async function filterErrors(
  work: Work,
  type: CardType,
  { subtypes = [], tag_ids = [], filter }: PortalFilters,
): Promise<FieldError[]> {
  const unknown = (field: string, message: string) => ({ field, code: 'unknown_value', message });
  const errors = subtypes.flatMap((subtype, n) =>
    type.subtypeKeys.has(subtype) ? [] : [unknown(`filters.subtypes.${n}`, `is no subtype of ${type.key}`)],
  );
  const ids = tag_ids.map((id) => id.toLowerCase());
  const known = new Set(ids.length > 0 ? await work.sql('tags').whereIn('id', ids).pluck('id') : []);
  for (const [n, id] of ids.entries()) {
    if (!known.has(id)) errors.push(unknown(`filters.tag_ids.${n}`, 'is no tag'));
  }
  if (filter === undefined) return errors;
  const schema = createFilterSchema(work.metamodel, await work.sql('tag_groups').select('id', 'name'));
  return [...errors, ...filterTextErrors(filter, schema)];
}
