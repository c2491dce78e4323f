import Type from 'typebox';
import { embed, fragment } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { lockReferredCard } from '../../inventory/cards/cards.load.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { type EventDraft, rowEvent, type StoredRow } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows } from '../../kernel/resources/rows.ts';
import { Choice, Uuid } from '../../kernel/shapes.ts';
import {
  insertRecord,
  lockRecord,
  recordText,
  rejectionMember,
  signatureMembers,
  withdrawTodos,
} from '../signatures/signatures.records.ts';
import { statusChangeError } from '../signatures/signatures.rules.ts';
import { type SignedKind, signedStatuses } from '../signatures/signatures.types.ts';
import { checkedSoaw, completeInfo, type SoawInput } from './soaw.content.ts';
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

const { series_id: _seriesId, ...soawColumns } = columnMembers('w', Soaw);

/** Statements, newest first. */
export const soawList = defineList({
  name: 'soaws',
  permission: 'soaw.view',
  from: 'soaws w left join users u on u.id = w.created_by',
  id: 'w.id',
  sorts: {
    ...columnSorts('w', Soaw, 'created_at', 'updated_at', 'signed_at'),
    name: { sql: 'lower(w.name)', type: 'text', filled: true },
    ...columnSorts('w', Soaw, 'status', 'revision_number'),
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    initiative_id: [
      Type.String({ ...Uuid, description: 'Only those about this initiative' }),
      'w.initiative_id = ?::uuid',
    ],
    status: [Choice(signedStatuses, 'Only those in this state'), 'w.status = ?'],
  },
  search: `fold(w.name || ' ' || document_words(w.document_info) || ' ' || document_words(w.version_history)
    || ' ' || document_words(w.sections))`,
  members: {
    ...soawColumns,
    initiative_name: (ctx) => fragment`(select c.name from cards c
      where c.id = w.initiative_id and (${embed(visibleCards(ctx))}))`,
    creator_name: 'u.display_name',
    ...signatureMembers('w', soawRights),
    rejection: rejectionMember('w'),
  },
});

/**
 * Locks the initiative that the values name.
 * @throws EstateError `validation_failed` unless it is a visible initiative.
 */
async function lockInitiative(work: Work, ctx: Ctx, { initiative_id: id }: StoredRow): Promise<void> {
  if (typeof id !== 'string') return;
  const card = await lockReferredCard(work, ctx, id);
  if (!card) throw invalidField('initiative_id', 'unknown_card', 'is not a card');
  if (card.type === INITIATIVE) return;
  throw invalidField('initiative_id', 'wrong_type', `is a card of the type ${card.type}, not ${INITIATIVE}`);
}

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
  copied: (row) => ({ ...signedContent(row), initiative_id: row.initiative_id }),
  checked: (input) => checkedSoaw(input) as StoredRow,
  lockReferences: lockInitiative,
  settable: ['draft', 'approved'],
  event: (before, after, type, more) => {
    const id = after?.initiative_id ?? before?.initiative_id;
    return soawEvent(id ? { id } : null, before, after, type, more);
  },
  list: (ctx) => listFor(ctx, soawList),
};

/** Creates a statement as a draft. @throws EstateError `forbidden`, `use_operation`, `validation_failed`. */
export async function createSoaw(
  ctx: Ctx,
  { status = 'draft', ...input }: SoawInput & { status?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, soawKind.rights.manage);
  if (status !== 'draft') throw statusChangeError();
  const values = checkedSoaw(input);
  return await command(ctx, async (work) => {
    await lockInitiative(work, ctx, values);
    const { id } = await insertRecord(work, ctx, soawKind, { document_info: completeInfo({}), ...values });
    return await recordText(work.sql, ctx, soawKind, id);
  });
}

/** Deletes a statement in any state. @throws EstateError `forbidden`, `not_found`, `precondition_failed`. */
export async function deleteSoaw(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, soawKind.rights.manage);
  await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, soawKind, id);
    await withdrawTodos(work, soawKind, row.id);
    await deleteRows(work.sql, Soaw, (query) => query.where({ id: row.id }));
    work.emit(await soawKind.event(row, null));
  });
}
