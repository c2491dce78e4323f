import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { PROCESS } from '../../../domain/modelling/bpm/bpm.model.ts';
import { CURRENT_FIRST } from '../../../domain/modelling/bpm/diagrams.queries.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { withoutCosts } from '../../kernel/report.cards.ts';
import { typesBetween } from '../../kernel/report.ends.ts';
import type { Report } from '../../kernel/report.ts';

/** Common declarations of the reports on processes. */
export const ofProcesses = {
  module: 'bpm',
  permission: 'reports.bpm_dashboard',
  types: [PROCESS],
  params: {},
} satisfies Partial<Report>;

/**
 * A subquery of distinct pairs `(process_id, other_id, attributes)` of processes and related cards of another type, by visible
 * relation types in either direction; without costs if the caller may not see them.
 */
export function relatedTo(ctx: Ctx, other: string): Fragment {
  const [out, back] = [typesBetween(ctx, PROCESS, other), typesBetween(ctx, other, PROCESS)];
  const attributes = withoutCosts(ctx, 'r', [...out, ...back]);
  return fragment`select distinct on (b.process_id, b.other_id) b.process_id, b.other_id, b.attributes from (
        select r.source_id as process_id, r.target_id as other_id, ${embed(attributes)} as attributes, r.type, r.id
        from relations r where r.type = any(${out.map(({ key }) => key)}::text[])
        union all
        select r.target_id, r.source_id, ${embed(attributes)}, r.type, r.id from relations r where r.type = any(${back.map(({ key }) => key)}::text[])) b
      order by b.process_id, b.other_id, b.type, b.id`;
}

/** Joins the current diagram `(content_id, lineage_id)` of the processes `p`. */
export const shownDiagram = `cross join lateral (select d.content_id, d.lineage_id from process_diagrams d
  where d.process_id = p.id order by ${CURRENT_FIRST} limit 1) shown`;

/**
 * Joins the elements `e` of the current diagrams of the processes `p` that are linked to an application
 * (`l.application_id`).
 */
export const applicationLinks = `${shownDiagram}
  join process_element_links l on l.lineage_id = shown.lineage_id and l.flow_version_id is null
    and l.application_id is not null
  join process_content_elements e on e.content_id = shown.content_id and e.bpmn_element_id = l.bpmn_element_id`;
