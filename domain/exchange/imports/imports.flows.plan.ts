import { query } from '../../../platform/database.ts';
import { type PlanSpec, refuse, refuseIds, refuseSameKeys } from './imports.planning.ts';

/** Plans rows of data flows: whether the flow exists. Their cards are looked up when a batch is applied. */
export const flowPlan: PlanSpec = {
  rowsTable: 'import_flow_rows',
  planTable: 'import_flow_plan',
  rows: `select r.line, 'data flow' as type, r.id as given_id, r.external_id,
     r.errors is not null or x.line is not null as failed, x.line is not null as repeated,
     null::integer as yields_to, r.bytes, uuidv7() as flow_id, true as is_new
   from import_flow_rows r left join plan_excluded x on x.line = r.line
   where r.job_id = :jobId`,
  indexes: [],
  async settle(planning) {
    const { sql, mode } = planning;
    await query(sql)
      .run`update plan_rows p set flow_id = t.id, is_new = false from data_flows t where t.id = p.given_id`;
    if (mode === 'upsert') {
      await query(sql).run`update plan_rows p set flow_id = t.id, is_new = false
        from data_flows t where p.given_id is null and t.external_id = p.external_id`;
    }
    await refuseIds(planning, 'data flow');
    await refuse(
      planning,
    )`select p.line, 'external_id', 'external_id_taken', 'another data flow has it already'
      from plan_rows p join data_flows t on t.external_id = p.external_id where t.id <> p.flow_id`;
    await refuseSameKeys(planning);
  },
  order: 'line',
  columns: 'line, flow_id, is_new',
};
