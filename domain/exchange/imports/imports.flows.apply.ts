import { query } from '../../../platform/database.ts';
import type { EstateError, FieldError } from '../../../platform/errors.ts';
import { DATA_OBJECT, INTERFACE } from '../../inventory/data-flows/data-flows.model.ts';
import { applyFlows, type FlowOperation } from '../../inventory/data-flows/data-flows.write.ts';
import type { CardRef } from '../../inventory/relations/relations.load.ts';
import { type FlowRowValues, ROW } from './imports.row.ts';
import type { Applying, RowOutcome } from './imports.types.ts';

/** The type of the ends that name none. */
const END = 'Application';

/** A row of the plan with its write. */
interface PlannedFlow {
  line: number;
  flow_id: string;
  is_new: boolean;
  payload: Omit<FlowRowValues, 'id'>;
}

/** Applies one batch of the plan in the caller's transaction, by the rules of bulk operations. */
export async function applyFlowRows(
  { work, ctx, jobId, known, withChanges }: Applying,
  batch: number,
): Promise<RowOutcome[]> {
  const planned = await query(work.sql).rows<PlannedFlow>`select p.line, p.flow_id, p.is_new, r.payload
    from import_flow_plan p join import_flow_rows r on r.job_id = p.job_id and r.line = p.line
    where p.job_id = ${jobId} and p.batch = ${batch} order by p.line`;
  const rows = planned.filter(({ line }) => !known.has(line));
  const failed = planned.flatMap(({ line }): RowOutcome[] =>
    known.has(line) ? [{ line, outcome: 'failed', errors: [known.get(line)!] }] : [],
  );
  const outcomes = await applyFlows(work, ctx, rows.map(operationOf));
  return [
    ...failed,
    ...outcomes.map(({ status, error, changes }, n): RowOutcome => {
      const { line, payload } = rows[n]!;
      if (error) return { line, outcome: 'failed', errors: errorsOf(error, payload) };
      const outcome = { line, outcome: status as 'created' | 'updated' | 'unchanged', errors: null };
      return withChanges && changes ? { ...outcome, changes } : outcome;
    }),
  ];
}

function operationOf({ flow_id, is_new, payload }: PlannedFlow): FlowOperation {
  const { direction, frequency, description, external_id } = payload;
  const over = cardOf(INTERFACE, payload.interface_id, payload.interface_external_id, payload.interface_name);
  const ids = payload.data_object_ids?.map((id): CardRef => ({ id }));
  const externalIds = payload.data_object_external_ids?.map(
    (one): CardRef => ({ type: DATA_OBJECT, external_id: one }),
  );
  const names = payload.data_object_names?.map((name): CardRef => ({ type: DATA_OBJECT, name }));
  const columns = [payload.data_object_ids, payload.data_object_external_ids, payload.data_object_names];
  const isGiven = columns.some((column) => column !== undefined);
  return {
    ...(is_new ? { new_id: flow_id } : { id: flow_id }),
    ...given({ direction, frequency, description, external_id }),
    ...given({
      source: endOf('source', payload),
      target: endOf('target', payload),
      interface: over,
      data_objects: isGiven ? (ids ?? externalIds ?? names ?? []) : undefined,
    }),
  };
}

/** The members that are not absent. */
const given = <T extends object>(members: T): Partial<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;

const endOf = (end: 'source' | 'target', values: Omit<FlowRowValues, 'id'>): CardRef | undefined =>
  cardOf(
    values[`${end}_type`] ?? END,
    values[`${end}_id`],
    values[`${end}_external_id`],
    values[`${end}_name`],
  ) ?? undefined;

/** A card by the first of these; null to clear it, undefined if none is given. */
function cardOf(
  type: string,
  id: string | null | undefined,
  externalId: string | null | undefined,
  name: string | null | undefined,
): CardRef | null | undefined {
  if (id) return { id };
  if (externalId) return { type, external_id: externalId };
  if (name) return { type, name };
  return id === null || externalId === null || name === null ? null : undefined;
}

/** The errors of a row, with the columns that it has. */
function errorsOf({ errors, code, message }: EstateError, payload: object): FieldError[] {
  if (!errors) return [{ field: ROW, code, message }];
  return errors.map((error) => {
    const [part, ...rest] = error.field.split('.');
    const prefix = part === 'data_objects' ? 'data_object' : part;
    const column = ['id', 'ids', 'external_id', 'external_ids', 'name', 'names']
      .map((suffix) => `${prefix}_${suffix}`)
      .find((one) => one in payload);
    return { ...error, field: [column ?? part, ...rest].join('.') };
  });
}
