import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { favoriteEvent } from './diagrams.events.ts';
import { DiagramFavorite, type DiagramFavoriteRow } from './diagrams.model.ts';
import { visibleDiagrams } from './diagrams.visible.ts';

export const favoriteSorts: Record<string, SortField> = {
  created_at: { sql: 'f.created_at', type: 'timestamptz', immutable: true },
  name: { sql: 'lower(d.name)', type: 'text', filled: true },
};

const favoriteList: ListSpec = {
  name: 'diagram-favorites',
  from: 'diagram_favorites f join diagrams d on d.id = f.diagram_id',
  id: 'f.id',
  idType: 'uuid',
  sorts: favoriteSorts,
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(d.name)',
  members: { diagram_id: 'f.diagram_id', name: 'd.name', created_at: 'utc(f.created_at)' },
};

/** The caller's favourite diagrams, as far as they are still visible. @throws EstateError `forbidden`. */
export async function listDiagramFavorites(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  const where = [{ sql: 'f.user_id = ?::uuid', bindings: [ctx.caller.userId] }, visibleDiagrams(ctx)];
  return await runList(ctx.db, favoriteList, where, params, { owner: ctx.caller.userId });
}

/** Makes a diagram a favourite of the caller, unless it is one already. @throws EstateError `forbidden`, `not_found`. */
export async function starDiagram(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async ({ sql, emit }) => {
    const visible = visibleDiagrams(ctx);
    const [diagram] = await queryRows<{ id: string }>(
      sql,
      `select d.id from diagrams d where d.id = ?::uuid and ${visible.sql} for key share of d`,
      [id, ...visible.bindings],
    );
    if (!diagram) throw notFound('diagram', id);
    const key = { user_id: ctx.caller.userId, diagram_id: diagram.id };
    const [inserted] = await queryRows<{ row: DiagramFavoriteRow }>(
      sql,
      `insert into diagram_favorites as f (user_id, diagram_id) values (?::uuid, ?::uuid)
       on conflict (user_id, diagram_id) do nothing returning to_jsonb(f) as row`,
      [key.user_id, key.diagram_id],
    );
    if (inserted) emit(favoriteEvent(null, inserted.row));
    const favorite = inserted?.row ?? (await sql('diagram_favorites').where(key).first('id'));
    return (await itemText(sql, favoriteList, favorite!.id))!;
  });
}

/** Removes a favourite of the caller. @throws EstateError `forbidden`, `not_found`. */
export async function unstarDiagram(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.view');
  await command(ctx, async ({ sql, emit }) => {
    const [deleted] = await deleteRows(sql, DiagramFavorite, (query) =>
      query.where({ user_id: ctx.caller.userId, diagram_id: id }),
    );
    if (!deleted) throw notFound('favorite', id);
    emit(favoriteEvent(deleted, null));
  });
}
