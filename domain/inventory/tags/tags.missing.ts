import type { Ctx, Work } from '../../kernel/context.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { restateInventory } from '../metamodel/changes/restate.ts';
import { changeCatalogue } from './tags.catalogue.ts';
import { catalogueEvent } from './tags.told.ts';

/** A tag by its name and its group's. */
export interface WantedTag {
  group: string;
  name: string;
}

/**
 * Makes the tags that are not there yet, and their groups, at once; names are compared without regard to case.
 * @param keep what else belongs to the transaction; called first.
 * @throws EstateError `forbidden`, `metamodel_busy`.
 */
export async function createMissingTags(
  ctx: Ctx,
  wanted: readonly WantedTag[],
  keep: (work: Work) => Promise<void>,
): Promise<void> {
  requirePermission(ctx.caller, 'tags.manage');
  await changeCatalogue(ctx, async (run) => {
    const { work } = run;
    await keep(work);
    const groups = new Map<string, string>();
    const rows: { id: string; name: string }[] = await work
      .sql('tag_groups')
      .select('id', 'name')
      .forUpdate();
    for (const { id, name } of rows) groups.set(name.toLowerCase(), id);
    const there = new Set<string>();
    const known: { tag_group_id: string; name: string }[] = await work
      .sql('tags')
      .select('tag_group_id', 'name');
    for (const { tag_group_id, name } of known) there.add(`${tag_group_id} ${name.toLowerCase()}`);
    for (const { group, name } of wanted) {
      let id = groups.get(group.toLowerCase());
      if (id === undefined) {
        const row = await insertRow(work.sql, 'tag_groups', { name: group, mode: 'multi', mandatory: false });
        work.emit(catalogueEvent('tag_groups', null, row));
        id = row.id as string;
        groups.set(group.toLowerCase(), id);
      }
      const key = `${id} ${name.toLowerCase()}`;
      if (there.has(key)) continue;
      there.add(key);
      work.emit(catalogueEvent('tags', null, await insertRow(work.sql, 'tags', { name, tag_group_id: id })));
    }
    await restateInventory(run);
  });
}
