import { query, type Transaction } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import type { StakeholderRow } from '../../collaboration/collaboration.model.ts';
import { stakeholderEvent } from '../../collaboration/stakeholders/stakeholders.commands.ts';
import { cardsTopic } from '../../inventory/cards/cards.events.ts';
import { createTags, tagEvent } from '../../inventory/tags/tags.cards.ts';
import type { Work } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/row-changes.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { PROCESS } from '../../modelling/bpm/bpm.model.ts';
import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import type { CardPayload, NewTag, StagedHolder } from './imports.cards.types.ts';

interface StoredHolder extends StagedHolder {
  id: string;
  /** The complete row. */
  row: StakeholderRow;
}

interface CatalogueTag {
  name: string;
  group: string;
  groupId: string;
  single: boolean;
  /** The card types that can have it; null: all. */
  types: string[] | null;
  /** Whether the batch creates it, if one of its rows is written. */
  isNew?: boolean;
}

/** The tags and stakeholders of the cards of a batch, if its rows set them. */
export interface PeopleAndTags {
  /** Tag ids by card. */
  tags: ReadonlyMap<string, ReadonlySet<string>>;
  holders: ReadonlyMap<string, readonly StoredHolder[]>;
  /** The tags that rows name or cards have. */
  catalogue: ReadonlyMap<string, CatalogueTag>;
  /** Display names of users. */
  users: ReadonlyMap<string, string>;
}

/** The changes of a row to the tags and stakeholders of its card. */
export interface Attached {
  addedTags: string[];
  removedTags: string[];
  addedHolders: StagedHolder[];
  removedHolders: StoredHolder[];
  /** The card's tag groups after the change; absent if the row does not change tags. */
  tagGroups?: ReadonlySet<string>;
  /** The assigned roles after the change; absent if the row does not change stakeholders. */
  roles?: ReadonlySet<string>;
  changesHolders: boolean;
  changes: boolean;
}

/**
 * Reads the data that the rows of a batch may change: the tags and stakeholders of existing cards, and the names for
 * events.
 */
export async function readPeopleAndTags(
  sql: Transaction,
  rows: { card_id: string; is_new: boolean; payload: CardPayload }[],
): Promise<PeopleAndTags> {
  const tagged = rows.filter(({ payload }) => payload.tags);
  const held = rows.filter(({ payload }) => payload.holders);
  const existing = (some: typeof rows) => some.filter((row) => !row.is_new).map((row) => row.card_id);
  const tags = new Map<string, Set<string>>();
  const holders = new Map<string, StoredHolder[]>();
  const named = new Set(tagged.flatMap(({ payload }) => payload.tags!));
  const people = new Set(held.flatMap(({ payload }) => payload.holders!.map(({ user_id }) => user_id)));

  const storedTags: { card_id: string; tag_id: string }[] = await sql('card_tags')
    .whereIn('card_id', existing(tagged))
    .select('card_id', 'tag_id');
  for (const { card_id, tag_id } of storedTags) {
    tags.set(card_id, (tags.get(card_id) ?? new Set()).add(tag_id));
    named.add(tag_id);
  }
  const storedHolders: (StoredHolder & { card_id: string })[] = await sql('stakeholders as s')
    .whereIn('card_id', existing(held))
    .orderBy('id')
    .select('id', 'card_id', 'user_id', 'role', sql.raw('to_jsonb(s) as "row"'));
  for (const { card_id, ...holder } of storedHolders) {
    holders.set(card_id, [...(holders.get(card_id) ?? []), holder]);
    people.add(holder.user_id);
  }
  const foundTags = await query(sql).rows`select t.id, t.name, g.name as "group", g.id as "groupId",
    g.mode = 'single' as single, g.restrict_to_types as types from tags t join tag_groups g on g.id = t.tag_group_id
     where t.id = any(${[...named]}::uuid[])`;
  const catalogue = new Map<string, CatalogueTag>(foundTags.map(({ id, ...tag }) => [id, tag]));
  await nameNewTags(sql, rows, catalogue);
  const foundUsers: { id: string; display_name: string }[] = await sql('users')
    .whereIn('id', [...people])
    .select('id', 'display_name');
  const users = new Map(foundUsers.map(({ id, display_name }) => [id, display_name]));
  return { tags, holders, catalogue, users };
}

/**
 * Adds the new tags of rows to their tags: those that exist meanwhile, and others with ids of their own, which the catalogue does
 * not have if the group was deleted, or became mandatory so that its first tag would change the data quality of all cards.
 */
async function nameNewTags(
  sql: Transaction,
  rows: readonly { payload: CardPayload }[],
  catalogue: Map<string, CatalogueTag>,
): Promise<void> {
  const keyOf = ({ group_id, name }: NewTag) => `${group_id} ${name}`;
  const wanted = new Map(
    rows.flatMap(({ payload }) => payload.new_tags ?? []).map((tag) => [keyOf(tag), tag]),
  );
  if (wanted.size === 0) return;
  const found = await query(sql).rows<{ key: string; id: string } & CatalogueTag>`
    select v.group_id || ' ' || v.name as key, coalesce(t.id, v.id) as id, t.id is null as "isNew",
      coalesce(t.name, v.first) as name, g.name as "group", g.id as "groupId", g.mode = 'single' as single,
      g.restrict_to_types as types
    from (
      select w.*, first_value(fresh) over same as id, first_value(name) over same as first
      from (
        select group_id, name, uuidv7() as fresh
        from jsonb_to_recordset(${JSON.stringify([...wanted.values()])}::jsonb) as w (group_id uuid, name text)
      ) w window same as (partition by group_id, lower(name) order by name)
    ) v left join tag_groups g on g.id = v.group_id
        and not (g.mandatory and not exists (select from tags o where o.tag_group_id = g.id))
      left join tags t on t.tag_group_id = g.id and lower(t.name) = lower(v.name)`;
  const ids = new Map(found.map(({ key, id }) => [key, id]));
  for (const { key: _key, id, ...tag } of found) if (tag.group !== null) catalogue.set(id, tag);
  for (const { payload } of rows) {
    if (payload.new_tags)
      payload.tags = [...payload.tags!, ...payload.new_tags.map((tag) => ids.get(keyOf(tag))!)];
  }
}

/** Errors of tags and stakeholders that were right when the row was read. Changes of tag groups wait for the end of the batch. */
export function outdatedAttached(
  { tags = [], holders = [] }: CardPayload,
  type: CardType,
  { catalogue, users }: PeopleAndTags,
): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (field: string, message: string) =>
    errors.push({
      ...{ field, code: 'field_changed' },
      message: `${message} while the import ran; import this row again`,
    });
  const singles = new Set<string>();
  for (const id of new Set(tags)) {
    const tag = catalogue.get(id);
    if (!tag) refuse('tags', 'a tag or its group was deleted or changed');
    else if (tag.types && !tag.types.includes(type.key)) {
      refuse('tags', `the group ${tag.group} was restricted to cards of other types than ${type.key}`);
    } else if (tag.single && singles.size === singles.add(tag.groupId).size) {
      refuse('tags', `the group ${tag.group} was changed to allow one tag`);
    }
  }
  for (const { user_id, role } of holders) {
    if (!users.has(user_id)) refuse('stakeholders', 'a user was deleted');
    else if (!type.stakeholderRoles.some(({ key }) => key === role)) {
      refuse('stakeholders', `the role ${role} was removed from ${type.key}`);
    }
  }
  return errors;
}

/** The changes of a row to tags and stakeholders that are not outdated. */
export function attachedBy(cardId: string, payload: CardPayload, around: PeopleAndTags): Attached {
  const attached: Attached = {
    addedTags: [],
    removedTags: [],
    addedHolders: [],
    removedHolders: [],
    changesHolders: false,
    changes: false,
  };
  if (payload.tags) {
    const stored = around.tags.get(cardId) ?? new Set();
    const wanted = new Set(payload.tags.filter((id) => around.catalogue.has(id)));
    if (payload.additive) for (const id of keptTags(stored, wanted, around)) wanted.add(id);
    attached.addedTags = [...wanted].filter((id) => !stored.has(id));
    attached.removedTags = [...stored].filter((id) => !wanted.has(id));
    attached.tagGroups = new Set([...wanted].map((id) => around.catalogue.get(id)!.groupId));
  }
  if (payload.holders) {
    const key = ({ user_id, role }: StagedHolder) => `${role}/${user_id}`;
    const stored = around.holders.get(cardId) ?? [];
    const named = payload.holders.filter(({ user_id }) => around.users.has(user_id));
    const wanted: StagedHolder[] = payload.additive ? [...named, ...stored] : named;
    const keys = { stored: new Set(stored.map(key)), wanted: new Set(wanted.map(key)) };
    attached.addedHolders = wanted.filter((holder) => !keys.stored.has(key(holder)));
    attached.removedHolders = stored.filter((holder) => !keys.wanted.has(key(holder)));
    attached.roles = new Set(wanted.map(({ role }) => role));
  }
  attached.changesHolders = attached.addedHolders.length + attached.removedHolders.length > 0;
  attached.changes = attached.changesHolders || attached.addedTags.length + attached.removedTags.length > 0;
  return attached;
}

/** The remaining tags of a card that gets further tags: all except those of groups that allow one tag and get another. */
function keptTags(
  stored: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
  { catalogue }: PeopleAndTags,
): string[] {
  const full = new Set(
    [...wanted].map((id) => catalogue.get(id)!).flatMap((tag) => (tag.single ? [tag.groupId] : [])),
  );
  return [...stored].filter((id) => !full.has(catalogue.get(id)?.groupId ?? ''));
}

/** One card with the changes of its tags and stakeholders. */
export interface AttachedCard {
  card: { id: string; name: string };
  type: CardType;
  attached: Attached;
}

/** Writes tags and stakeholders in one statement for each kind, with an event for each. */
export async function savePeopleAndTags(
  work: Work,
  cards: AttachedCard[],
  around: PeopleAndTags,
): Promise<void> {
  const changed = cards.filter(({ attached }) => attached.changes);
  const { sql } = work;
  const tags = (pick: (attached: Attached) => string[]) =>
    changed.flatMap(({ card, attached }) => pick(attached).map((tag_id) => ({ card_id: card.id, tag_id })));
  const removedTags = tags((attached) => attached.removedTags);
  const addedTags = tags((attached) => attached.addedTags);
  const ids = new Set(addedTags.map(({ tag_id }) => tag_id));
  await createTags(
    work,
    [...ids].flatMap((id) => {
      const { isNew, name, groupId } = around.catalogue.get(id)!;
      return isNew ? [{ id, name, tag_group_id: groupId }] : [];
    }),
  );
  await query(sql).run`delete from card_tags t
    using jsonb_to_recordset(${JSON.stringify(removedTags)}::jsonb) as v(card_id uuid, tag_id uuid)
     where t.card_id = v.card_id and t.tag_id = v.tag_id`;
  await query(sql).run`insert into card_tags (card_id, tag_id)
     select card_id, tag_id
     from jsonb_to_recordset(${JSON.stringify(addedTags)}::jsonb) as v(card_id uuid, tag_id uuid)
     on conflict do nothing`;
  const removed = changed.flatMap(({ attached }) => attached.removedHolders.map(({ id }) => id));
  await sql('stakeholders').whereIn('id', removed).delete();
  const inserted = await insertHolders(
    sql,
    changed.flatMap(({ card, attached }) =>
      attached.addedHolders.map((holder) => ({ card_id: card.id, ...holder })),
    ),
  );
  for (const entry of changed) {
    work.raise(cardsTopic(entry.type.key));
    for (const event of eventsOf(entry, around, inserted)) work.emit(event);
  }
  const held = changed.filter(
    ({ type, attached }) =>
      type.key === PROCESS && attached.addedHolders.length + attached.removedHolders.length > 0,
  );
  if (held.length > 0) {
    const processes = held.map(({ card }) => card.id);
    await followApprovers(work, processes);
  }
}

async function insertHolders(
  sql: Transaction,
  holders: (StagedHolder & { card_id: string })[],
): Promise<Map<string, StakeholderRow>> {
  const rows = await query(sql).rows`insert into stakeholders as s (card_id, user_id, role)
     select card_id, user_id, role
     from jsonb_to_recordset(${JSON.stringify(holders)}::jsonb) as v(card_id uuid, user_id uuid, role text)
     on conflict do nothing returning to_jsonb(s) as "row", card_id || '/' || user_id || '/' || role as key`;
  return new Map(rows.map(({ key, row }: { key: string; row: StakeholderRow }) => [key, row]));
}

function* eventsOf(
  { card, type, attached }: AttachedCard,
  around: PeopleAndTags,
  inserted: ReadonlyMap<string, StakeholderRow>,
): Generator<EventDraft> {
  const tag = (id: string, added: boolean): EventDraft =>
    tagEvent({ id: card.id, type: type.key, name: card.name }, { id, ...around.catalogue.get(id)! }, added);
  const holder = (before: StakeholderRow | null, after: StakeholderRow | null): EventDraft => {
    return stakeholderEvent(card, type, around.users.get((after ?? before)!.user_id) ?? '', before, after);
  };
  for (const id of attached.removedTags) yield tag(id, false);
  for (const id of attached.addedTags) yield tag(id, true);
  for (const removed of attached.removedHolders) yield holder(removed.row, null);
  for (const added of attached.addedHolders) {
    const row = inserted.get(`${card.id}/${added.user_id}/${added.role}`);
    if (row) yield holder(null, row);
  }
}
