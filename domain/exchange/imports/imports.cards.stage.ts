import type { FieldError } from '../../../platform/errors.ts';
import { hasLevels, LEVEL_FIELD, MACRO } from '../../inventory/cards/rules/capability.ts';
import type { CardInput } from '../../inventory/cards/rules/card.types.ts';
import { cleanCardInput, validateCardInput } from '../../inventory/cards/rules/values.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, showsCosts } from '../../kernel/permissions/policy.ts';
import type { CardPayload, StagedCard } from './imports.cards.types.ts';
import { resolveStakeholders, resolveTags, type TagCatalogue } from './imports.people.ts';
import { typeErrors, typeOfRow } from './imports.relations.stage.ts';
import { costErrors, missingPermission } from './imports.rights.ts';
import type { CardRowValues, ImportRow } from './imports.row.ts';

/** The data that is needed to stage rows of cards. */
export interface StageContext {
  catalogue: TagCatalogue;
  users: ReadonlyMap<string, string>;
  /** The types of cards that rows identify by id only. */
  types: ReadonlyMap<string, string>;
}

/** Converts a parsed row to a staged row. */
export function stageCard(ctx: Ctx, row: ImportRow<'cards'>, around: StageContext): StagedCard {
  const { values } = row;
  const errors = [...row.errors];
  const staged: StagedCard = {
    line: row.line,
    type: typeOfRow(values, around.types),
    id: values.id ?? null,
    external_id: values.external_id?.trim() || null,
    name: values.name?.trim() || null,
    status: values.status ?? null,
    ...parentOf(values),
    level: null,
    errors: null,
    new_errors: null,
    bytes: 0,
    payload: null,
  };
  const type = staged.type === null ? undefined : ctx.metamodel.cardTypes.get(staged.type);
  if (type && !type.is_hidden) {
    const newErrors = check(ctx, type, values, staged, errors, around);
    staged.new_errors = newErrors.length > 0 ? newErrors : null;
  } else errors.push(...typeErrors(staged.type, values, errors, 'card'));
  if (errors.length > 0) {
    staged.errors = errors;
    staged.payload = null;
  }
  staged.bytes = staged.payload ? JSON.stringify(staged.payload).length : 0;
  return staged;
}

function parentOf(
  values: CardRowValues,
): Pick<StagedCard, 'parent_by' | 'parent_id' | 'parent_external_id' | 'parent_path'> {
  const none = { parent_by: null, parent_id: null, parent_external_id: null, parent_path: null };
  if (values.parent_id) return { ...none, parent_by: 'id', parent_id: values.parent_id };
  if (values.parent_external_id) {
    return { ...none, parent_by: 'external_id', parent_external_id: values.parent_external_id };
  }
  if (values.parent_path) return { ...none, parent_by: 'path', parent_path: values.parent_path };
  return values.parent_id === null ? { ...none, parent_by: 'root' } : none;
}

/** The column by which the row names its parent. */
export function parentColumn(by: StagedCard['parent_by']): string {
  return by === 'external_id' ? 'parent_external_id' : by === 'path' ? 'parent_path' : 'parent_id';
}

/**
 * Checks the row for its type, adds to `errors` and completes `staged`.
 * @returns the errors that only apply if the row creates a card.
 */
function check(
  ctx: Ctx,
  type: CardType,
  values: CardRowValues,
  staged: StagedCard,
  errors: FieldError[],
  around: StageContext,
): FieldError[] {
  const input = withoutCalculated(type, inputOf(type, values));
  const later: FieldError[] = [];
  const faulty = new Set(errors.map(({ field }) => field));
  for (const fault of validateCardInput(ctx.metamodel, type.key, input, { creating: true })) {
    if (faulty.has(fault.field)) continue;
    const missing = fault.field === 'name' && input.name === undefined;
    // An existing card has a name, and its readonly values may be sent unchanged.
    if (missing || fault.code === 'readonly') later.push(fault);
    else errors.push(fault);
  }
  if (staged.parent_by !== null && staged.parent_by !== 'root' && !type.has_hierarchy) {
    const message = `cannot be set: cards of the type ${type.key} form no hierarchy`;
    errors.push({ field: parentColumn(staged.parent_by), code: 'parent_type', message });
  }
  const payload: CardPayload = { input };
  if (values.status !== undefined) payload.status = values.status;
  if (values.approval_status !== undefined) payload.approval_status = values.approval_status;
  if (values.tags !== undefined) {
    const { ids, faults } = resolveTags(around.catalogue, type, values.tags ?? []);
    payload.tags = ids;
    errors.push(...faults);
  }
  if (values.stakeholders !== undefined) {
    const { holders, faults } = resolveStakeholders(around.users, type, values.stakeholders ?? []);
    payload.holders = holders;
    errors.push(...faults);
  }
  takeLevel(type, input, staged);
  staged.payload = payload;
  later.push(...refusedForNew(ctx, type, payload));
  return later;
}

/** Removes calculated values, which exported rows contain. */
function withoutCalculated(type: CardType, input: CardInput): CardInput {
  if (!input.attributes) return input;
  const own = Object.entries(input.attributes).filter(([key]) => !type.fields.get(key)?.calculated);
  return { ...input, attributes: Object.fromEntries(own) };
}

/**
 * Removes the capability level from the input: it follows from the hierarchy. A row only sets whether a root is a Macro.
 */
function takeLevel(type: CardType, input: CardInput, staged: StagedCard): void {
  if (!hasLevels(type) || !input.attributes) return;
  const { [LEVEL_FIELD]: level, ...attributes } = input.attributes;
  if (level === MACRO || level === 'L1') staged.level = level;
  input.attributes = attributes;
}

/** The values of the row, without parent and level. */
function inputOf(type: CardType, values: CardRowValues): CardInput {
  const { subtype, name, alias, description, external_id, lifecycle } = values;
  const given = Object.entries({ subtype, name, alias, description, external_id, lifecycle });
  const input: CardInput = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  if (values.attributes !== undefined) {
    const attributes = values.attributes && { ...values.attributes };
    // Fields that the type does not have need not be cleared.
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === null && !type.fields.has(key)) delete attributes![key];
    }
    input.attributes = attributes;
  }
  return cleanCardInput(input);
}

/** The values that the caller may not set on a new card. */
function refusedForNew(ctx: Ctx, type: CardType, payload: CardPayload): FieldError[] {
  const faults: FieldError[] = [];
  const { caller } = ctx;
  if (!may(caller, 'costs.view')) faults.push(...costErrors(type, payload.input));
  if (payload.status === 'ARCHIVED' && !may(caller, 'inventory.archive')) {
    faults.push(missingPermission('status', 'inventory.archive'));
  }
  const approval = payload.approval_status ?? 'DRAFT';
  if (approval !== 'DRAFT' && !may(caller, 'inventory.approval_status')) {
    faults.push(missingPermission('approval_status', 'inventory.approval_status'));
  }
  if (payload.holders?.length && !may(caller, 'stakeholders.manage')) {
    faults.push(missingPermission('stakeholders', 'stakeholders.manage'));
  } else if (payload.holders?.some(({ role }) => showsCosts(role)) && !may(caller, 'costs.view')) {
    faults.push(missingPermission('stakeholders', 'costs.view'));
  }
  return faults;
}
