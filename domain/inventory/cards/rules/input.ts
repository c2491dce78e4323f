import { EstateError, type FieldError } from '../../../../platform/errors.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { LEVEL_FIELD } from './capability.ts';
import type { CardInput } from './card.types.ts';
import { ownValue, sameValue } from './diff.ts';
import { checkLifecycle, checkLifecycleOrder } from './lifecycle.ts';
import { mergeLifecycle } from './merge.ts';
import { checkLine, checkText, MAX_ALIAS, MAX_DESCRIPTION, MAX_EXTERNAL_ID, MAX_NAME } from './text.ts';
import { checkAttributes } from './values.ts';

/**
 * The input as it is stored: names, aliases and external ids without blanks around them, and empty texts as null.
 */
export function cleanCardInput(input: CardInput): CardInput {
  const clean: CardInput = { ...input };
  if (typeof clean.name === 'string') clean.name = clean.name.trim();
  if (typeof clean.alias === 'string') clean.alias = clean.alias.trim() || null;
  if (typeof clean.external_id === 'string') clean.external_id = clean.external_id.trim() || null;
  if (clean.description === '') clean.description = null;
  if (typeof clean.parent_id === 'string') clean.parent_id = clean.parent_id.toLowerCase();
  return clean;
}

export interface InputChecks {
  /** A new card needs a name. */
  creating?: boolean;
  /** The attributes as they are stored: a readonly field may be sent back unchanged. */
  stored?: Record<string, unknown>;
  /** Keys of attributes that are sums of lines for now: they too may be sent back unchanged. */
  summed?: readonly string[];
}

/**
 * Every fault of a cleaned input for a card of the type, by field; none of them needs the database. The order of
 * lifecycle phases is checked among those sent; after a merge check it again with `checkLifecycleOrder`.
 */
export function validateCardInput(
  metamodel: Metamodel,
  type: string,
  input: CardInput,
  checks: InputChecks = {},
): FieldError[] {
  const cardType = metamodel.cardTypes.get(type);
  if (!cardType || cardType.is_hidden) {
    return [{ field: 'type', code: 'unknown_type', message: 'is no card type' }];
  }
  const faults: (FieldError | undefined)[] = [];
  if (input.name === '' || input.name === null || (checks.creating && input.name === undefined)) {
    faults.push({ field: 'name', code: 'required', message: 'must not be blank' });
  } else if (input.name !== undefined) {
    faults.push(checkLine('name', input.name, MAX_NAME));
  }
  if (input.alias) faults.push(checkLine('alias', input.alias, MAX_ALIAS));
  if (input.external_id) faults.push(checkLine('external_id', input.external_id, MAX_EXTERNAL_ID));
  if (input.description) faults.push(checkText('description', input.description, MAX_DESCRIPTION));
  if (typeof input.subtype === 'string' && !cardType.subtypeKeys.has(input.subtype)) {
    faults.push({ field: 'subtype', code: 'unknown_subtype', message: `is no subtype of ${type}` });
  }
  if (input.lifecycle) {
    const wrong = checkLifecycle(input.lifecycle);
    faults.push(...(wrong.length > 0 ? wrong : checkLifecycleOrder(mergeLifecycle(null, input.lifecycle))));
  }
  if (input.attributes) {
    for (const fault of checkAttributes(cardType.fields, input.attributes)) faults.push(fault);
    for (const [key, value] of Object.entries(input.attributes)) {
      const definition = cardType.fields.get(key);
      const isSummed = checks.summed?.includes(key);
      if (!(definition?.readonly || isSummed) || key === LEVEL_FIELD) continue;
      if (sameValue(value, ownValue(checks.stored ?? {}, key))) continue;
      if (isSummed) {
        const message = 'is the sum of the lines of the initiative';
        faults.push({ field: `attributes.${key}`, code: 'sum_of_lines', message });
        continue;
      }
      faults.push(
        definition!.calculated
          ? { field: `attributes.${key}`, code: 'calculated', message: 'is computed by a formula' }
          : { field: `attributes.${key}`, code: 'readonly', message: 'is set by the service alone' },
      );
    }
  }
  return faults.filter((fault) => fault !== undefined);
}

/**
 * Refuses what has operations of its own.
 * @throws EstateError `use_operation` naming `status` or `approval_status`.
 */
export function refuseOperations(input: { status?: unknown; approval_status?: unknown }): void {
  const operations = {
    status: 'is changed by archiving and restoring',
    approval_status: 'is changed by the approval-status operation',
  };
  const errors = Object.entries(operations)
    .filter(([field]) => Object.hasOwn(input, field))
    .map(([field, message]) => ({ field, code: 'use_operation', message }));
  if (errors.length === 0) return;
  throw new EstateError('use_operation', `${errors[0]!.field} ${errors[0]!.message}.`, { errors });
}
