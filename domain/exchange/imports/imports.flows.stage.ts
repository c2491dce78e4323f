import type { FieldError } from '../../../platform/errors.ts';
import type { FlowRowValues, ImportRow } from './imports.row.ts';

/** A row of `import_flow_rows`. */
export interface StagedFlow {
  line: number;
  id: string | null;
  external_id: string | null;
  errors: FieldError[] | null;
  bytes: number;
  /** Null for a row that has failed. */
  payload: Omit<FlowRowValues, 'id'> | null;
}

/** Converts a parsed row to a staged row. */
export function stageFlow({ line, values, errors }: ImportRow<'data_flows'>): StagedFlow {
  const { id, source_number: _s, target_number: _t, interface_number: _i, ...payload } = values;
  const isFailed = errors.length > 0;
  return {
    line,
    id: id ?? null,
    external_id: values.external_id ?? null,
    errors: isFailed ? errors : null,
    bytes: JSON.stringify(payload).length,
    payload: isFailed ? null : payload,
  };
}
