import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** The sort fields of the card list besides `attributes.<key>`; each has an index that is walked along. */
export const cardSorts: ListSpec['sorts'] = {
  name: { sql: 'c.name_key', type: 'text', filled: true },
  // a card keeps its type
  type: { sql: 'c.type', type: 'text', immutable: true },
  subtype: { sql: "coalesce(c.subtype, '')", type: 'text', filled: true },
  status: { sql: 'c.status', type: 'text', filled: true },
  approval_status: { sql: 'c.approval_status', type: 'text', filled: true },
  data_quality: { sql: 'c.data_quality', type: 'numeric', filled: true },
  created_at: { sql: 'c.created_at', type: 'timestamptz', immutable: true },
  updated_at: { sql: 'c.updated_at', type: 'timestamptz', filled: true },
};

const PREFIX = 'attributes.';

/**
 * The sort field of an attribute of one of the given types: numbers by value, all else by folded text.
 * Undefined for what is not `attributes.<key>`.
 * @throws EstateError for an attribute that no type has, `forbidden` for a cost attribute without `costs.view`, since an order tells values.
 */
export function attributeSort(ctx: Ctx, sortBy: string, types: string[]): SortField | undefined {
  if (!sortBy.startsWith(PREFIX)) return undefined;
  const key = sortBy.slice(PREFIX.length);
  const fields = types.flatMap((type) => ctx.metamodel.cardTypes.get(type)?.fields.get(key) ?? []);
  if (fields.length === 0) {
    throw invalidField('sort_by', 'unknown_sort', `"${key}" is no attribute of the types listed`);
  }
  if (fields.some((field) => field.type === 'cost') && !may(ctx.caller, 'costs.view')) {
    throw new EstateError('forbidden', `To sort by ${sortBy}, a cost, you need the permission costs.view.`, {
      extra: { permission: 'costs.view', field: 'sort_by' },
    });
  }
  const literal = textLiteral(key);
  const numeric = fields.every((field) => field.type === 'number' || field.type === 'cost');
  return numeric
    ? {
        sql: `case when jsonb_typeof(c.attributes -> ${literal}) = 'number' then (c.attributes ->> ${literal})::numeric end`,
        type: 'numeric',
      }
    : { sql: `fold(c.attributes ->> ${literal}) collate "C"`, type: 'text' };
}
