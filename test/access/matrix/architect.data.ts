import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const url = '/api/v1/ai-analysis';

async function kept(w: World): Promise<{ assessment_id: string }> {
  const [made] = await w.t.services
    .db('assessments')
    .insert({ title: randomUUID(), requirement: 'Anything', session_data: '{}' })
    .returning('id');
  return { assessment_id: made.id };
}

export const architectRows: Row[] = [
  row(`GET ${url}/assessments`, '+ + + - - - 0'),
  row(`POST ${url}/assessments`, '+ - - - - - 0', () => ({
    body: { title: randomUUID(), requirement: 'Anything', sessionData: {} },
  })),
  row(`GET ${url}/assessments/{assessment_id}`, '+ + + - - - 0', async (w) => ({ path: await kept(w) })),
  row(`PATCH ${url}/assessments/{assessment_id}`, '+ - - - - - 0', async (w) => ({
    path: await kept(w),
    body: { title: 'Changed' },
  })),
  row(`DELETE ${url}/assessments/{assessment_id}`, '+ - - - - - 0', async (w) => ({ path: await kept(w) })),
  row(`GET ${url}/architect/objectives`, '+ - - - - - 0'),
  row(`GET ${url}/architect/capabilities`, '+ - - - - - 0'),
  row(`GET ${url}/architect/objective-dependencies`, '+ - - - - - 0'),
  ...['phase1', 'phase2', 'phase3/options', 'phase3/gaps', 'phase3/deps', 'phase3'].map((phase) =>
    row(`POST ${url}/architect/${phase}`, '+ - - - - - 0', () => ({ body: { requirement: 'Anything' } })),
  ),
  row(`POST ${url}/architect/commit`, '+ - - - - - 0', async (w) => ({
    body: {
      assessmentId: (await kept(w)).assessment_id,
      initiativeName: randomUUID(),
      startDate: '2027-01-01',
      endDate: '2027-12-31',
      selectedCardIds: [],
      selectedRelationIndices: [],
    },
  })),
];
