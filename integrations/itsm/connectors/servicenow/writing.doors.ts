import { done, failed, type Result } from '../../remote.failures.ts';
import { inWords } from '../answers.ts';
import type { Mask } from '../masking.ts';
import type { Call } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';

/** A way in that finds a record again by itself, and may take one that is there for the new one. */
export type Door = { kind: 'import_set'; staging: string } | { kind: 'reconcile'; source: string };

/** The record in which a door has put what it was given. */
export interface Arrived {
  id: string;
  /** It had been there before; missing where the answer does not tell. */
  adopted?: boolean;
}

/** By which way new records of a table go in, where that is not the table itself. */
export function doorOf({ door }: Pick<ServiceNowConfig, 'door'>, table: string): Door | undefined {
  if (door.kind === 'reconcile') return door;
  if (door.kind !== 'import_set' || !Object.hasOwn(door.staging, table)) return undefined;
  return { kind: 'import_set', staging: door.staging[table]! };
}

/** What brings a record in by a door, and how its answer is read. */
export interface Entry {
  call: Call;
  read: (result: unknown) => Result<Arrived>;
}

/** @param values the correlation id among them. */
export function entryBy(
  door: Door,
  {
    table,
    values,
    correlation,
    mask,
  }: { table: string; values: Record<string, string>; correlation: string; mask: Mask },
): Entry {
  const doing = `Creating a record of ${table}`;
  if (door.kind === 'import_set') {
    const path = `/api/now/import/${encodeURIComponent(door.staging)}`;
    return {
      call: { method: 'POST', path, doing, body: values },
      read: (result) => imported(result, { path, doing, mask }),
    };
  }
  const path = '/api/now/identifyreconcile';
  const item = {
    className: table,
    values,
    sys_object_source_info: { source_name: door.source, source_native_key: correlation },
  };
  return {
    call: {
      method: 'POST',
      path,
      doing,
      query: () => ({ sysparm_data_source: door.source }),
      body: { items: [item], relations: [] },
    },
    read: (result) => reconciled(result, { path, doing, mask }),
  };
}

interface Entering {
  path: string;
  doing: string;
  mask: Mask;
}

function imported(result: unknown, { path, doing, mask }: Entering): Result<Arrived> {
  // the answer's `result` is the list of transformed rows
  const [row] = Array.isArray(result) ? (result as Record<string, unknown>[]) : [];
  if (row?.status === 'error') {
    return failed(
      'refused',
      path,
      `${doing} was refused by the transform map${inWords({ mask }, String(row.error_message ?? row.status_message ?? 'no reason given'))}`,
    );
  }
  if (row !== undefined && row.status !== undefined && typeof row.sys_id !== 'string') {
    const why = String(row.status_message ?? row.status);
    return failed('refused', path, `${doing} was passed over by the transform map${inWords({ mask }, why)}`);
  }
  return typeof row?.sys_id === 'string'
    ? done({ id: row.sys_id, adopted: row.status !== 'inserted' })
    : failed('answer_lost', path, `${doing} was answered without a record`);
}

function reconciled(result: unknown, { path, doing, mask }: Entering): Result<Arrived> {
  const { items } = (result ?? {}) as {
    items?: { sysId?: string; operation?: string; errors?: { error?: string; message?: string }[] }[];
  };
  const [item] = items ?? [];
  const error = item?.errors?.[0];
  if (error) {
    const code = error.error === 'MULTIPLE_DUPLICATE_RECORDS' ? 'ambiguous' : 'refused';
    return failed(
      code,
      path,
      `${doing} was refused by identification${inWords({ mask }, error.message ?? error.error)}`,
    );
  }
  return item?.sysId && item.sysId !== 'Unknown'
    ? done({ id: item.sysId, adopted: item.operation !== 'INSERT' })
    : failed('answer_lost', path, `${doing} was answered without a record`);
}
