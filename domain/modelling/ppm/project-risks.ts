import { blankFaults, refuse, requireAssignable } from './ppm.checks.ts';
import { nameOf, type PpmKind } from './ppm.kinds.ts';
import { ProjectRisk, type ProjectRiskRow } from './ppm.model.ts';
import { MAX_NOTES } from './ppm.types.ts';

/** What could happen to an initiative, with its score: probability times impact, 1 to 25. */
export const projectRisks: PpmKind<ProjectRiskRow> = {
  model: ProjectRisk,
  entity: 'ppm_risk',
  what: 'project risk',
  limit: MAX_NOTES,
  eventMembers: ['title'],
  sorts: {
    risk_score: { sql: '(t.probability * t.impact)', type: 'bigint', filled: true },
    status: { sql: 't.status', type: 'text', filled: true },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
  },
  search: `fold(t.title || ' ' || coalesce(t.description, '') || ' ' || coalesce(t.mitigation, ''))`,
  members: () => ({ risk_score: 't.probability * t.impact', owner_name: nameOf('owner_id') }),
  async check(values, { work, before }) {
    refuse(blankFaults(values, ['title']));
    await requireAssignable(work.sql, values, before, 'owner_id');
  },
};
