import type { FieldError } from '../../../platform/errors.ts';
import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import { ARCHIVE } from '../../inventory/cards/cards.removal.ts';
import { summedKeys } from '../../inventory/cards/cards.rows.ts';
import { withDerivedValues } from '../../inventory/cards/cards.save.ts';
import { retainedKeys } from '../../inventory/cards/cards.write.ts';
import { LEVEL_FIELD } from '../../inventory/cards/rules/capability.ts';
import { diffCard } from '../../inventory/cards/rules/diff.ts';
import { newCardValues, patchedValues } from '../../inventory/cards/rules/merge.ts';
import { dataQuality, type FilledSlots, qualityFacts } from '../../inventory/cards/rules/quality.ts';
import { checkLifecycleOrder, presentInput, validateCardInput } from '../../inventory/cards/rules/values.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { mayOnCard, seesCosts, showsCosts } from '../../kernel/permissions/policy.ts';
import type { CardPayload } from './imports.cards.types.ts';
import type { Attached } from './imports.people.write.ts';
import { costErrors, missingPermission } from './imports.rights.ts';

const STAKEHOLDERS = { app: 'stakeholders.manage', card: 'card.manage_stakeholders' } as const;

/** The data of a row, its plan and related tables for one card. */
export interface CardRow {
  type: CardType;
  payload: CardPayload;
  parent_id: string | null;
  /** The new capability level; null if it does not change. */
  level: string | null;
  /** The id of the archiving operation: all cards that one import archives can be restored together. */
  archive_batch_id: string;
}

/** The tag groups and roles that the card has after its row is applied; relations do not change. */
function filledAfter(before: FilledSlots, attached: Attached): FilledSlots {
  const tagGroups = attached.tagGroups ?? before.tagGroups;
  return { relations: before.relations, tagGroups, roles: attached.roles ?? before.roles };
}

const nothing: FilledSlots = { relations: new Set(), tagGroups: new Set(), roles: new Set() };

/** Errors that depend on the stored card; a row was checked for all others when it was read. */
const OF_STORED = ['readonly', 'calculated', 'costs_by_period', 'sum_of_lines', 'forbidden'];

/**
 * Errors of a value that was right when its row was read, under the metamodel of that time. They say so, since the value in
 * the file can be right still.
 */
export const sinceRead = (errors: FieldError[]): FieldError[] =>
  errors.map((error) =>
    !error.field.startsWith('attributes.') || OF_STORED.includes(error.code)
      ? error
      : {
          field: error.field,
          code: 'field_changed',
          message: `${error.message}: the field was changed in the metamodel while the import ran; import this row again`,
        },
  );

/** The new card of a row, or its errors. */
export function newCard(
  ctx: Ctx,
  id: string,
  { type, payload, parent_id, level, archive_batch_id }: CardRow,
  attached: Attached,
): { errors: FieldError[]; card?: StoredCard } {
  const input = presentInput(ctx.metamodel, type.key, payload.input);
  const errors = validateCardInput(ctx.metamodel, type.key, input, { creating: true });
  if (errors.length > 0) return { errors: sinceRead(errors) };
  const values = newCardValues(input);
  values.parent_id = parent_id;
  if (level !== null) values.attributes = { ...values.attributes, [LEVEL_FIELD]: level };
  const archived = payload.status === 'ARCHIVED';
  const filled = filledAfter(nothing, attached);
  const card: StoredCard = {
    id,
    number: null,
    type: type.key,
    ...values,
    status: archived ? 'ARCHIVED' : 'ACTIVE',
    approval_status: payload.approval_status ?? 'DRAFT',
    data_quality: dataQuality(type, values, qualityFacts(type, filled)),
    archived_at: archived ? new Date().toISOString() : null,
    archive_batch_id: archived ? archive_batch_id : null,
    myRoles: [],
    filled,
  };
  return { errors, card };
}

export interface MergedCard {
  errors: FieldError[];
  after: StoredCard;
  /** Whether the row changes the card itself. */
  changed: boolean;
  event: EventType;
}

/** An existing card with its row merged in like a single patch, or its errors. */
export function mergeCard(ctx: Ctx, before: StoredCard, row: CardRow, attached: Attached): MergedCard {
  const { type, payload, parent_id, level } = row;
  const input = presentInput(ctx.metamodel, type.key, payload.input);
  const checks = { stored: before.attributes, summed: summedKeys(type, before) };
  const errors = sinceRead(validateCardInput(ctx.metamodel, type.key, input, checks));
  if (!seesCosts(ctx, before)) errors.push(...costErrors(type, input));
  if (attached.changesHolders && !mayOnCard(ctx, STAKEHOLDERS, before)) {
    errors.push(missingPermission('stakeholders', STAKEHOLDERS.app));
  } else if (attached.addedHolders.some(({ role }) => showsCosts(role)) && !seesCosts(ctx, before)) {
    errors.push(missingPermission('stakeholders', 'costs.view'));
  }
  const changesStatus = payload.status !== undefined && payload.status !== before.status;
  if (changesStatus && !mayOnCard(ctx, ARCHIVE, before))
    errors.push(missingPermission('status', ARCHIVE.app));

  const after: StoredCard = {
    ...before,
    ...patchedValues(before, input, retainedKeys(ctx, type, before)),
    parent_id,
    filled: filledAfter(before.filled, attached),
  };
  if (level !== null) after.attributes = { ...after.attributes, [LEVEL_FIELD]: level };
  if (changesStatus) {
    const archived = payload.status === 'ARCHIVED';
    after.status = archived ? 'ARCHIVED' : 'ACTIVE';
    after.archived_at = archived ? new Date().toISOString() : null;
    after.archive_batch_id = archived ? row.archive_batch_id : null;
  }
  if (errors.length === 0) errors.push(...checkLifecycleOrder(after.lifecycle));
  const changed = Object.keys(diffCard(before, after)).length > 0;
  const event = changesStatus
    ? after.status === 'ARCHIVED'
      ? 'card.archived'
      : 'card.restored'
    : 'card.updated';
  return {
    errors,
    after: changed || attached.changes ? withDerivedValues(type, before, after) : before,
    changed,
    event,
  };
}
