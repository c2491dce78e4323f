import type { FieldError } from '../../../platform/errors.ts';
import type { CostInput } from '../../inventory/costs/costs.model.ts';
import { missingOf } from './imports.fields.ts';
import type { ImportRow } from './imports.row.ts';

/** A row of `import_cost_rows`. */
export interface StagedCost {
  line: number;
  id: string | null;
  external_id: string | null;
  card_id: string | null;
  card_type: string | null;
  card_external_id: string | null;
  card_name: string | null;
  relation_id: string | null;
  errors: FieldError[] | null;
  missing: string | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: Partial<CostInput> | null;
}

/** Converts a parsed row to a staged row. */
export function stageCost({ line, values, errors }: ImportRow<'costs'>): StagedCost {
  const { id, card_id, card_number, card_type, card_external_id, card_name, relation_id, ...payload } =
    values;
  const isFailed = errors.length > 0;
  return {
    line,
    id: id ?? null,
    external_id: values.external_id ?? null,
    card_id: card_id ?? null,
    card_type: card_type ?? null,
    card_external_id: card_external_id ?? null,
    card_name: card_name ?? null,
    relation_id: relation_id ?? null,
    errors: isFailed ? errors : null,
    missing: missingOf(values as Record<string, unknown>) ?? null,
    bytes: JSON.stringify(payload).length,
    payload: isFailed ? null : payload,
  };
}
