import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { itemsOf, runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { rejectionMember, signatureMembers } from '../signatures/signatures.records.ts';
import { signedStatuses } from '../signatures/signatures.types.ts';
import { Soaw } from './soaw.model.ts';
import { soawRights } from './soaw.types.ts';

export const soawSorts: Record<string, SortField> = {
  created_at: { sql: 'w.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'w.updated_at', type: 'timestamptz', filled: true },
  signed_at: { sql: 'w.signed_at', type: 'timestamptz' },
  name: { sql: 'lower(w.name)', type: 'text', filled: true },
  status: { sql: 'w.status', type: 'text', filled: true },
  revision_number: { sql: 'w.revision_number', type: 'bigint', immutable: true },
};
export const soawFilters = {
  initiative_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those about this initiative' })),
  status: Type.Optional(Choice(signedStatuses, 'Only those in this state')),
};

const { series_id: _seriesId, ...soawColumns } = columnMembers('w', Soaw);

/** Statements over the alias `w`. */
function soawList(ctx: Ctx): ListSpec {
  const visible = visibleCards(ctx);
  return {
    name: 'soaws',
    from: 'soaws w left join users u on u.id = w.created_by',
    id: 'w.id',
    idType: 'uuid',
    sorts: soawSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    search: `fold(w.name || ' ' || document_words(w.document_info) || ' ' || document_words(w.version_history)
      || ' ' || document_words(w.sections))`,
    members: {
      ...soawColumns,
      initiative_name: {
        sql: `(select c.name from cards c where c.id = w.initiative_id and (${visible.sql}))`,
        bindings: visible.bindings,
      },
      creator_name: 'u.display_name',
      ...signatureMembers('w', soawRights),
      rejection: rejectionMember('w'),
    },
  };
}

/** Statements, newest first. @throws EstateError `forbidden`. */
export async function listSoaws(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof soawFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'soaw.view');
  const where: Condition[] = [];
  if (params.initiative_id !== undefined) {
    where.push({ sql: 'w.initiative_id = ?::uuid', bindings: [params.initiative_id] });
  }
  if (params.status !== undefined) where.push({ sql: 'w.status = ?', bindings: [params.status] });
  return await runList(ctx.db, soawList(ctx), where, params, { owner: ctx.caller.userId });
}

/** All revisions of a statement, the first one first. @throws EstateError `forbidden`, `not_found`. */
export async function listSoawRevisions(ctx: Ctx, id: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'soaw.view');
  const row = await ctx.db('soaws').where({ id }).first('series_id');
  if (!row) throw notFound('statement of architecture work', id);
  const spec: ListSpec = {
    ...soawList(ctx),
    name: 'soaw-revisions',
    defaultSort: 'revision_number',
    defaultDir: 'asc',
  };
  const where: Condition[] = [{ sql: 'w.series_id = ?::uuid', bindings: [row.series_id] }];
  return await runList(ctx.db, spec, where, params, { owner: ctx.caller.userId });
}

/** One statement as the caller may see it, without its integrity; undefined when there is none. */
export async function soawText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText | undefined> {
  const spec = soawList(ctx);
  const item = projection(spec.members, undefined);
  const [text] = await itemsOf({ sql, spec, where: [], item }, [id.toLowerCase()]);
  return text;
}
