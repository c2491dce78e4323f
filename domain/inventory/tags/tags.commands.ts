import { LOCK_NOT_AVAILABLE, sqlState, unlessTaken } from '../../../platform/database.ts';
import { EstateError, invalidField, requireText } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import { commandWith } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { TagGroup, type TagGroupRow } from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows, insertRow, requireRow, updateRow } from '../../kernel/resources/rows.ts';
import { updateInventory } from '../metamodel/changes/changes.inventory.ts';
import { metamodelBusy, openRun } from '../metamodel/changes/changes.run.ts';
import type { ChangeRun } from '../metamodel/changes/changes.types.ts';
import { catalogueEvent, removeTags, requireFits } from './tags.cards.ts';
import { readTag, readTagGroup } from './tags.list.ts';
import { Tag, type TagRow } from './tags.model.ts';

type TagGroupInput = Partial<Omit<TagGroupRow, 'id' | 'created_at' | 'updated_at'>>;
type TagInput = Partial<Omit<TagRow, 'id' | 'tag_group_id'>>;

/** Creates a tag group. @throws EstateError `forbidden`, `validation_failed`, `name_taken`. */
export async function createTagGroup(ctx: Ctx, input: TagGroupInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const row = await insertRow(work.sql, TagGroup, {
      mode: 'multi',
      mandatory: false,
      ...groupColumns(input),
    });
    work.emit(catalogueEvent('tag_group', null, row));
    await updateInventory(run);
    return await readTagGroup(work.sql, row.id);
  });
}

/**
 * Changes a tag group. The tags of cards must still be allowed: at most one for `single`, and none on types outside
 * `restrict_to_types`. The data quality of cards is recomputed if the group is mandatory.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`, `tag_in_use`.
 */
export async function patchTagGroup(ctx: Ctx, id: string, input: TagGroupInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await lockGroup(work, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await readTagGroup(work.sql, id));
    const changed = differingMembers(before, groupColumns(input));
    if (Object.keys(changed).length > 0) {
      const after = await updateRow(work.sql, TagGroup, { id: before.id }, changed);
      await requireFits(work.sql, after);
      work.emit(catalogueEvent('tag_group', before, after));
      await updateInventory(run);
    }
    return await readTagGroup(work.sql, id);
  });
}

/** Deletes a tag group with its tags, which are removed from all cards. @throws EstateError `forbidden`, `not_found`. */
export async function deleteTagGroup(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await lockGroup(work, id);
    const tags = await findRows(work.sql, Tag, (query) =>
      query.where({ tag_group_id: before.id }).orderBy('id').forUpdate(),
    );
    const ids = tags.map((tag) => tag.id);
    const removed = await removeTags(run, ids);
    await deleteRows(work.sql, Tag, (query) => query.where({ tag_group_id: before.id }));
    for (const tag of tags) work.emit(catalogueEvent('tag', tag, null));
    await deleteRows(work.sql, TagGroup, (query) => query.where({ id: before.id }));
    work.emit(catalogueEvent('tag_group', before, null));
    await updateInventory(run);
    await removed.rescore();
  });
}

/** Adds a tag to a group. @throws EstateError `forbidden`, `not_found`, `validation_failed`, `name_taken`. */
export async function createTag(ctx: Ctx, groupId: string, input: TagInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    await lockGroup(work, groupId);
    const row = await insertRow(work.sql, Tag, { ...trimmed(input), tag_group_id: groupId });
    work.emit(catalogueEvent('tag', null, row));
    // A mandatory group counts as soon as it has a tag.
    await updateInventory(run);
    return await readTag(work.sql, groupId, row.id);
  });
}

/** Changes a tag. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`. */
export async function patchTag(ctx: Ctx, groupId: string, id: string, input: TagInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await lockTag(work, groupId, id);
    if (ctx.ifMatch) checkIfMatch(ctx, await readTag(work.sql, groupId, id));
    const changed = differingMembers(before, trimmed(input));
    if (Object.keys(changed).length > 0) {
      work.emit(catalogueEvent('tag', before, await updateRow(work.sql, Tag, { id: before.id }, changed)));
    }
    return await readTag(work.sql, groupId, id);
  });
}

/** Deletes a tag, which is removed from all cards. @throws EstateError `forbidden`, `not_found`. */
export async function deleteTag(ctx: Ctx, groupId: string, id: string): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await lockTag(work, groupId, id);
    const removed = await removeTags(run, [before.id]);
    await deleteRows(work.sql, Tag, (query) => query.where({ id: before.id }));
    work.emit(catalogueEvent('tag', before, null));
    await updateInventory(run);
    await removed.rescore();
  });
}

/** Changes the tag catalogue, which is part of the metamodel, under the exclusive metamodel lock. */
async function changeCatalogue<T>(ctx: Ctx, act: (run: ChangeRun) => Promise<T>): Promise<T> {
  try {
    const change = async (work: Work) => {
      const run = openRun(work, ctx, { language: 'en' });
      const result = await act(run);
      work.raise(METAMODEL_TOPIC);
      await run.held?.record();
      return result;
    };
    const taken = () => new EstateError('name_taken', 'The name is in use already.');
    return await unlessTaken(commandWith(ctx, { changesMetamodel: true }, change), taken);
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? metamodelBusy(error) : error;
  }
}

function check(ctx: Ctx, input: TagGroupInput & TagInput): void {
  requirePermission(ctx.caller, 'tags.manage');
  if (input.name !== undefined) requireText(input.name, 'name');
  for (const [n, type] of (input.restrict_to_types ?? []).entries()) {
    if (!ctx.metamodel.cardTypes.has(type)) {
      throw invalidField(`restrict_to_types.${n}`, 'unknown_type', `there is no card type "${type}"`);
    }
  }
}

function trimmed<I extends { name?: string }>(input: I): I {
  return input.name === undefined ? input : { ...input, name: cleanName(input.name) };
}

function groupColumns(input: TagGroupInput): TagGroupInput {
  // An empty list would exclude every card.
  const types = input.restrict_to_types?.length === 0 ? { restrict_to_types: null } : {};
  return { ...trimmed(input), ...types };
}

const lockGroup = ({ sql }: Work, id: string): Promise<TagGroupRow> =>
  requireRow(sql, TagGroup, 'tag group', { id: id.toLowerCase() });

const lockTag = ({ sql }: Work, groupId: string, id: string): Promise<TagRow> =>
  requireRow(sql, Tag, 'tag', { id: id.toLowerCase(), tag_group_id: groupId.toLowerCase() });

/** A tag by its name and the name of its group. */
export interface WantedTag {
  group: string;
  name: string;
}

/**
 * Creates the missing tags and groups in one transaction; names are compared case-insensitively. @param besides writes
 * other data in the same transaction; called first.
 * @throws EstateError `forbidden`, `metamodel_busy`.
 */
export async function createMissingTags(
  ctx: Ctx,
  wanted: readonly WantedTag[],
  besides: (work: Work) => Promise<void>,
): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    await besides(work);
    const { sql } = work;
    const groups = await findRows(sql, TagGroup, (query) => query.forUpdate());
    const groupIds = new Map(groups.map(({ id, name }) => [name.toLowerCase(), id]));
    const tags = await findRows(sql, Tag, (query) => query);
    const known = new Set(tags.map(({ tag_group_id, name }) => `${tag_group_id} ${name.toLowerCase()}`));
    for (const { group, name } of wanted) {
      let groupId = groupIds.get(group.toLowerCase());
      if (groupId === undefined) {
        const row = await insertRow(sql, TagGroup, { name: group, mode: 'multi', mandatory: false });
        work.emit(catalogueEvent('tag_group', null, row));
        groupId = row.id;
        groupIds.set(group.toLowerCase(), groupId);
      }
      const key = `${groupId} ${name.toLowerCase()}`;
      if (known.has(key)) continue;
      known.add(key);
      work.emit(catalogueEvent('tag', null, await insertRow(sql, Tag, { name, tag_group_id: groupId })));
    }
    await updateInventory(run);
  });
}
