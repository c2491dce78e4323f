import type { Ctx, Work } from '../../kernel/context.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { findRows, insertRow } from '../../kernel/resources/rows.ts';
import { restateInventory } from '../metamodel/changes/restate.ts';
import { changeCatalogue } from './tags.commands.ts';
import { catalogueEvent } from './tags.events.ts';
import { Tag } from './tags.model.ts';

/** A tag by its name and its group's. */
export interface WantedTag {
  group: string;
  name: string;
}

/**
 * Creates the tags that do not exist yet, and their groups, in one transaction; names are compared case-insensitively.
 * @param besides writes what else belongs to the transaction; called first.
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
    await restateInventory(run);
  });
}
