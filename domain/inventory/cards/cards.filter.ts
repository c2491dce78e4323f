import { embed, fragment } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';

/** The filters of the card list; several values of one filter are separated by commas. */
export interface CardFilter {
  type?: string;
  /** `ACTIVE` when absent; `all` for both. */
  status?: string;
  approval_status?: string;
  /** A card's id, or `root` for cards without a parent. */
  parent_id?: string;
  mine?: 'stakeholder';
  ids?: string;
}

const STATUSES = ['ACTIVE', 'ARCHIVED'];
const APPROVAL_STATUSES = ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'];

/** The non-empty values of a comma-separated parameter. */
function values(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((value) => value.trim())
        .filter(Boolean),
    ),
  ];
}

/** A condition over the alias `c`, and the facet that it filters by. */
export interface OwnedCondition {
  facet?: string;
  condition: Condition;
}

/**
 * The request's filters as conditions.
 * @throws EstateError naming each parameter that has an unknown or malformed value.
 */
export function cardFilter(ctx: Ctx, filter: CardFilter) {
  const owned: OwnedCondition[] = [];
  const add = (condition: Condition, facet?: string) =>
    void owned.push({ condition, ...(facet ? { facet } : {}) });
  const errors: FieldError[] = [];
  const oneOf = (field: string, column: string, given: string[], known: (value: string) => boolean) => {
    const unknown = given.filter((value) => !known(value));
    if (given.length === 0 || unknown.length > 0) {
      const message = given.length === 0 ? 'is empty' : `"${unknown[0]}" is not known`;
      errors.push({ field, code: 'unknown_value', message });
    } else if (given.length === 1) {
      add(fragment`${embed(column)} = ${given[0]}`, field);
    } else {
      add(fragment`${embed(column)} = any(${given.sort()}::text[])`, field);
    }
  };

  const types = filter.type === undefined ? undefined : values(filter.type);
  if (types) oneOf('type', 'c.type', types, (key) => ctx.metamodel.cardTypes.has(key));
  const statuses = values(filter.status ?? 'ACTIVE');
  const both = statuses.includes('all') || STATUSES.every((status) => statuses.includes(status));
  if (!both || statuses.some((status) => status !== 'all' && !STATUSES.includes(status))) {
    oneOf('status', 'c.status', statuses, (status) => STATUSES.includes(status));
  }
  if (filter.approval_status !== undefined) {
    oneOf('approval_status', 'c.approval_status', values(filter.approval_status), (status) =>
      APPROVAL_STATUSES.includes(status),
    );
  }
  if (filter.parent_id === 'root') {
    add(fragment`c.parent_id is null`);
  } else if (filter.parent_id !== undefined) {
    if (isUuid(filter.parent_id)) {
      add(fragment`c.parent_id = ${filter.parent_id}::uuid`);
    } else errors.push({ field: 'parent_id', code: 'format', message: 'is neither a card id nor "root"' });
  }
  if (filter.mine !== undefined) {
    add(fragment`c.id in (select m.card_id from stakeholders m
      where m.user_id = ${ctx.caller.userId}::uuid)`);
  }
  if (filter.ids !== undefined) {
    const ids = values(filter.ids);
    const bad = ids.find((id) => !isUuid(id));
    if (bad !== undefined) errors.push({ field: 'ids', code: 'format', message: `"${bad}" is no card id` });
    else add(fragment`c.id = any(${ids}::uuid[])`);
  }
  if (errors.length > 0) throw invalidFields(errors);
  const plain = filter.parent_id === undefined && filter.mine === undefined && filter.ids === undefined;
  return { owned, types, plain };
}
