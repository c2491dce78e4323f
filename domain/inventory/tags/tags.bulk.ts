import { query } from '../../../platform/database.ts';
import { invalidFields } from '../../../platform/errors.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requireOnCards, requirePermission } from '../../kernel/permissions/policy.ts';
import { uniqueIds } from '../cards/bulk/bulk.each.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCards, type StoredCard } from '../cards/cards.load.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { EDIT } from '../cards/cards.write.ts';
import { tagEvent } from './tags.cards.ts';

interface BulkTags {
  card_ids: string[];
  add: string[];
  remove: string[];
  dry_run: boolean;
}

interface Tag {
  id: string;
  name: string;
  group: string;
  group_id: string;
  mode: 'single' | 'multi';
  types: string[] | null;
}

/**
 * Removes tags from many cards, then adds tags. A card that cannot have an added tag does not prevent the others.
 * @throws EstateError `forbidden` naming the cards, `validation_failed` naming each unknown tag.
 */
export async function changeTags(ctx: Ctx, { card_ids, add, remove, dry_run }: BulkTags) {
  requirePermission(ctx.caller, 'inventory.bulk_edit');
  const ids = uniqueIds(card_ids);
  return await commandWith(ctx, { dryRun: dry_run }, async (work) => {
    await lockCards(work, ids);
    const cards = await loadCards(work, ctx, ids);
    requireOnCards(ctx, EDIT, cards.values());
    const tags = await readTags(work, { add, remove });
    const present = await readPresent(work, [...cards.keys()]);
    const added: { card: StoredCard; tag: Tag }[] = [];
    const removed: { card: StoredCard; tag: Tag }[] = [];
    const results = ids.map((card_id) => {
      const result = { card_id, added: [] as string[], removed: [] as string[], code: null, message: null };
      const card = cards.get(card_id);
      if (!card) return { ...result, status: 'not_found' as const };
      const held = new Map(present.get(card_id));
      const taken = tags.remove.filter(({ id }) => held.delete(id));
      const given = tags.add.filter(({ id }) => !held.has(id));
      const refusal = refusalOf(card, held, given);
      if (refusal) return { ...result, status: 'refused' as const, ...refusal };
      // a tag that is removed and added stays
      const stays = (tag: Tag) => taken.includes(tag) && given.includes(tag);
      const changes = {
        removed: taken.filter((tag) => !stays(tag)),
        added: given.filter((tag) => !stays(tag)),
      };
      removed.push(...changes.removed.map((tag) => ({ card, tag })));
      added.push(...changes.added.map((tag) => ({ card, tag })));
      const [gone, come] = [changes.removed.map(({ id }) => id), changes.added.map(({ id }) => id)];
      const status = gone.length + come.length > 0 ? ('updated' as const) : ('unchanged' as const);
      return { ...result, status, removed: gone, added: come };
    });
    await write(work, added, removed);
    await rescoreCards(
      work,
      ctx,
      [...added, ...removed].map(({ card }) => card.id),
    );
    return { dry_run, updated: results.filter(({ status }) => status === 'updated').length, results };
  });
}

async function readTags({ sql }: Work, given: { add: string[]; remove: string[] }) {
  const wanted = uniqueIds([...given.add, ...given.remove]);
  const rows = await query(sql).rows<Tag>`select t.id, t.name, g.name as "group", g.id as group_id, g.mode,
      g.restrict_to_types as types
    from tags t join tag_groups g on g.id = t.tag_group_id where t.id = any(${wanted}::uuid[])`;
  const known = new Map(rows.map((tag) => [tag.id, tag]));
  const unknown = (member: 'add' | 'remove') =>
    given[member].flatMap((id, n) =>
      known.has(id.toLowerCase())
        ? []
        : [{ field: `${member}.${n}`, code: 'unknown_tag', message: `there is no tag ${id}` }],
    );
  const errors = [...unknown('add'), ...unknown('remove')];
  if (errors.length > 0) throw invalidFields(errors);
  const of = (ids: string[]) => uniqueIds(ids).map((id) => known.get(id)!);
  return { add: of(given.add), remove: of(given.remove) };
}

/** The tags of each card, by card and tag, with the groups of the tags. */
async function readPresent({ sql }: Work, ids: string[]): Promise<Map<string, Map<string, string>>> {
  const rows = await query(sql).rows<{ card_id: string; tag_id: string; group_id: string }>`
    select k.card_id, k.tag_id, t.tag_group_id as group_id from card_tags k join tags t on t.id = k.tag_id
    where k.card_id = any(${ids}::uuid[])`;
  const present = new Map<string, Map<string, string>>(ids.map((id) => [id, new Map()]));
  for (const { card_id, tag_id, group_id } of rows) present.get(card_id)!.set(tag_id, group_id);
  return present;
}

/** Why a card cannot have the tags in addition to those that it keeps. */
function refusalOf(card: StoredCard, held: ReadonlyMap<string, string>, given: Tag[]) {
  const groups = new Set(held.values());
  for (const { group, group_id, mode, types } of given) {
    if (types && !types.includes(card.type)) {
      const message = `The tags of ${group} are not for cards of the type ${card.type}.`;
      return { code: 'tag_not_allowed' as const, message };
    }
    if (mode === 'single' && groups.has(group_id)) {
      return { code: 'single_tag' as const, message: `A card has at most one tag of ${group}.` };
    }
    groups.add(group_id);
  }
  return undefined;
}

async function write(
  work: Work,
  added: { card: StoredCard; tag: Tag }[],
  removed: { card: StoredCard; tag: Tag }[],
): Promise<void> {
  const columns = (changes: { card: StoredCard; tag: Tag }[]) => [
    changes.map(({ card }) => card.id),
    changes.map(({ tag }) => tag.id),
  ];
  const [goneCards, goneTags] = columns(removed);
  await query(work.sql)
    .run`delete from card_tags k using unnest(${goneCards}::uuid[], ${goneTags}::uuid[]) g (card_id, tag_id)
    where k.card_id = g.card_id and k.tag_id = g.tag_id`;
  const [newCards, newTags] = columns(added);
  await query(work.sql).run`insert into card_tags (card_id, tag_id)
    select * from unnest(${newCards}::uuid[], ${newTags}::uuid[])`;
  for (const { card, tag } of removed) work.emit(tagEvent(card, tag, false));
  for (const { card, tag } of added) work.emit(tagEvent(card, tag, true));
  for (const { card } of [...removed, ...added]) work.raise(cardsTopic(card.type));
}
