import { rowsOfMapping, settingsOfMapping } from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { MappingSchedule } from '../../../../domain/exchange/itsm/mappings.input.ts';
import { itsmScheduleJob } from '../../../../domain/exchange/itsm/runs.job.ts';
import type { StoredRow } from '../../../../domain/kernel/events/row-changes.ts';
import { SCHEDULES_CHANNEL, scheduleErrors } from '../../../../domain/kernel/jobs/schedules.fire.ts';
import { embed, query, type Sql } from '../../../../platform/database.ts';
import { invalidFields } from '../../../../platform/errors.ts';
import type { MappingSettings } from './mapping.settings.ts';

/** The columns of a mapping's own row that a user sets. */
export function columnsOf(settings: MappingSettings): Record<string, unknown> {
  const { fields: _, relations: __, card_defaults, record_defaults, ...plain } = settings;
  return {
    ...plain,
    card_defaults: JSON.stringify(card_defaults),
    record_defaults: JSON.stringify(record_defaults),
  };
}

/** Replaces the rows of fields and relations. */
export async function writeRows(sql: Sql, id: string, { fields, relations }: MappingSettings): Promise<void> {
  await query(sql).run`delete from itsm_field_mappings where mapping_id = ${id}`;
  await query(sql).run`delete from itsm_relation_mappings where mapping_id = ${id}`;
  await query(sql)
    .run`insert into itsm_field_mappings (mapping_id, position, card_field, remote_field, direction, transform_type,
       transform_config, is_identity)
     select ${id}, (f.n - 1)::int, r.card_field, r.remote_field, r.direction, r.transform_type, r.transform_config, r.is_identity
     from jsonb_array_elements(${JSON.stringify(fields)}::jsonb) with ordinality as f(row, n),
       jsonb_populate_record(null::itsm_field_mappings, f.row) r`;
  await query(sql)
    .run`insert into itsm_relation_mappings (mapping_id, position, relation_type_key, remote_type, target_mapping_id, reversed)
     select ${id}, (f.n - 1)::int, r.relation_type_key, r.remote_type, r.target_mapping_id, r.reversed
     from jsonb_array_elements(${JSON.stringify(relations)}::jsonb) with ordinality as f(row, n),
       jsonb_populate_record(null::itsm_relation_mappings, f.row) r`;
}

const keyOf = (id: string): string => `itsm:${id}`;

/** Sets, changes or deletes the schedule of a mapping. @throws EstateError `validation_failed`. */
export async function writeSchedule(sql: Sql, id: string, input: MappingSchedule | null): Promise<void> {
  const key = keyOf(id);
  if (input === null) {
    await sql('itsm_mappings').where({ id }).update({ schedule_key: null });
    await sql('job_schedules').where({ key }).delete();
  } else {
    const cron = input.cron.trim().replace(/\s+/g, ' ');
    const time_zone = input.time_zone ?? 'UTC';
    const errors = scheduleErrors(cron, time_zone);
    if (errors.length > 0) {
      throw invalidFields(errors.map((error) => ({ ...error, field: `schedule.${error.field}` })));
    }
    const { kind, queue } = itsmScheduleJob;
    await query(sql).run`insert into job_schedules (key, kind, queue, payload, cron, time_zone, enabled)
       values (${key}, ${kind}, ${queue}, ${JSON.stringify({ mapping_id: id })}, ${cron}, ${time_zone}, ${input.enabled ?? true})
       on conflict (key) do update set cron = excluded.cron, time_zone = excluded.time_zone,
         enabled = excluded.enabled, updated_at = now()
       where (job_schedules.cron, job_schedules.time_zone, job_schedules.enabled)
         is distinct from (excluded.cron, excluded.time_zone, excluded.enabled)`;
    await sql('itsm_mappings').where({ id }).update({ schedule_key: key });
  }
  await query(sql).run`select pg_notify(${SCHEDULES_CHANNEL}, '')`;
}

/** A mapping with its fields, relations and schedule, as events record it. */
export async function readMappingData(sql: Sql, id: string): Promise<StoredRow> {
  const row = await query(sql)
    .row<StoredRow>`select m.id, ${embed(settingsOfMapping)}, m.created_by, utc(m.created_at) as created_at,
       (select jsonb_build_object('cron', s.cron, 'time_zone', s.time_zone, 'enabled', s.enabled)
        from job_schedules s where s.key = m.schedule_key) as schedule,
       ${embed(rowsOfMapping.fields)} as field_mappings, ${embed(rowsOfMapping.relations)} as relation_mappings
     from itsm_mappings m where m.id = ${id}`;
  return row!;
}

/** Makes the next run of the mapping read everything. */
export async function requireFullRead(sql: Sql, id: string): Promise<void> {
  await sql('itsm_sync_states')
    .where({ mapping_id: id })
    .update({ complete_read_at: null, pulled_read_at: null, pushed_read_at: null });
}

/** Deletes the bases of fields and the links of relations that are now mapped differently. */
export async function deleteChangedBases(
  sql: Sql,
  id: string,
  before: MappingSettings,
  after: MappingSettings,
): Promise<void> {
  const mappedAs = (settings: MappingSettings) =>
    new Map(
      settings.fields.map((row) => [
        row.card_field,
        JSON.stringify([row.remote_field, row.transform_type, row.transform_config]),
      ]),
    );
  const now = mappedAs(after);
  const paths = [...mappedAs(before)].filter(([path, how]) => now.get(path) !== how).map(([path]) => path);
  if (paths.length > 0) {
    await query(sql)
      .run`update itsm_pairs set base = base - ${paths}::text[] where mapping_id = ${id} and jsonb_exists_any(base, ${paths}::text[])`;
  }
  const related = (settings: MappingSettings) =>
    new Set(settings.relations.map((row) => JSON.stringify(row)));
  const still = related(after);
  const types = before.relations.flatMap((row) =>
    still.has(JSON.stringify(row)) ? [] : [row.relation_type_key],
  );
  if (types.length > 0)
    await query(sql)
      .run`delete from itsm_links where mapping_id = ${id} and relation_type = any(${types}::text[])`;
}
