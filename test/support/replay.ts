/** Values of one object by the names that events use: `name`, `attributes.<key>`, `lifecycle.<phase>`. */
export type Values = Record<string, unknown>;

/** Cards and relations by id. */
export type Inventory = { cards: Map<string, Values>; relations: Map<string, Values> };

/** An event of the change feed, as far as a replay needs it. */
export interface ChangeEvent {
  position: string;
  event_type: string;
  card_id: string | null;
  relation_id: string | null;
  data: {
    type?: string;
    source_id?: string;
    target_id?: string;
    changes?: Record<string, { old: unknown; new: unknown }>;
  };
}

export const emptyInventory = (): Inventory => ({ cards: new Map(), relations: new Map() });

/** Sets what is set and takes out what is not, so that an absent value and null are the same. */
function assign(values: Values, field: string, value: unknown): void {
  if (value === null || value === undefined) delete values[field];
  else values[field] = value;
}

/** The one field that events report and a full export has no column for. */
const NOT_EXPORTED = 'archived_at';

/** Carries an event out on what a follower of the feed holds. @throws Error when it does not fit to it. */
export function applyEvent(inventory: Inventory, event: ChangeEvent): void {
  const { event_type, data } = event;
  if (!/^(card|relation)\./.test(event_type)) return;
  const [objects, id] =
    event.relation_id === null ? [inventory.cards, event.card_id!] : [inventory.relations, event.relation_id];
  if (event_type.endsWith('.created')) {
    if (objects.has(id)) throw new Error(`${event.position}: ${id} is created a second time`);
    objects.set(
      id,
      event.relation_id === null
        ? { type: data.type }
        : { type: data.type, source_id: data.source_id, target_id: data.target_id },
    );
  }
  const values = objects.get(id);
  if (!values) throw new Error(`${event.position}: ${event_type} of ${id}, which is not there`);
  for (const [field, change] of Object.entries(data.changes ?? {})) {
    const before = JSON.stringify(values[field] ?? null);
    // a follower that began with an export does not know it yet
    const isUnknown = field === NOT_EXPORTED && !(field in values);
    if (!isUnknown && before !== JSON.stringify(change.old ?? null))
      throw new Error(
        `${event.position}: ${field} of ${id} was ${before} and not ${JSON.stringify(change.old)}`,
      );
    assign(values, field, change.new);
  }
  if (event_type.endsWith('.deleted')) objects.delete(id);
}

const nested = new Set(['attributes', 'lifecycle']);

/** A row of a table or of an export in the same flat form; `fields` are those that events tell of. */
export function flatten(row: Values, fields: readonly string[]): Values {
  const values: Values = {};
  for (const field of fields) {
    if (!nested.has(field)) assign(values, field, row[field]);
    else {
      for (const [key, value] of Object.entries((row[field] ?? {}) as Values))
        assign(values, `${field}.${key}`, value);
    }
  }
  return values;
}

export const cardFields = [
  'type',
  'subtype',
  'number',
  'name',
  'alias',
  'description',
  'parent_id',
  'external_id',
  'status',
  'approval_status',
  'data_quality',
  'lifecycle',
  'attributes',
] as const;
export const relationFields = ['type', 'source_id', 'target_id', 'description', 'attributes'] as const;

/** The first differences between what a follower holds and what is stored, in words; none when they are equal. */
export function differences(followed: Inventory, stored: Inventory, limit = 10): string[] {
  const found: string[] = [];
  for (const kind of ['cards', 'relations'] as const) {
    const ids = new Set([...followed[kind].keys(), ...stored[kind].keys()]);
    for (const id of ids) {
      const [left, right] = [followed[kind].get(id), stored[kind].get(id)];
      if (!left || !right) {
        found.push(`${kind} ${id} is ${left ? 'not stored' : 'not in the replay'}`);
        continue;
      }
      for (const field of new Set([...Object.keys(left), ...Object.keys(right)])) {
        if (field === NOT_EXPORTED) continue;
        const [a, b] = [JSON.stringify(left[field] ?? null), JSON.stringify(right[field] ?? null)];
        if (a !== b) found.push(`${kind} ${id}: ${field} is ${a} by the replay and ${b} in the table`);
      }
    }
  }
  return found.slice(0, limit);
}
