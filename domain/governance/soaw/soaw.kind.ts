import Type from 'typebox';
import { embed, fragment } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { type EventDraft, rowEvent, type StoredRow } from '../../kernel/events/row-changes.ts';
import { columnMembers, runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { rejectionMember, signatureMembers } from '../signatures/signatures.records.ts';
import { type SignedKind, signedStatuses } from '../signatures/signatures.types.ts';
import { INITIATIVE, Soaw, type SoawRow, soawRights } from './soaw.model.ts';

/** The event of a written statement, in the history of its initiative where it has one. */
export function soawEvent(
  initiative: { id: string } | null,
  before: SoawRow | null,
  after: SoawRow | null,
  type?: EventType,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id, name, status } = (after ?? before)!;
  return {
    ...rowEvent('soaw', before, after, { id, name, status, ...more }),
    ...(initiative && { card_id: initiative.id, card_type: INITIATIVE }),
    ...(type && { event_type: type }),
  };
}

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
    sorts: soawSorts,
    defaultSort: 'created_at',
    defaultDir: 'desc',
    filters: { initiative_id: 'w.initiative_id = ?::uuid', status: 'w.status = ?' },
    search: `fold(w.name || ' ' || document_words(w.document_info) || ' ' || document_words(w.version_history)
      || ' ' || document_words(w.sections))`,
    members: {
      ...soawColumns,
      initiative_name: fragment`(select c.name from cards c
        where c.id = w.initiative_id and (${embed(visible)}))`,
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
  return await runList(ctx, soawList(ctx), [], params);
}

/** The content of a statement for a revision. */
export const copiedContent = (row: SoawRow): StoredRow => ({
  ...signedContent(row),
  initiative_id: row.initiative_id,
});

const signedContent = ({ name, document_info, version_history, sections }: SoawRow) => ({
  name,
  document_info,
  version_history,
  sections,
});

/** Statements of architecture work. */
export const soawKind: SignedKind<SoawRow> = {
  key: 'soaw',
  entity: 'statement of architecture work',
  model: Soaw,
  page: '/soaw',
  rights: soawRights,
  nameOf: ({ name }) => name,
  // the initiative is not signed: a merge changes its id, and its deletion does not delete the statement
  contentOf: (row) => ({ revision_number: row.revision_number, ...signedContent(row) }),
  event: (before, after, type, more) => {
    const id = after?.initiative_id ?? before?.initiative_id;
    return soawEvent(id ? { id } : null, before, after, type, more);
  },
  list: soawList,
};
