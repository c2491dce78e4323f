import { notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { diagramFavoriteEvent } from './diagrams.events.ts';
import { visibleDiagrams } from './diagrams.visible.ts';

const favoriteList: ListSpec = {
  name: 'diagram-favorites',
  from: 'diagram_favorites f join diagrams d on d.id = f.diagram_id',
  id: 'f.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 'f.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'lower(d.name)', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(d.name)',
  members: { diagram_id: 'f.diagram_id', name: 'd.name', created_at: 'utc(f.created_at)' },
};

/** The diagrams that the caller has starred and still sees. @throws EstateError `forbidden`. */
export async function listDiagramFavorites(ctx: Ctx, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  const where = [{ sql: 'f.user_id = ?::uuid', bindings: [ctx.caller.userId] }, visibleDiagrams(ctx)];
  return await runList(ctx.db, favoriteList, where, params, { owner: ctx.caller.userId });
}

/** Stars a diagram for the caller; one that is starred already stays so. @throws EstateError `forbidden`, `not_found`. */
export async function starDiagram(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'diagrams.view');
  return await command(ctx, async ({ sql, emit }) => {
    const visible = visibleDiagrams(ctx);
    const { rows } = await sql.raw(
      `select d.id from diagrams d where d.id = ?::uuid and ${visible.sql} for key share of d`,
      [id, ...visible.bindings] as never,
    );
    if (!rows[0]) throw notFound('diagram', id);
    const key = { user_id: ctx.caller.userId, diagram_id: rows[0].id };
    const [made] = await sql('diagram_favorites')
      .insert(key)
      .onConflict(['user_id', 'diagram_id'])
      .ignore()
      .returning(sql.raw('to_jsonb(diagram_favorites) as "row"'));
    if (made) emit(diagramFavoriteEvent(null, made.row));
    const star = made?.row ?? (await sql('diagram_favorites').where(key).first('id'));
    return (await itemText(sql, favoriteList, star.id))!;
  });
}

/** Takes the star off. @throws EstateError `forbidden`, `not_found` when the caller has not starred it. */
export async function unstarDiagram(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'diagrams.view');
  await command(ctx, async ({ sql, emit }) => {
    const [gone] = await sql('diagram_favorites')
      .where({ user_id: ctx.caller.userId, diagram_id: id })
      .delete()
      .returning(sql.raw('to_jsonb(diagram_favorites) as "row"'));
    if (!gone) throw notFound('favorite', id);
    emit(diagramFavoriteEvent(gone.row, null));
  });
}
