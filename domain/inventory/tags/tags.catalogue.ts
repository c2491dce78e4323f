import { LOCK_NOT_AVAILABLE, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { differing, type StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { metamodelBusy, openRun } from '../metamodel/changes/changes.run.ts';
import type { ChangeRun } from '../metamodel/changes/changes.types.ts';
import { restateInventory } from '../metamodel/changes/restate.ts';
import { readTag, readTagGroup } from './tags.queries.ts';
import { catalogueEvent, type TagTable } from './tags.told.ts';
import { requireFits, takeTagsOff } from './tags.use.ts';

export interface TagGroupInput {
  name?: string;
  description?: string | null;
  mode?: 'single' | 'multi';
  mandatory?: boolean;
  /** Null: for cards of every type. */
  restrict_to_types?: string[] | null;
}

export interface TagInput {
  name?: string;
  description?: string | null;
  color?: string | null;
  sort_order?: number;
}

const entities = { tag_groups: 'tag group', tags: 'tag' } as const;

/** Creates a tag group. @throws EstateError `forbidden`, `validation_failed`, `name_taken`. */
export async function createTagGroup(ctx: Ctx, input: TagGroupInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const row = await insertRow(
      work.sql,
      'tag_groups',
      stored({ mode: 'multi', mandatory: false, ...input }),
    );
    work.emit(catalogueEvent('tag_groups', null, row));
    await restateInventory(run);
    return await readTagGroup(work.sql, row.id as string);
  });
}

/**
 * Changes a tag group. What cards have already must fit: one tag at most for `single`, and none on types that are left out.
 * Cards that a mandatory group concerns are scored anew.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`, `tag_in_use`.
 */
export async function patchTagGroup(ctx: Ctx, id: string, input: TagGroupInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await locked(work, 'tag_groups', { id });
    if (ctx.ifMatch) checkIfMatch(ctx, await readTagGroup(work.sql, id));
    const changed = differing(before, stored(input));
    if (Object.keys(changed).length > 0) {
      const after = await updateRow(work.sql, 'tag_groups', { column: 'id', value: id }, changed);
      await requireFits(work.sql, after);
      work.emit(catalogueEvent('tag_groups', before, after));
      await restateInventory(run);
    }
    return await readTagGroup(work.sql, id);
  });
}

/** Deletes a tag group with its tags, which are taken off all cards. @throws EstateError `forbidden`, `not_found`. */
export async function deleteTagGroup(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await locked(work, 'tag_groups', { id });
    const tags = await work.sql('tags').where({ tag_group_id: id }).orderBy('id').pluck('id');
    const taken = await takeTagsOff(run, tags);
    for (const tag of tags) await remove(work, 'tags', { id: tag });
    await work.sql('tag_groups').where({ id }).delete();
    work.emit(catalogueEvent('tag_groups', before, null));
    await restateInventory(run);
    await taken.rescore();
  });
}

/** Adds a tag to a group. @throws EstateError `forbidden`, `not_found`, `validation_failed`, `name_taken`. */
export async function createTag(ctx: Ctx, groupId: string, input: TagInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    await locked(work, 'tag_groups', { id: groupId });
    const row = await insertRow(work.sql, 'tags', { ...stored(input), tag_group_id: groupId });
    work.emit(catalogueEvent('tags', null, row));
    // a mandatory group counts from its first tag on
    await restateInventory(run);
    return await readTag(work.sql, groupId, row.id as string);
  });
}

/** Changes a tag. @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed`, `name_taken`. */
export async function patchTag(ctx: Ctx, groupId: string, id: string, input: TagInput): Promise<JsonText> {
  check(ctx, input);
  return await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    const before = await locked(work, 'tags', { id, tag_group_id: groupId });
    if (ctx.ifMatch) checkIfMatch(ctx, await readTag(work.sql, groupId, id));
    const changed = differing(before, stored(input));
    if (Object.keys(changed).length > 0) {
      const columns = Object.keys(changed);
      const { rows } = await work.sql.raw(
        `update tags t set ${columns.map((column) => `${column} = v.${column}`).join(', ')}
         from jsonb_populate_record(null::tags, ?::jsonb) v where t.id = ? returning to_jsonb(t) as row`,
        [JSON.stringify(changed), id],
      );
      work.emit(catalogueEvent('tags', before, rows[0].row));
    }
    return await readTag(work.sql, groupId, id);
  });
}

/** Deletes a tag, which is taken off all cards. @throws EstateError `forbidden`, `not_found`. */
export async function deleteTag(ctx: Ctx, groupId: string, id: string): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    await locked(work, 'tags', { id, tag_group_id: groupId });
    const taken = await takeTagsOff(run, [id]);
    await remove(work, 'tags', { id });
    await restateInventory(run);
    await taken.rescore();
  });
}

/** Runs a change of the catalogue alone beside other writes, as the metamodel is made of it. */
export async function changeCatalogue<T>(ctx: Ctx, act: (run: ChangeRun) => Promise<T>): Promise<T> {
  try {
    return await command(
      ctx,
      async (work) => {
        const run = openRun(work, ctx, { language: 'en' });
        const answer = await act(run);
        work.raise(METAMODEL_TOPIC);
        await run.held?.record();
        return answer;
      },
      { changesMetamodel: true },
    );
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) throw metamodelBusy(error);
    if (sqlState(error) === '23505') throw new EstateError('name_taken', 'The name is in use already.');
    throw error;
  }
}

function check(ctx: Ctx, input: TagGroupInput & TagInput): void {
  requirePermission(ctx.caller, 'tags.manage');
  if (input.name !== undefined && input.name.trim() === '') {
    throw invalidField('name', 'required', 'must not be blank');
  }
  for (const [n, type] of (input.restrict_to_types ?? []).entries()) {
    if (!ctx.metamodel.cardTypes.has(type)) {
      throw invalidField(`restrict_to_types.${n}`, 'unknown_type', `there is no card type "${type}"`);
    }
  }
}

/** The input as it is stored. */
function stored(input: TagGroupInput & TagInput): StoredRow {
  const values: StoredRow = { ...input };
  if (input.name !== undefined) values.name = input.name.trim();
  // an empty list would fit no card
  if (input.restrict_to_types?.length === 0) values.restrict_to_types = null;
  return values;
}

async function locked(work: Work, table: TagTable, where: Record<string, string>): Promise<StoredRow> {
  const lower = Object.fromEntries(Object.entries(where).map(([column, id]) => [column, id.toLowerCase()]));
  const row = await lockRow(work.sql, table, lower);
  if (!row) throw notFound(entities[table], where.id!);
  return row;
}

async function remove(work: Work, table: TagTable, where: { id: string }): Promise<void> {
  const row = await locked(work, table, where);
  await work
    .sql(table)
    .where({ id: row.id as string })
    .delete();
  work.emit(catalogueEvent(table, row, null));
}
