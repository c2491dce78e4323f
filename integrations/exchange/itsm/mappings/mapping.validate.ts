import { MANAGE_SYNC } from '../../../../domain/exchange/itsm/connections.queries.ts';
import {
  loadMappedTypes,
  loadMappingsOf,
  loadStoredMapping,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import { metamodelErrors, stoppedColumns } from '../../../../domain/exchange/itsm/mappings.rules.ts';
import type { DictionaryColumn, Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { requirePermission } from '../../../../domain/kernel/permissions/policy.ts';
import { query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { RemoteTools } from '../connections/connections.open.ts';
import { callRemote, loadActive } from '../connections/connections.remote.ts';
import type { Connector, Right } from '../connectors/connector.ts';
import { withFallback } from '../remote.ts';
import { dictionaryOf } from './mapping.drift.ts';
import {
  columnProblems,
  type MappingValidation,
  type RemoteProblem,
  referenceProblems,
  relationProblems,
  textLengthProblems,
} from './mapping.remote.ts';
import { requireFullRead } from './mapping.store.ts';

/**
 * Checks a mapping against the metamodel and the remote's current schema. If it is valid, stores the dictionary of its table and
 * clears its drift.
 * @throws EstateError `conflict`, `forbidden`, `not_found`, `upstream_failed`, `wrong_state`.
 */
export async function validateMapping(ctx: Ctx, tools: RemoteTools, id: string): Promise<MappingValidation> {
  requirePermission(ctx.caller, MANAGE_SYNC);
  const version = await versionOf(ctx, id);
  const mapping = await loadStoredMapping(ctx.db, id);
  const local = metamodelErrors(
    ctx.metamodel,
    mapping,
    new Map(Object.entries(await loadMappedTypes(ctx.db, mapping.connection_id))),
  ).map((error): RemoteProblem => ({ ...error, level: 'error' }));
  const connection = await loadActive(ctx, tools, mapping.connection_id);
  const remote = await callRemote(tools, connection, (connector) => checkRemote(ctx, connector, mapping));
  const problems = [...local, ...remote.problems];
  const valid = !problems.some(({ level }) => level === 'error');
  if (valid) await storeDictionary(ctx, id, version, dictionaryOf(remote.columns));
  return { valid, problems };
}

async function checkRemote(ctx: Ctx, remote: Connector, mapping: Mapping) {
  const { remote_table: table, filter_query: filter, relations } = mapping;
  const columns = await withFallback(remote.describeFields(table), ['not_found'], null);
  if (!columns) {
    const message = 'is not a table of the remote, or is hidden from the account';
    const gone: RemoteProblem = { level: 'error', field: 'remote_table', code: 'unknown_table', message };
    return { columns: [], problems: [gone] };
  }
  const type = ctx.metamodel.cardTypes.get(mapping.card_type_key);
  const problems = type ? columnProblems(ctx.metamodel, type, mapping, columns) : [];
  problems.push(...(await textLengthProblems(ctx, mapping, columns)));
  const tables = new Map(
    (await loadMappingsOf(ctx.db, mapping.connection_id)).map((one) => [one.id, one.remote_table]),
  );
  problems.push(...(await referenceProblems(remote, mapping, columns, tables)));
  if (filter !== null) {
    for (const name of await remote.findUnknownColumns(table, filter)) {
      const message = `names '${name}', which the table does not have`;
      problems.push({ level: 'error', field: 'filter_query', code: 'unknown_column', message });
    }
  }
  if (relations.length > 0)
    problems.push(...relationProblems(relations, await remote.describeRelationTypes()));
  return { columns, problems: [...problems, ...(await rightProblems(remote, mapping))] };
}

/** Rights that the mapping needs and the account lacks. */
async function rightProblems(remote: Connector, mapping: Mapping): Promise<RemoteProblem[]> {
  const writes: Right[] = mapping.sync_direction === 'pull' ? [] : ['create', 'update'];
  const deletes: Right[] =
    mapping.sync_direction === 'pull' || mapping.sync_mode === 'additive' ? [] : ['delete'];
  const table = mapping.remote_table;
  const found = await remote.testRights([{ table, rights: ['read', ...writes, ...deletes] }]);
  return found
    .filter(({ granted }) => granted === false)
    .map(({ right, how }) => ({
      level: right === 'delete' ? 'warning' : 'error',
      field: 'remote_table',
      code: 'right_missing',
      message: `the account may not ${right} records: ${how}`,
    }));
}

async function versionOf({ db }: Ctx, id: string): Promise<string | undefined> {
  const row = await query(db).row`select updated_at::text as version from itsm_mappings where id = ${id}`;
  return row?.version;
}

async function storeDictionary(
  ctx: Ctx,
  id: string,
  version: string | undefined,
  dictionary: DictionaryColumn[],
): Promise<void> {
  await command(ctx, async ({ sql, emit }) => {
    const before = await query(sql)
      .row`select updated_at::text as version, connection_id, drift, utc(dictionary_at) as dictionary_at
       from itsm_mappings where id = ${id} for update`;
    if (before?.version !== version) {
      throw new EstateError('conflict', 'The mapping was changed while it was validated; validate it again.');
    }
    const dictionary_at = await query(sql)
      .value<string>`update itsm_mappings set dictionary = ${JSON.stringify(dictionary)},
         dictionary_at = date_trunc('milliseconds', clock_timestamp()), drift_checked_at = clock_timestamp(), drift = null
       where id = ${id} returning utc(dictionary_at) as dictionary_at`;
    // a delta does not contain what stopped fields have missed
    if (stoppedColumns(before.drift).size > 0) await requireFullRead(sql, id);
    emit({
      event_type: 'itsm_mapping.validated',
      data: {
        id,
        connection_id: before.connection_id,
        changes: {
          dictionary_at: { old: before.dictionary_at, new: dictionary_at },
          ...(before.drift === null ? {} : { drift: { old: before.drift, new: null } }),
        },
      },
    });
  });
}
