import { sqlState, violatedConstraint } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  notFound,
} from '../../../platform/errors.ts';
import { prepareFilter } from '../../inventory/filters/filters.prepare.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { PORTALS_TOPIC, portalEvent } from './portals.events.ts';
import { portalText } from './portals.list.ts';
import { displayFaults, fullEntry, shownOf, sortsOf } from './portals.rules.ts';
import { asReader, readerPermissions } from './portals.store.ts';
import type { PortalConfig, PortalFilters, PortalRow } from './portals.types.ts';

export interface PortalInput {
  name?: string;
  slug?: string;
  description?: string | null;
  card_type?: string;
  filters?: PortalFilters | null;
  display_fields?: string[] | null;
  card_config?: PortalConfig | null;
  is_published?: boolean;
}

/**
 * Makes a portal, which nobody else sees until it is published.
 * @throws EstateError `forbidden`, `slug_taken`, `validation_failed`.
 */
export async function createPortal(ctx: Ctx, input: PortalInput): Promise<JsonText> {
  requireReading(ctx);
  return await change(ctx, async (work) => {
    const values = await checked(work, ctx, input, {});
    const row = { ...values, created_by: ctx.caller.userId };
    const made = (await insertRow(work.sql, 'web_portals', row)) as PortalRow;
    tell(work, null, made);
    return await portalText(work.sql, made.id);
  });
}

/**
 * Changes a portal: at once for everybody who looks at it.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `slug_taken`, `validation_failed`.
 */
export async function patchPortal(ctx: Ctx, id: string, input: PortalInput): Promise<JsonText> {
  requireReading(ctx);
  return await change(ctx, async (work) => {
    const before = await lockPortal(work, ctx, id);
    const changed = differing(before, await checked(work, ctx, input, before));
    if (Object.keys(changed).length > 0) {
      const key = { column: 'id', value: before.id };
      const after = (await updateRow(work.sql, 'web_portals', key, changed)) as PortalRow;
      tell(work, before, after);
    }
    return await portalText(work.sql, before.id);
  });
}

/** Deletes a portal; its slug is free again. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePortal(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, async (work) => {
    const before = await lockPortal(work, ctx, id);
    await work.sql('web_portals').where({ id: before.id }).delete();
    tell(work, before, null);
  });
}

/** Whoever decides what a portal shows to everybody has to see it: else the portal would show it to its author. */
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

function tell(work: Work, before: PortalRow | null, after: PortalRow | null): void {
  work.emit(portalEvent(before, after));
  work.raise(PORTALS_TOPIC);
}

async function lockPortal(work: Work, ctx: Ctx, id: string): Promise<PortalRow> {
  const row = (await lockRow(work.sql, 'web_portals', { id: id.toLowerCase() })) as PortalRow | undefined;
  if (!row) throw notFound('web portal', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await portalText(work.sql, row.id));
  return row;
}

/**
 * The input as it is stored. What is sent is checked together with what stays; what stays of a portal whose type is not
 * changed is not checked again, as the metamodel may have moved on.
 */
async function checked(
  work: Work,
  ctx: Ctx,
  input: PortalInput,
  before: Partial<PortalRow>,
): Promise<Partial<PortalRow>> {
  if (input.name?.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  const moved = input.card_type !== undefined;
  const key = input.card_type ?? before.card_type!;
  const type = work.metamodel.cardTypes.get(key);
  if (moved && (!type || type.is_hidden)) {
    throw invalidField('card_type', 'unknown_type', `there is no card type "${key}"`);
  }
  const values: Partial<PortalRow> = {
    ...(input.name === undefined ? {} : { name: input.name.trim() }),
    ...(input.slug === undefined ? {} : { slug: input.slug }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(moved ? { card_type: key } : {}),
    ...(input.is_published === undefined ? {} : { is_published: input.is_published }),
  };
  const stays = { display_fields: [], filters: {}, card_config: {}, ...before };
  const faults: FieldError[] = [];
  if (input.display_fields !== undefined || moved) {
    const entries = input.display_fields === undefined ? stays.display_fields : (input.display_fields ?? []);
    values.display_fields = entries.map((entry) => (type ? fullEntry(type, entry) : entry));
    faults.push(...displayFaults(work.metamodel, requireType(type, key), values.display_fields));
  }
  if (input.card_config !== undefined || values.display_fields) {
    values.card_config = input.card_config === undefined ? stays.card_config : (input.card_config ?? {});
    const display_fields = values.display_fields ?? stays.display_fields;
    const shown = shownOf(work.metamodel, { card_type: key, display_fields });
    const { sort_by } = values.card_config;
    const sorts = shown ? sortsOf(shown) : [];
    if (sort_by !== undefined && !sorts.includes(sort_by)) {
      const message = `is none of ${sorts.join(', ')}`;
      faults.push({ field: 'card_config.sort_by', code: 'unknown_sort', message });
    }
  }
  if (input.filters !== undefined || moved) {
    values.filters = input.filters === undefined ? stays.filters : (input.filters ?? {});
    faults.push(...(await filterFaults(work, ctx, requireType(type, key), values.filters)));
  }
  if (faults.length > 0) throw invalidFields(faults);
  return values;
}

function requireType(type: CardType | undefined, key: string): CardType {
  if (type) return type;
  throw invalidField('card_type', 'unknown_type', `there is no card type "${key}" any more`);
}

/** What is wrong with filters: what the portal's reader may not ask about included, such as costs and people. */
async function filterFaults(
  work: Work,
  ctx: Ctx,
  type: CardType,
  { subtypes = [], tag_ids = [], filter }: PortalFilters,
): Promise<FieldError[]> {
  const unknown = (field: string, message: string) => ({ field, code: 'unknown_value', message });
  const faults = subtypes.flatMap((subtype, n) =>
    type.subtypeKeys.has(subtype) ? [] : [unknown(`filters.subtypes.${n}`, `is no subtype of ${type.key}`)],
  );
  const ids = tag_ids.map((id) => id.toLowerCase());
  const known = new Set(ids.length > 0 ? await work.sql('tags').whereIn('id', ids).pluck('id') : []);
  for (const [n, id] of ids.entries()) {
    if (!known.has(id)) faults.push(unknown(`filters.tag_ids.${n}`, 'is no tag'));
  }
  if (filter === undefined) return faults;
  try {
    await prepareFilter(asReader({ ...ctx, metamodel: work.metamodel }), filter);
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    const field = 'filters.filter';
    if (error.status === 403) {
      const message = 'asks about costs or people, about which the public is told nothing';
      faults.push({ field, code: 'not_public', message });
    } else if (error.status === 422) {
      const [first] = error.errors ?? [];
      faults.push({
        field,
        code: first?.code ?? 'filter_value',
        message: first?.message ?? error.message,
      });
    } else throw error;
  }
  return faults;
}
