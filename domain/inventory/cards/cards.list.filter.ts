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

export interface CompiledCardFilter {
  conditions: Condition[];
  /** Keys of the types that the list is limited to, or undefined for all. */
  types: string[] | undefined;
  /** Whether the conditions are among the few that most lists have. */
  plain: boolean;
}

/**
 * The request's filters as conditions over the alias `c`.
 * @throws EstateError naming each parameter that holds an unknown or malformed value.
 */
export function cardFilter(ctx: Ctx, filter: CardFilter): CompiledCardFilter {
  const conditions: Condition[] = [];
  const errors: FieldError[] = [];
  const oneOf = (field: string, column: string, given: string[], known: (value: string) => boolean) => {
    const unknown = given.filter((value) => !known(value));
    if (given.length === 0 || unknown.length > 0) {
      const message = given.length === 0 ? 'is empty' : `"${unknown[0]}" is not known`;
      errors.push({ field, code: 'unknown_value', message });
    } else if (given.length === 1) {
      conditions.push({ sql: `${column} = ?`, bindings: [given[0]] });
    } else {
      conditions.push({ sql: `${column} = any(?::text[])`, bindings: [given.sort()] });
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
    conditions.push({ sql: 'c.parent_id is null', bindings: [] });
  } else if (filter.parent_id !== undefined) {
    if (isUuid(filter.parent_id)) {
      conditions.push({ sql: 'c.parent_id = ?::uuid', bindings: [filter.parent_id] });
    } else errors.push({ field: 'parent_id', code: 'format', message: 'is neither a card id nor "root"' });
  }
  if (filter.mine !== undefined) {
    conditions.push({
      sql: 'c.id in (select m.card_id from stakeholders m where m.user_id = ?::uuid)',
      bindings: [ctx.caller.userId],
    });
  }
  if (filter.ids !== undefined) {
    const ids = values(filter.ids);
    const bad = ids.find((id) => !isUuid(id));
    if (bad !== undefined) errors.push({ field: 'ids', code: 'format', message: `"${bad}" is no card id` });
    else conditions.push({ sql: 'c.id = any(?::uuid[])', bindings: [ids] });
  }
  if (errors.length > 0) throw invalidFields(errors);
  const plain = filter.parent_id === undefined && filter.mine === undefined && filter.ids === undefined;
  return { conditions, types, plain };
}
