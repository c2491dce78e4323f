import { kinds } from '../landscape.ts';
import type { World } from '../world.ts';

/** All that a run leaves behind, by place, in lines without the ids and times in which two worlds differ. */
export type State = Record<string, string[]>;

/** Names in place of ids; those of deleted objects are remembered. */
export type Names = { learn(): Promise<void>; in(value: unknown): string };

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00|\+00)?/g;

export function createNames(world: World): Names {
  const names = new Map<string, string>();
  const { services, instance, mappings } = world;
  for (const { key } of kinds) names.set(mappings[key], `mapping of ${key}s`);
  return {
    async learn() {
      for (const { id, name } of await services.db('cards').select('id', 'name'))
        names.set(id, `card ${name}`);
      const nameOf = (id = '') => names.get(id)?.replace(/^record /, '');
      for (const { table } of kinds) {
        for (const { values } of instance.store.of(table)) names.set(values.sys_id!, `record ${values.name}`);
      }
      for (const { values } of instance.store.of('cmdb_rel_ci'))
        names.set(values.sys_id!, `remote relation ${nameOf(values.parent)} > ${nameOf(values.child)}`);
      const { rows } = await services.db.raw('select id, source_id, target_id from relations');
      for (const { id, source_id, target_id } of rows)
        names.set(id, `relation ${names.get(source_id)} > ${names.get(target_id)}`);
      const runs = await services.db('itsm_runs').orderBy('id').select('id', 'job_id');
      for (const [at, { id, job_id }] of runs.entries()) {
        names.set(id, `run ${at}`);
        if (job_id) names.set(job_id, `job ${at}`);
      }
      const questions = await services.db('itsm_review_items').select('id', 'remote_id', 'path');
      for (const { id, remote_id, path } of questions)
        names.set(id, `question about ${path} of ${names.get(remote_id)}`);
    },
    in: (value) =>
      (typeof value === 'string' ? value : JSON.stringify(value))
        .replaceAll(ID, (id) => names.get(id) ?? 'id')
        .replaceAll(TIME, 'time')
        // rows about new records come in the order of the keys that these have got
        .replaceAll(/\b(row) \d+/gi, '$1 n'),
  };
}

/**
 * What both sides, the sync state and the last run hold, and the feed. How much is read again of what has changed
 * lately is a matter of time, and left out.
 */
export async function readState(world: World, names: Names, runId: string): Promise<State> {
  const { services, instance } = world;
  const { store } = instance;
  await names.learn();
  const lines = (rows: unknown[]) => rows.map((row) => names.in(row)).sort();
  const read = async (sql: string, ...bindings: string[]) =>
    lines((await services.db.raw(sql, bindings)).rows);
  const shown = (table: string, columns: string[]) =>
    lines(store.of(table).map(({ values }) => [table, ...columns.map((column) => values[column] ?? '')]));
  return {
    cards: await read(
      'select type, name, status, description, alias, data_quality, approval_status from cards',
    ),
    relations: await read('select id, type, source_id, target_id from relations'),
    records: kinds.flatMap(({ table }) =>
      shown(table, ['name', 'short_description', 'version', 'sys_mod_count']),
    ),
    'remote relations': shown('cmdb_rel_ci', ['parent', 'child', 'type', 'sys_mod_count']),
    pairs: await read('select * from itsm_pairs'),
    links: await read('select * from itsm_links'),
    'remote links': await read(
      'select mapping_id, remote_relation_id, from_id, to_id from itsm_remote_links',
    ),
    questions: await read(
      'select mapping_id, kind, remote_id, card_id, path, local, remote, reason, candidates from itsm_review_items',
    ),
    'sync state': await read(
      'select mapping_id, watermark is null as no_watermark, local_position is null as no_position from itsm_sync_states',
    ),
    'to be read again': await read('select mapping_id, unnest(again) as remote_id from itsm_sync_states'),
    'rows of the plan': await read(
      `select action, side, remote_id, card_id, approval, progress, made_id,
         row - 'no' || jsonb_build_object('needs', row -> 'needs' <> 'null') as row, message
       from itsm_plan_rows where run_id = ?`,
      runId,
    ),
    run: await read(
      `select direction, trigger, status, stage, complete, error_message, case when complete
         then stats - 'seconds' - 'budget' else stats - 'seconds' - 'budget' - 'fetched' - 'relations_fetched' end as stats
       from itsm_runs where id = ?`,
      runId,
    ),
    job: await read(
      `select status, error, counts - 'fetched' - 'relations_fetched' as counts, message, failures from jobs
       where id = (select job_id from itsm_runs where id = ?)`,
      runId,
    ),
    log: await read(
      `select level, l.stage, case when complete then message
         else regexp_replace(message, '(Read all changes: ).*', '\\1') end as message
       from itsm_run_log l join itsm_runs r on r.id = l.run_id where run_id = ?`,
      runId,
    ),
    // only worker processes turn alerts into notifications, some time later
    events: await read(`select event_type, card_id, relation_id, data from events
       where event_type not like 'user.%' and event_type not like 'notification.%'`),
    'left over': await read('select run_id, remote_id from itsm_run_records'),
  };
}

/** What is not in one state as it is in the other, a few lines of each part. */
export function differences(undisturbed: State, disturbed: State): string[] {
  return Object.keys(undisturbed).flatMap((place) => {
    const [one, other] = [counted(undisturbed[place]!), counted(disturbed[place]!)];
    const all = [...new Set([...one.keys(), ...other.keys()])];
    const differing = all.filter((line) => one.get(line) !== other.get(line));
    return differing
      .slice(0, MOST_LINES)
      .map((line) => `${place}: ${other.get(line) ?? 0} instead of ${one.get(line) ?? 0} of ${line}`);
  });
}

const MOST_LINES = 6;

function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
