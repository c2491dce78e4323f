import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import type { UndoneEvent, UndoRefusal } from '../../kernel/undo/undo.types.ts';
import { loadStoredMapping } from './itsm.load.ts';
import type { Mapping } from './mappings.types.ts';

/** What a mapping names of the metamodel. */
type Named = Pick<Mapping, 'card_filter' | 'card_defaults' | 'fields'>;

/**
 * Stores a mapping, and the values on which its sides agreed, with other keys of the metamodel. A mapping with an open run
 * stays as it is: the run has the keys with which it started.
 */
export async function renameInMapping({ sql, emit }: Work, id: string, named: Named): Promise<boolean> {
  const open = await query(sql).row`select id from itsm_runs
    where mapping_id = ${id}::uuid and status in ('queued', 'running', 'review') limit 1`;
  if (open) return false;
  const before = await loadStoredMapping(sql, id);
  const { card_filter, card_defaults, fields } = named;
  await query(sql).run`update itsm_mappings set card_filter = ${card_filter}, updated_at = now(),
    card_defaults = ${JSON.stringify(card_defaults)}::jsonb where id = ${id}::uuid`;
  await query(sql).run`update itsm_field_mappings f
    set card_field = n.field ->> 'card_field', transform_config = n.field -> 'transform_config'
    from (select position, row_number() over (order by position) as no from itsm_field_mappings
        where mapping_id = ${id}::uuid) p
      join jsonb_array_elements(${JSON.stringify(fields)}::jsonb) with ordinality as n (field, no) using (no)
    where f.mapping_id = ${id}::uuid and f.position = p.position`;
  for (const [n, { card_field: from }] of before.fields.entries()) {
    const to = fields[n]!.card_field;
    if (to === from) continue;
    await query(sql).run`update itsm_pairs
      set base = base - ${from}::text || jsonb_build_object(${to}::text, base -> ${from}::text)
      where mapping_id = ${id}::uuid and jsonb_exists(base, ${from}::text)`;
  }
  const old = namedBy(before);
  emit({ event_type: 'itsm_mapping.renamed', data: { id, changes: rowChanges(old, { ...old, ...named }) } });
  return true;
}

const namedBy = ({ card_filter, card_defaults, fields }: Mapping): Named => ({
  card_filter,
  card_defaults,
  fields,
});

/** Undoes {@link renameInMapping}, unless the mapping has changed since or has an open run. */
export async function undoMappingRename(
  work: Work,
  _ctx: Ctx,
  { id, data }: UndoneEvent,
): Promise<UndoRefusal | null> {
  const there = await query(work.sql).row`select id from itsm_mappings where id = ${id}::uuid for update`;
  if (!there) return { code: 'missing', message: 'The mapping does not exist.' };
  const now = namedBy(await loadStoredMapping(work.sql, id));
  const then = (side: 'old' | 'new') => ({
    ...now,
    ...Object.fromEntries(Object.entries(data.changes).map(([key, change]) => [key, change[side]])),
  });
  if (Object.keys(rowChanges(now, then('new'))).length > 0)
    return { code: 'changed', message: 'The mapping has changed since.' };
  if (await renameInMapping(work, id, then('old'))) return null;
  return { code: 'itsm_run_open', message: 'The mapping has an open run.' };
}
