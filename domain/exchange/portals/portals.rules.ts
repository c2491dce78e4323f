import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { checkFilter } from '../../inventory/filters/filters.check.ts';
import { parseFilter } from '../../inventory/filters/filters.parser.ts';
import type { FilterSchema } from '../../inventory/filters/filters.schema.ts';
import type {
  CardType,
  CompiledField,
  Metamodel,
  RelationType,
} from '../../kernel/metamodel/metamodel.compile.ts';
import type { PortalConfig, PortalRow } from './portals.model.ts';
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
export function normalizeEntry(type: CardType, entry: string): string {
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
export function displayFieldErrors(
  metamodel: Metamodel,
  type: CardType,
  entries: readonly string[],
): FieldError[] {
  return entries.flatMap((entry, n): FieldError[] => {
    const field = `display_fields.${n}`;
    if (entries.indexOf(entry) < n) return [{ field, code: 'duplicate', message: 'is given twice' }];
    const read = readEntry(metamodel, type, entry);
    return 'code' in read ? [{ field, code: read.code, message: read.message }] : [];
  });
}

const costEntry = { code: 'cost_field', message: 'is a cost, which no portal shows' };

/** The errors of `filters.filter`, which must fit the metamodel and not refer to what the public may not see. */
export function filterTextErrors(text: string, schema: FilterSchema): FieldError[] {
  const field = 'filters.filter';
  try {
    const parsed = parseFilter(text);
    if (!parsed) return [];
    const { costs, stakeholders, authors } = checkFilter(parsed, schema);
    const message = 'refers to costs or people, which are not public';
    return costs.size > 0 || stakeholders || authors ? [{ field, code: 'not_public', message }] : [];
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
export const sortedAttribute = (sort: string): string | undefined =>
  sort.startsWith(ATTRIBUTE) ? sort.slice(ATTRIBUTE.length) : undefined;

/** The display settings of a portal, with defaults, and without sorts by values that are no longer shown. */
export function configOf(shown: Shown, { sort_by, sort_dir, indexed }: PortalConfig): Required<PortalConfig> {
  const applies = sort_by !== undefined && sortsOf(shown).includes(sort_by);
  return {
    sort_by: applies ? sort_by : 'name',
    sort_dir: (applies || sort_by === undefined ? sort_dir : undefined) ?? 'asc',
    indexed: indexed ?? false,
  };
}

/** The shown relation types with this key, or else those with this card type at their other end. */
export function relationsFor({ relations }: Shown, key: string): ShownRelation[] {
  const named = relations.get(key);
  return named ? [named] : [...relations.values()].filter(({ other }) => other === key);
}
