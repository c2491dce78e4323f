import { requireAssignable } from './people.ts';
import { blankFaults, refuse } from './ppm.checks.ts';
import { nameOf, type PpmKind } from './ppm.kinds.ts';
import { MAX_NOTES } from './ppm.types.ts';

/** What could happen to an initiative, with its score: probability times impact, 1 to 25. */
export const projectRisks: PpmKind = {
  entity: 'ppm_risk',
  what: 'project risk',
  table: 'ppm_risks',
  most: MAX_NOTES,
  told: ['title'],
  list: () => ({
    name: 'ppm-risks',
    from: 'ppm_risks t',
    id: 't.id',
    idType: 'uuid',
    sorts: {
      created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
      risk_score: { sql: '(t.probability * t.impact)', type: 'bigint', filled: true },
      status: { sql: 't.status', type: 'text', filled: true },
      title: { sql: 'fold(t.title)', type: 'text', filled: true },
    },
    defaultSort: 'created_at',
    defaultDir: 'asc',
    search: `fold(t.title || ' ' || coalesce(t.description, '') || ' ' || coalesce(t.mitigation, ''))`,
    members: {
      id: 't.id',
      initiative_id: 't.card_id',
      title: 't.title',
      description: 't.description',
      probability: 't.probability',
      impact: 't.impact',
      risk_score: 't.probability * t.impact',
      mitigation: 't.mitigation',
      owner_id: 't.owner_id',
      owner_name: nameOf('owner_id'),
      status: 't.status',
      created_at: 'utc(t.created_at)',
      updated_at: 'utc(t.updated_at)',
    },
  }),
  async check(values, { work, before }) {
    refuse(blankFaults(values, ['title']));
    await requireAssignable(work.sql, values, before, 'owner_id');
  },
};
