import { type Sql, unlessTaken } from '../../../platform/database.ts';
import {
  EstateError,
  type FieldError,
  invalidField,
  invalidFields,
  requireText,
} from '../../../platform/errors.ts';
import { checkFilter } from '../../inventory/filters/filters.check.ts';
import { parseFilter } from '../../inventory/filters/filters.parser.ts';
import { createFilterSchema, type FilterSchema } from '../../inventory/filters/filters.schema.ts';
import { command } from '../../kernel/command.ts';
import { anonymousCaller, type Caller, type Ctx, type Work } from '../../kernel/context.ts';
import { differingMembers, rowEvent } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type {
  CardType,
  CompiledField,
  Metamodel,
  RelationType,
} from '../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { deleteRows, findRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { portalText } from './portals.list.ts';
import {
  PORTALS_TOPIC,
  type PortalConfig,
  type PortalFilters,
  type PortalRow,
  WebPortal,
} from './portals.model.ts';
import { type CoreField, coreFields } from './portals.types.ts';

const ATTRIBUTE = 'attributes.';
const RELATION = 'relations.';

/** A relation type from the side of a portal's cards. */
export interface ShownRelation {
  type: RelationType;
  /** Whether relations are shown in which the portal's card is the source. */
  outgoing: boolean;
  /** Whether relations are shown in which the portal's card is the target. */
  incoming: boolean;
  /** The key of the card type at the other end. */
  other: string;
}

/** Everything that a portal shows besides names, under the current metamodel. */
export interface Shown {
  type: CardType;
  /** The entries of `display_fields` that still apply. */
  entries: string[];
  core: ReadonlySet<CoreField>;
  attributes: ReadonlyMap<string, CompiledField>;
  relations: ReadonlyMap<string, ShownRelation>;
}

/** What an entry of `display_fields` refers to, or why a portal cannot show it. */
type Entry =
  | { core: CoreField }
  | { attribute: CompiledField }
  | { relation: ShownRelation }
  | { code: string; message: string };

const isCore = (entry: string): entry is CoreField => (coreFields as readonly string[]).includes(entry);

/** An entry in its stored form; in requests the key of an attribute may be given alone. */
function normalizeEntry(type: CardType, entry: string): string {
  const alone = !isCore(entry) && !entry.startsWith(ATTRIBUTE) && !entry.startsWith(RELATION);
  return alone && type.fields.has(entry) ? `${ATTRIBUTE}${entry}` : entry;
}

function readEntry(metamodel: Metamodel, type: CardType, entry: string): Entry {
  if (isCore(entry)) return { core: entry };
  if (entry.startsWith(ATTRIBUTE)) {
    const attribute = type.fields.get(entry.slice(ATTRIBUTE.length));
    if (!attribute) return { code: 'unknown_attribute', message: `is no attribute of ${type.key}` };
    if (attribute.type === 'cost') return costEntry;
    return { attribute };
  }
  if (entry.startsWith(RELATION)) {
    const relation = shownRelation(metamodel, type, entry.slice(RELATION.length));
    return relation ? { relation } : { code: 'unknown_relation', message: `is no relation of ${type.key}` };
  }
  const known = [...coreFields, 'attributes.<key>', 'relations.<relation type>'].join(', ');
  return { code: 'unknown_field', message: `is none of ${known}` };
}

function shownRelation(metamodel: Metamodel, { key }: CardType, name: string): ShownRelation | undefined {
  const type = metamodel.relationTypes.get(name);
  if (!type || !metamodel.visibleRelationTypes.includes(name)) return undefined;
  const outgoing = type.source_type_key === key && type.source_visible;
  const incoming = type.target_type_key === key && type.target_visible;
  if (!outgoing && !incoming) return undefined;
  return { type, outgoing, incoming, other: outgoing ? type.target_type_key : type.source_type_key };
}

/**
 * What a portal shows under the current metamodel: without parts that were removed, hidden or became a cost since the
 * portal was saved. Undefined if its type was removed or hidden: nothing is shown then.
 */
export function resolveShown(
  metamodel: Metamodel,
  { card_type, display_fields }: Pick<PortalRow, 'card_type' | 'display_fields'>,
): Shown | undefined {
  const type = metamodel.cardTypes.get(card_type);
  if (!type || type.is_hidden) return undefined;
  const entries: string[] = [];
  const core = new Set<CoreField>();
  const attributes = new Map<string, CompiledField>();
  const relations = new Map<string, ShownRelation>();
  for (const entry of display_fields) {
    const read = readEntry(metamodel, type, entry);
    if ('code' in read) continue;
    entries.push(entry);
    if ('core' in read) core.add(read.core);
    else if ('attribute' in read) attributes.set(read.attribute.key, read.attribute);
    else relations.set(read.relation.type.key, read.relation);
  }
  return { type, entries, core, attributes, relations };
}

/** The errors of `display_fields` in their stored form. */
function displayFieldErrors(metamodel: Metamodel, type: CardType, entries: readonly string[]): FieldError[] {
  return entries.flatMap((entry, n): FieldError[] => {
    const field = `display_fields.${n}`;
    if (entries.indexOf(entry) < n) return [{ field, code: 'duplicate', message: 'is given twice' }];
    const read = readEntry(metamodel, type, entry);
    return 'code' in read ? [{ field, code: read.code, message: read.message }] : [];
  });
}

/** The errors of fields of the short form, in their stored form. */
const shortFieldErrors = (entries: readonly string[], shown: readonly string[]): FieldError[] =>
  entries.flatMap((entry, n) => {
    const field = `card_config.short_fields.${n}`;
    if (entries.indexOf(entry) < n) return [{ field, code: 'duplicate', message: 'is given twice' }];
    return shown.includes(entry)
      ? []
      : [{ field, code: 'not_offered', message: 'is none of `display_fields`' }];
  });

const costEntry = { code: 'cost_field', message: 'is a cost, which no portal shows' };

/** The errors of `filters.filter`, which must fit the metamodel and not refer to what the public may not see. */
function filterTextErrors(text: string, schema: FilterSchema): FieldError[] {
  const field = 'filters.filter';
  try {
    const parsed = parseFilter(text);
    if (!parsed) return [];
    const { costs, people, authors } = checkFilter(parsed, schema);
    const message = 'refers to costs or people, which are not public';
    return costs.size > 0 || people || authors ? [{ field, code: 'not_public', message }] : [];
  } catch (error) {
    if (!(error instanceof EstateError) || error.status !== 422) throw error;
    const [{ code, message } = { code: 'filter_value', message: error.message }] = error.errors ?? [];
    return [{ field, code, message }];
  }
}

/**
 * The names in a portal that are never public. Fields and filters that do not fit the metamodel are no errors: portals
 * do not show them.
 */
export function notPublicErrors(
  metamodel: Metamodel,
  schema: FilterSchema,
  { card_type, display_fields, filters, card_config }: Partial<PortalRow>,
): FieldError[] {
  const type = metamodel.cardTypes.get(card_type ?? '');
  const sorted = sortedAttribute(card_config?.sort_by ?? '');
  const sortsByCost = sorted !== undefined && type?.fields.get(sorted)?.type === 'cost';
  return [
    ...(type ? displayFieldErrors(metamodel, type, display_fields ?? []) : []),
    ...filterTextErrors(filters?.filter ?? '', schema),
    ...(sortsByCost ? [{ field: 'card_config.sort_by', ...costEntry }] : []),
  ].filter(({ code }) => code === costEntry.code || code === 'not_public');
}

const ORDERED: readonly CoreField[] = ['subtype', 'approval_status', 'data_quality', 'updated_at'];

/** The sorts of a portal's cards. An order reveals values, so cards can only be sorted by shown values. */
export function sortsOf({ core, attributes }: Shown): string[] {
  const keys = [...attributes.keys()].map((key) => `${ATTRIBUTE}${key}`);
  return ['name', ...ORDERED.filter((field) => core.has(field)), ...keys];
}

/** The key of the attribute that a sort names, if it names one. */
const sortedAttribute = (sort: string): string | undefined =>
  sort.startsWith(ATTRIBUTE) ? sort.slice(ATTRIBUTE.length) : undefined;

/** The display settings of a portal, with defaults, and without values that are no longer shown. */
export function configOf(
  shown: Shown,
  { sort_by, sort_dir, indexed, short_fields: short, show_logo }: PortalConfig,
): Required<PortalConfig> {
  const applies = sort_by !== undefined && sortsOf(shown).includes(sort_by);
  return {
    sort_by: applies ? sort_by : 'name',
    sort_dir: (applies || sort_by === undefined ? sort_dir : undefined) ?? 'asc',
    indexed: indexed ?? false,
    short_fields: short ? shown.entries.filter((entry) => short.includes(entry)) : shown.entries,
    show_logo: show_logo ?? true,
  };
}

/** The shown relation types with this key, or else those with this card type at their other end. */
export function relationsFor({ relations }: Shown, key: string): ShownRelation[] {
  const named = relations.get(key);
  return named ? [named] : [...relations.values()].filter(({ other }) => other === key);
}

/** A published portal by its slug. Drafts are not found, in the same time as unknown slugs. */
export async function findPublished(sql: Sql, slug: string): Promise<PortalRow | undefined> {
  const [portal] = await findRows(sql, WebPortal, (query) => query.where({ slug, is_published: true }));
  return portal;
}

/** The rights of the public, also for users who are logged in: cards and relations, but neither costs nor people. */
export const readerPermissions = ['inventory.view', 'relations.view'] as const;

const reader: Caller = {
  ...anonymousCaller,
  displayName: 'Web portal',
  permissions: new Set(readerPermissions),
};

/** The context in which portals are read. */
export const asReader = (ctx: Ctx): Ctx => ({ ...ctx, caller: reader });

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
    emitPortal(work, null, portal);
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
      emitPortal(work, before, await updateRow(work.sql, WebPortal, { id: before.id }, changed));
    }
    return await portalText(work.sql, before.id);
  });
}

/** Deletes a portal; its slug is free again. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deletePortal(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, async (work) => {
    const before = await lockPortal(work, ctx, id);
    await deleteRows(work.sql, WebPortal, (query) => query.where({ id: before.id }));
    emitPortal(work, before, null);
  });
}

/** Authors need the permissions of the reader: otherwise a portal would show them what they may not see. */
function requireReading({ caller }: Ctx): void {
  requirePermission(caller, 'web_portals.manage');
  for (const permission of readerPermissions) requirePermission(caller, permission);
}

async function change<T>(ctx: Ctx, act: (work: Work) => Promise<T>): Promise<T> {
  requirePermission(ctx.caller, 'web_portals.manage');
  const taken = () => new EstateError('slug_taken', 'Another web portal has this slug.');
  return await unlessTaken(command(ctx, act), taken, 'web_portals_slug');
}

/** Emits the event of a written portal. */
export function emitPortal(work: Work, before: PortalRow | null, after: PortalRow | null): void {
  const { id, name, slug } = (after ?? before)!;
  work.emit(rowEvent('web_portal', before, after, { id, name, slug }));
  work.raise(PORTALS_TOPIC);
}

const lockPortal = (work: Work, ctx: Ctx, id: string): Promise<PortalRow> =>
  lockItem(work, ctx, WebPortal, { id }, 'web portal', (of) => portalText(work.sql, of));

/**
 * The input as it is stored, checked together with the stored values. Stored values are checked again only when the card
 * type changes, as the metamodel may have changed since they were saved.
 */
async function checked(
  work: Work,
  input: PortalInput,
  before: Partial<PortalRow>,
): Promise<Partial<PortalRow>> {
  if (input.name !== undefined) requireText(input.name, 'name');
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
    const chosen = { card_type: key, display_fields: values.display_fields ?? stored.display_fields };
    const shown = resolveShown(work.metamodel, chosen);
    const { sort_by, short_fields } = values.card_config;
    if (short_fields && type) {
      const short = short_fields.map((entry) => normalizeEntry(type, entry));
      values.card_config = { ...values.card_config, short_fields: short };
      errors.push(...shortFieldErrors(short, chosen.display_fields));
    }
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
